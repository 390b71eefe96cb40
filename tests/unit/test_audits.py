"""Results of an audit against closed forms, brute force on the rows, and the package's own functions."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib.audits.follow_ups import KNOWN
from auditlib.audits.options import Options
from auditlib.audits.said import at, shown
from auditlib.audits.tables import counts_of
from auditlib.simulate import RiskCohort

CASE = "Women:80,40,800,30; Men:120,90,700,25"


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Rows of four groups, two sexes and five hospitals; risks are true."""
    frame = RiskCohort.example().frame(12_000, seed=3)[["group", "label", "true_risk"]]
    rng = np.random.default_rng(4)
    return frame.assign(sex=rng.choice(["F", "M"], len(frame)), hospital=rng.choice(list("abcde"), len(frame)))


@pytest.fixture(scope="module")
def found(rows):
    """Everything asked at once."""
    return al.audit(
        rows, label="label", score="true_risk", by=["group", "sex"], site="hospital", threshold=0.2, lam=0.4,
        capacity=0.05, benefit_threshold=0.1, replicates=200,
    )  # fmt: skip


def test_case_14():
    """Two confusion matrices: sensitivity .727 and .828, PPV .667 and .571, their gap by Newcombe."""
    results = al.audit(CASE).results
    rates = {line["group"]: line for line in results["groups"]}
    assert rates["Women"]["sensitivity"]["estimate"] == pytest.approx(80 / 110)
    assert rates["Men"]["sensitivity"]["estimate"] == pytest.approx(120 / 145)
    assert rates["Women"]["ppv"]["estimate"] == pytest.approx(80 / 120)
    assert rates["Men"]["ppv"]["estimate"] == pytest.approx(120 / 210)
    gap = results["questions"]["chance"]["gap"]
    newcombe = al.gap_interval(al.parse_confusion(CASE), "Women", "Men")
    for name in ("estimate", "low", "high"):
        assert gap[name] == pytest.approx(float(newcombe[name]), rel=1e-11)
    assert (gap["n_a"], gap["n_b"]) == (110, 145)


def test_ppv_at_the_pooled_prevalence():
    """Bayes' rule by hand: Se·π/(Se·π + (1 − Sp)(1 − π)) at π = 255/1885."""
    found = al.audit(CASE).results["questions"]["prevalence"]
    pi = 255 / 1885

    def level(tp, fp, tn, fn):
        caught, alarms = tp / (tp + fn) * pi, fp / (fp + tn) * (1 - pi)
        return caught / (caught + alarms)

    assert found["target"] == pytest.approx(pi)
    assert found["standardized"]["estimate"] == pytest.approx(level(80, 40, 800, 30) - level(120, 90, 700, 25))
    assert found["raw"]["estimate"] == pytest.approx(80 / 120 - 120 / 210)
    assert found["split"]["prevalence"] + found["split"]["performance"] == pytest.approx(found["raw"]["estimate"])
    at_5 = al.audit(CASE, target_prevalence=0.05).results["questions"]["prevalence"]
    pi = 0.05
    assert at_5["standardized"]["estimate"] == pytest.approx(level(80, 40, 800, 30) - level(120, 90, 700, 25))


def test_counts_of_confusions():
    """Eight numbers survive the way to counts and back, zero cells too."""
    table = al.parse_confusion("A:0,5,45,0; B:20,10,60,10; C:1,0,0,0")
    again = counts_of(table).at(0.5)
    for cell in ("tp", "fp", "fn", "tn"):
        np.testing.assert_array_equal(again[cell].values, table[cell].values)


@pytest.mark.parametrize("scale", [1, 10**8])
def test_large_matrices(scale):
    """Numbers of a whole country change no rate."""
    text = "; ".join(f"{name}:{8 * scale},{4 * scale},{80 * scale},{3 * scale}" for name in "AB")
    results = al.audit(text).results
    assert results["groups"][0]["sensitivity"]["estimate"] == pytest.approx(8 / 11)
    assert results["questions"]["chance"]["gap"]["estimate"] == 0


def test_too_many_people():
    with pytest.raises(al.AuditInputError, match="more than"):
        al.audit("A:1000000000000,1,1,1; B:1,1,1,1")


def test_groups_from_the_rows(rows, found):
    """Confusion cells of every group, counted in the rows."""
    for line in found.results["groups"]:
        part = rows[rows[line["attribute"]] == line["group"]]
        flagged, ill = part["true_risk"] >= 0.2, part["label"] == 1
        cells = [(flagged & ill).sum(), (flagged & ~ill).sum(), (~flagged & ill).sum(), (~flagged & ~ill).sum()]
        assert [line[cell] for cell in ("tp", "fp", "fn", "tn")] == cells
        assert line["n"] == len(part)
        assert line["prevalence"]["estimate"] == pytest.approx(ill.mean())


def test_pair_does_not_look_at_the_gap(rows, found):
    """The two groups with the most people with the outcome, in the order of their names."""
    most = rows[rows["label"] == 1]["group"].value_counts().index[:2]
    assert [found.results["comparison"][side] for side in "ab"] == sorted(most)


def test_a_pair_exchanged_turns_every_sign(rows):
    """The book's multiverse, too: 65+ minus 18–44 is what 18–44 minus 65+ is, with the other sign."""
    one = al.audit_gap("cdc_diabetes", "age", replicates=100).results["questions"]
    two = al.audit_gap("cdc_diabetes", "age", replicates=100, group_a="65+", group_b="18–44").results["questions"]
    assert two["chance"]["gap"]["estimate"] == -one["chance"]["gap"]["estimate"]
    assert (two["choices"]["above"], two["choices"]["below"]) == (551, 39)
    assert (one["choices"]["of"], two["choices"]["of"]) == (
        "the younger minus the older",
        "the older minus the younger",
    )
    turned = [-line["estimate"] for line in two["choices"]["rows"]]
    assert turned == [line["estimate"] for line in one["choices"]["rows"]]


def test_multiverse_of_another_level():
    """The committed intervals are of 95%: at another level they are not shown."""
    found = al.audit_gap("cdc_diabetes", "age", replicates=500, level=0.99).results["questions"]["choices"]
    assert not found["available"]


def test_benefit_threshold_of_zero(rows):
    """A false positive that costs nothing weighs nothing, at the capacity too."""
    asked = {"label": "label", "score": "true_risk", "by": "sex", "threshold": 0.2, "lam": 0.5, "capacity": 0.1}
    nothing, little = (al.audit(rows, benefit_threshold=t, replicates=100, **asked).results for t in (0.0, 1e-9))
    for part in ("benefit", "capacity"):
        for one, two in zip(nothing[part]["groups"], little[part]["groups"], strict=True):
            assert one["snb"]["estimate"] == pytest.approx(two["snb"]["estimate"], abs=1e-8)


def test_a_group_without_the_outcome(rows):
    """Undefined, not refused, and never 0: as rows, as counts, as matrices."""
    frame = rows.assign(label=rows["label"].where(rows["sex"] == "F", 0))
    found = al.audit(frame, label="label", score="true_risk", by="sex", threshold=0.2, replicates=100)
    assert found.results["headline"]["rule"] == "undefined"
    assert found.results["questions"]["chance"]["gap"]["estimate"] is None
    assert found.results["questions"]["choices"]["undefined"] == found.results["questions"]["choices"]["specifications"]
    verdicts = {line["metric"]: line["verdict"] for line in found.results["verdicts"]}
    assert verdicts["EOpp"] == verdicts["EOD"] == "undefined"


def test_names_that_read_alike_are_two_variations(rows):
    """Without "b c" of "a" and without "c" of "a b" are two."""
    frame = rows.assign(
        a=rows["sex"].map({"F": "b c", "M": "x"}), **{"a b": np.where(rows["hospital"] == "a", "c", "y")}
    )
    found = al.audit(frame, label="label", score="true_risk", by=["group", "a", "a b"], threshold=0.2, replicates=100)
    assert len(found.results["questions"]["choices"]["axes"]["people"]) == 1 + 2 + 2


def test_few_flagged_have_no_interval():
    """A percentile interval of a PPV on three flags would exclude zero for no reason."""
    found = al.audit("A:0,3,400,20; B:30,100,400,20").results
    raw = found["questions"]["prevalence"]["raw"]
    assert raw["estimate"] == pytest.approx(-30 / 130)
    assert (raw["low"], raw["high"], found["questions"]["prevalence"]["flagged"]) == (None, None, 3)
    assert "too few flagged for an interval (3 in a group)" in found["tiles"][1]["text"]


@pytest.mark.parametrize("positives", [(300, 300), (30, 300)])
def test_a_gap_is_not_called_another_where_it_is_not(positives):
    """Where the gap is the same at all thresholds, 5% of audits say that it differs somewhere."""
    from auditlib.audits.inputs import Columns, source_from
    from auditlib.audits.questions import along_thresholds, asked_of

    rng, audits, said = np.random.default_rng(7), 150, 0
    for _ in range(audits):
        parts = [
            pd.DataFrame({"y": np.repeat([1, 0], [n, 9 * n]), "g": group, "p": rng.random(10 * n)})
            for n, group in zip(positives, "ab", strict=True)
        ]
        options = Options(threshold=0.5, replicates=200, bins=20)
        columns = Columns("y", "p", None, None, None, "raise")
        source = source_from(pd.concat(parts), None, None, "g", columns, options, {})
        said += any(line["differs"] for line in along_thresholds(asked_of(source, options))["points"])
    assert said / audits <= 0.06 + 3 * (0.06 * 0.94 / audits) ** 0.5


def test_one_group_named(rows):
    """The other is the one with the most people with the outcome of the rest."""
    found = al.audit(rows, label="label", score="true_risk", by="group", threshold=0.2, group_b="C", replicates=100)
    most = rows[(rows["label"] == 1) & (rows["group"] != "C")]["group"].value_counts().index[0]
    assert (found.results["comparison"]["a"], found.results["comparison"]["b"]) == (most, "C")


def test_thresholds_from_the_rows(rows, found):
    """The gap along thresholds, and the share flagged, counted in the rows."""
    a, b = (found.results["comparison"][side] for side in "ab")
    ill = rows[rows["label"] == 1]
    for line in found.results["questions"]["thresholds"]["points"]:
        rates = [(ill["true_risk"][ill["group"] == group] >= line["threshold"]).mean() for group in (a, b)]
        assert line["estimate"] == pytest.approx(rates[0] - rates[1], abs=1e-11)
        assert line["flagged"] == pytest.approx((rows["true_risk"] >= line["threshold"]).mean(), abs=1e-11)
        assert line["band_low"] <= line["estimate"] <= line["band_high"]


def test_variations_from_the_rows(rows, found):
    """Every variation's gap, counted in the rows it is of."""
    choices = found.results["questions"]["choices"]
    a, b = (found.results["comparison"][side] for side in "ab")
    assert choices["specifications"] == len(choices["rows"]) == math.prod(map(len, choices["axes"].values()))
    assert len(choices["axes"]["people"]) == 1 + 2 + 5
    for line in choices["rows"]:
        kept = rows
        if line["people"] != "everyone":
            column, gone = line["people"].removeprefix("without ").split(" ")
            kept = rows[rows[column] != gone]
        ill = kept[kept["label"] == 1]
        threshold = float(line["threshold"].rpartition("(")[2].rstrip(")"))
        rest = ill["group"] == b
        flagged = ill["true_risk"] >= threshold
        expected = flagged[ill["group"] == a].mean() - flagged[rest].mean()
        assert line["estimate"] == pytest.approx(expected, abs=1e-11)
        assert line["n_b"] == rest.sum()


def test_net_benefit_by_hand(found):
    """sNB = 1 − π + λ(TP − w·FP)/N, and without treatment 1 − π."""
    results, w = found.results, 0.1 / 0.9
    lines = {line["group"]: line for line in results["groups"] if line["attribute"] == "group"}
    for line in results["benefit"]["groups"]:
        held = lines[line["group"]]
        prevalence = (held["tp"] + held["fn"]) / held["n"]
        assert line["snb"]["estimate"] == pytest.approx(
            1 - prevalence + 0.4 * (held["tp"] - w * held["fp"]) / held["n"]
        )
        assert line["untreated"] == pytest.approx(1 - prevalence)


def test_gain_is_that_of_the_model_over_nobody_treated(rows, found):
    """Person by person in the rows; and the difference of the two net benefits."""
    results, w = found.results, 0.1 / 0.9
    for line in results["benefit"]["groups"]:
        part = rows[rows["group"] == line["group"]]
        flagged, ill = part["true_risk"] >= 0.2, part["label"] == 1
        value = 0.4 * (flagged & ill) - 0.4 * w * (flagged & ~ill)
        half = 1.959963984540054 * value.std(ddof=0) / np.sqrt(len(part))
        gain = line["gain"]
        assert gain["estimate"] == pytest.approx(value.mean(), abs=1e-11)
        assert gain["estimate"] == pytest.approx(line["snb"]["estimate"] - line["untreated"], abs=1e-11)
        assert (gain["low"], gain["high"]) == pytest.approx((value.mean() - half, value.mean() + half), abs=1e-11)
        assert (gain["n"], gain["method"]) == (len(part), "normal")


def test_gain_against_a_bootstrap_of_rows():
    """The interval is that of resampled people of the group."""
    results = al.audit(CASE, lam={"Women": 0.3, "Men": 0.6}, benefit_threshold=0.2, replicates=100).results
    rng, cells = np.random.default_rng(5), {"Women": (80, 40, 30, 800), "Men": (120, 90, 25, 700)}
    for line in results["benefit"]["groups"]:
        held, lam = np.array(cells[line["group"]]), {"Women": 0.3, "Men": 0.6}[line["group"]]
        n = held.sum()
        draws = rng.multinomial(n, held / n, 40_000)
        gains = lam * (draws[:, 0] - 0.25 * draws[:, 1]) / n
        gain = line["gain"]
        assert gain["estimate"] == pytest.approx(lam * (held[0] - 0.25 * held[1]) / n)
        spread = gains.std() * 1.96
        assert (gain["high"] - gain["low"]) / 2 == pytest.approx(spread, rel=0.02)
        assert [gain["low"], gain["high"]] == pytest.approx(list(np.quantile(gains, [0.025, 0.975])), abs=0.06 * spread)


def test_gain_of_patients_with_two_rows(rows):
    """Each row twice: the interval is that of the patients."""
    twice = pd.concat([rows.assign(patient=range(len(rows)))] * 2)
    asked = {"label": "label", "score": "true_risk", "by": "sex", "threshold": 0.2, "lam": 0.4, "replicates": 100}
    one, two = (
        al.audit(frame, **asked, **more).results["benefit"]["groups"][0]["gain"]
        for frame, more in ((rows, {}), (twice, {"cluster": "patient"}))
    )
    assert two["estimate"] == pytest.approx(one["estimate"], abs=1e-11)
    assert two["high"] - two["low"] == pytest.approx(one["high"] - one["low"], rel=0.01)


@pytest.mark.parametrize(
    ("text", "threshold", "known"),
    [
        ("A:0,0,40,10; B:9,9,30,20", 0.1, False),  # nobody flagged
        ("A:0,20,0,0; B:9,9,30,20", 0.1, False),  # everybody a false positive
        ("A:0,20,30,2; B:9,9,30,20", 0.0, False),  # a false positive costs nothing, and there is no other flag
        ("A:0,20,30,2; B:9,9,30,20", 0.1, True),
        ("A:1,0,30,2; B:9,9,30,20", 0.1, True),
    ],
)
def test_a_gain_that_is_one_for_all_has_no_interval(text, threshold, known):
    results = al.audit(text, lam=0.3, benefit_threshold=threshold, replicates=100).results
    gain = results["benefit"]["groups"][0]["gain"]
    cells = [int(n) for n in text.split(";")[0][2:].split(",")]
    w = threshold / (1 - threshold)
    assert gain["estimate"] == pytest.approx(0.3 * (cells[0] - w * cells[1]) / sum(cells))
    assert (gain["low"] is not None, gain["high"] is not None) == (known, known)


def test_capacity_from_the_rows(rows, found):
    """At most the capacity is flagged, and the next lower edge would flag more."""
    held = found.results["capacity"]
    assert held["flagged"] == pytest.approx((rows["true_risk"] >= held["threshold"]).mean())
    assert held["flagged"] <= 0.05 < (rows["true_risk"] >= round(held["threshold"] - 0.005, 3)).mean()


def test_verdicts_by_hand(found):
    """DI, SPD, EOpp and PP from the groups' own rates; the verdict from the limit."""
    lines = [line for line in found.results["groups"] if line["attribute"] == "sex"]
    rates = {name: [line[name]["estimate"] for line in lines] for name in ("selection_rate", "sensitivity", "ppv")}
    expected = {
        "DI": min(rates["selection_rate"]) / max(rates["selection_rate"]),
        "SPD": np.ptp(rates["selection_rate"]),
        "EOpp": np.ptp(rates["sensitivity"]),
        "PP": np.ptp(rates["ppv"]),
    }
    verdicts = {line["metric"]: line for line in found.results["verdicts"] if line["attribute"] == "sex"}
    for metric, value in expected.items():
        assert verdicts[metric]["value"] == pytest.approx(value)
        passed = value >= 0.8 if metric == "DI" else value <= 0.1
        assert verdicts[metric]["verdict"] == ("pass" if passed else "fail")


def test_sites(rows, found):
    """The share of sites in which the difference of shares flagged stays within its limit, from the rows."""
    flagged = rows.assign(flagged=rows["true_risk"] >= 0.2)
    apart = [
        np.ptp(part.groupby(name)["flagged"].mean()) <= 0.1
        for _, part in flagged.groupby("hospital") for name in ("group", "sex")
    ]  # fmt: skip
    line = next(line for line in found.results["sites"]["metrics"] if line["metric"] == "SPD")
    assert line["passed"] == pytest.approx(np.mean(apart))


def test_counts_and_hospitals_agree_with_rows(rows, found):
    """The same rows counted by hospital and added give the same answers."""
    parts = [
        al.count(part, label="label", score="true_risk", by=["group", "sex", "hospital"], thresholds=[0.2])
        for _, part in rows.groupby("hospital")
    ]
    again = al.audit(
        parts, by=["group", "sex"], site="hospital", threshold=0.2, lam=0.4, capacity=0.05, benefit_threshold=0.1,
        replicates=200,
    )  # fmt: skip
    assert again.results["questions"] == found.results["questions"]
    for part in ("groups", "benefit", "capacity", "verdicts"):
        assert again.results[part] == found.results[part]


def test_hospitals_in_any_order(rows):
    """What is found does not hang on the order in which hospitals send their counts."""
    asked = {"label": "label", "score": "true_risk", "by": ["hospital", "group"], "thresholds": [0.2]}
    parts = [al.count(part.sort_values("group"), **asked) for _, part in rows.groupby("hospital")]
    one, two = (
        al.audit(each, by="group", site="hospital", threshold=0.2, replicates=100) for each in (parts, parts[::-1])
    )
    assert one.results == two.results


def test_file(rows, tmp_path):
    """The path of a file is read, with its name, checksum and notes on the card."""
    import hashlib

    path = tmp_path / "predictions.csv"
    named = rows.assign(sex=rows["sex"].where(rows["sex"] == "F", "NA"))
    named.to_csv(path, index=False)
    asked = {"label": "label", "score": "true_risk", "by": "sex", "threshold": 0.2, "replicates": 100}
    found, expected = al.audit(path, **asked), al.audit(named, **asked)
    assert found.results["questions"] == expected.results["questions"]
    assert found.results["input"]["name"] == "predictions.csv"
    assert found.results["input"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert any("'NA'" in line["text"] for line in found.results["caveats"])


def test_counts_of_one_threshold(rows):
    """Cut counts answer the first two questions and say what the others need."""
    counts = al.count(rows, label="label", score="true_risk", by="group", thresholds=[0.2]).cut(0.2)
    questions = al.audit(counts, replicates=100).results["questions"]
    assert questions["thresholds"]["why"] == "These counts hold one threshold."
    assert "cut them to more" in questions["choices"]["why"]


def test_estimator_agrees_with_rows(rows):
    """A classifier's own risks, with groups as column names, a Series and a frame."""
    from sklearn.linear_model import LogisticRegression

    x = rows[["true_risk"]].assign(sex=(rows["sex"] == "F").astype(int))
    y = rows["label"].map({0: "well", 1: "ill"})
    model = LogisticRegression().fit(x, y)
    risks = model.predict_proba(x)[:, list(model.classes_).index("ill")]
    frame = rows.assign(risk=risks, y=y)
    expected = al.audit(frame, label="y", score="risk", by="group", positive="ill", threshold=0.2, replicates=100)
    for by in (rows["group"], rows[["group"]], rows["group"].to_numpy()):
        found = al.audit(model, x, y, by, positive="ill", threshold=0.2, replicates=100)
        assert found.results["questions"] == expected.results["questions"]


def test_clusters(rows):
    """Patients with two identical rows: the interval is that of the patients, not of the rows."""
    twice = pd.concat([rows.assign(patient=range(len(rows)))] * 2)
    asked = {"label": "label", "score": "true_risk", "by": "sex", "threshold": 0.2, "replicates": 100}
    one, two = al.audit(rows, **asked), al.audit(twice, cluster="patient", **asked)
    gap, again = (each.results["questions"]["chance"]["gap"] for each in (one, two))
    assert again["estimate"] == gap["estimate"]
    assert again["n_a"] == 2 * gap["n_a"]
    assert again["high"] - again["low"] == pytest.approx(gap["high"] - gap["low"], rel=0.01)


def test_follow_ups_keep_their_word(rows, found):
    """What a follow-up says will be found is what is found when it is run."""
    results = found.results
    assert len(results["follow_ups"]) == 3
    asked = {"label": "label", "score": "true_risk", "site": "hospital", "lam": 0.4, "capacity": 0.05}
    asked |= {"benefit_threshold": 0.1, "replicates": 200, "threshold": 0.2, "by": ["group", "sex"]}
    seen = set()
    for line in results["follow_ups"]:
        assert set(line["parameters"]) <= set(KNOWN)
        again = al.audit(rows, **(asked | line["parameters"])).results
        gap = again["questions"]["chance"]["gap"]
        if "threshold" in line["parameters"]:
            assert shown(gap["estimate"], "points") in line["why"]["text"]
            seen.add("threshold")
        if "group_a" in line["parameters"]:
            rates = {group["group"]: group["sensitivity"]["estimate"] for group in again["groups"]}
            for side in "ab":
                assert shown(rates[line["parameters"][f"group_{side}"]], "percent") in line["why"]["text"]
            assert abs(gap["estimate"]) >= abs(results["questions"]["chance"]["gap"]["estimate"])
            seen.add("pair")
        if "by" in line["parameters"]:
            assert again["comparison"]["attribute"] == "sex"
            assert shown(again["attributes"][0]["spread"]["estimate"], "width") in line["why"]["text"]
            seen.add("by")
    assert seen == {"threshold", "pair", "by"}


NEVER = {"lam": 0.3, "benefit_threshold": 0.1}


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (CASE, {}),
        (CASE, NEVER),
        (CASE, {"limits": {"EOpp": 0.0995}}),  # a value next to its limit
        (CASE, {"level": 0.99}),
        (CASE, {"level": 0.99, "lam": {"Women": 0.2, "Men": 0.4}, "benefit_threshold": 0.1}),
        ("A:0,0,40,10; B:0,0,30,20", NEVER),  # PPV undefined
        ("A:0,0,40,0; B:0,0,30,0", {"level": 0.99}),  # nobody has the outcome
        ("A:0,3,40,0; B:0,4,30,0", {"level": 0.99, "lam": {"A": 0.2, "B": 0.4}, "benefit_threshold": 0.1}),
        ("A:9,0,0,3; B:8,0,0,2", {"level": 0.995, "lam": 1e-4, "benefit_threshold": 0.1}),  # all have it
    ],
)
def test_three_follow_ups_and_none_moves_a_limit(text, options):
    """Each differs from what was asked, and can be asked."""
    results = al.audit(text, **options).results
    assert len(results["follow_ups"]) == 3
    assert "limits" not in KNOWN
    assert len({str(line["parameters"]) for line in results["follow_ups"]}) == 3
    for line in results["follow_ups"]:
        assert "limit" not in line["why"]["text"]
        for name, value in line["parameters"].items():
            assert value != results["options"][name]
        again = al.audit(text, **(options | line["parameters"])).results["options"]
        assert all(again[name] == value for name, value in line["parameters"].items())


def test_a_treatment_by_group_is_halved_in_each():
    results = al.audit(CASE, lam={"Women": 0.25, "Men": 1e-4}, benefit_threshold=0.1, replicates=100).results
    asked = [line["parameters"]["lam"] for line in results["follow_ups"] if "lam" in line["parameters"]]
    assert asked == [{"Women": 0.125, "Men": 5e-5}]


@pytest.mark.parametrize(("gap", "which"), [((-0.2, -0.3, -0.1), "smallest"), ((-0.1, -0.3, 0.1), "largest")])
def test_a_threshold_that_was_looked_for_comes_with_the_band(gap, which):
    from auditlib.audits.follow_ups import follow_ups

    near = [(0.1, -0.02), (0.2, -0.2), (0.3, -0.25), (0.4, -0.4)]
    points = [
        {"threshold": t, "estimate": e, "low": e - 0.1, "high": e + 0.1, "band_low": e - 0.15, "band_high": e + 0.15}
        for t, e in near
    ]  # fmt: skip
    results = al.audit(CASE, replicates=100).results
    results["questions"]["chance"]["gap"] |= dict(zip(("estimate", "low", "high"), gap, strict=True))
    results["threshold"]["value"] = 0.2
    results["questions"]["thresholds"] = {"available": True, "points": points, "range": [0.1, 0.3]}
    line = follow_ups(results)[0]
    t, said = (0.1, "−2.0 points (simultaneous band −17.0 to +13.0)")
    if which == "largest":
        t, said = (0.3, "−25.0 points (simultaneous band −40.0 to −10.0)")
    assert line["parameters"] == {"threshold": t}
    assert line["why"]["text"] == f"At {t}, the threshold nearby with the {which} gap, it is {said}."
    place = [point["threshold"] for point in points].index(t)
    path = f"/questions/thresholds/points/{place}"
    assert [number["pointer"] for number in line["why"]["numbers"]] == [
        f"{path}/{name}" for name in ("threshold", "estimate", "band_low", "band_high")
    ]


def said_by(results, start):
    return [line for line in results["caveats"] if line["text"].startswith(start)]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"EOpp": 0.11}, "EOpp 0.11 instead of 0.1"),
        ({"Cal": 0.2, "DI": 0.9, "EOpp": 0.1}, "DI 0.9 instead of 0.8, Cal 0.2 instead of 0.05"),
        ({"SPD": 0.10004, "DI": 0.79999}, "DI just under 0.8 instead of 0.8, SPD just over 0.1 instead of 0.1"),
        ({"EOpp": 0.1}, None),
        ({}, None),
    ],
)
def test_changed_limits_are_said_early(limits, said):
    results = al.audit(CASE, limits=limits, replicates=100).results
    found = said_by(results, "Limits")
    if said is None:
        assert found == []
        return
    assert found == [results["caveats"][0]]
    assert found[0]["text"] == f"Limits were changed: {said}."
    metrics = [part.split(" ")[0] for part in said.split(", ")]
    assert [number["pointer"] for number in found[0]["numbers"]] == [f"/options/limits/{name}" for name in metrics]


def test_all_limits_changed_is_one_sentence_still():
    limits = {"DI": 0.81234, "SPD": 0.112, "EOpp": 0.112, "EOD": 0.112, "PP": 0.112, "TI": 0.312, "Cal": 0.0512}
    (found,) = said_by(al.audit(CASE, limits=limits, replicates=100).results, "Limits")
    assert len(found["numbers"]) == 7
    assert len(found["text"]) <= 300


def test_a_given_threshold_may_have_been_looked_for(rows):
    """Where it was given, and with the words of the band where there is one."""
    asked = {"label": "label", "score": "true_risk", "by": "sex", "replicates": 100}
    start = "If the threshold was looked for among others, its interval does not allow for that"
    counts = al.count(rows, label="label", score="true_risk", by="sex", thresholds=[0.2])
    for found in (al.audit(rows, threshold=0.2, **asked), al.audit(counts, threshold=0.2, replicates=100)):
        (caveat,) = said_by(found.results, start)
        assert caveat["text"] == f"{start}: use the band."
    (caveat,) = said_by(al.audit(counts.cut(0.2), threshold=0.2, replicates=100).results, start)
    assert caveat["text"] == f"{start}."
    for found in (
        al.audit(rows, **asked),
        al.audit(rows, threshold="top20", **asked),
        al.audit(CASE, replicates=100),
        al.audit_gap("cdc_diabetes", "sex", threshold=0.2, replicates=100),
    ):
        assert said_by(found.results, "If the threshold") == []


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("A:5,4,400,20; B:30,100,400,20", True),  # nine flagged
        ("A:5,5,400,20; B:30,100,400,20", False),
        ("A:0,0,400,20; B:30,100,400,20", False),  # nobody: undefined
        ("A:50,4,400,20; B:30,100,400,20; C:1,0,9,9", True),  # not one of the two compared
        (CASE, False),
    ],
)
def test_a_verdict_on_few_flagged(text, there):
    results = al.audit(text, replicates=100).results
    (line,) = [line for line in results["verdicts"] if line["metric"] == "PP"]
    found = said_by(results, "PP")
    assert [one["text"] for one in found] == ["PP rests on under ten flagged people in a group."] * there
    assert not there or line["verdict"] in ("pass", "fail")


def test_a_verdict_on_few_flagged_names_its_attribute_where_there_are_more(rows):
    frame = rows.assign(ward=np.where(np.arange(len(rows)) < 40, "new", "old"))
    asked = {"label": "label", "score": "true_risk", "by": ["sex", "ward"], "threshold": 0.2, "replicates": 100}
    results = al.audit(frame, **asked).results
    flagged = {line["group"]: line["tp"] + line["fp"] for line in results["groups"]}
    assert 0 < flagged["new"] < 10 <= min(flagged["F"], flagged["M"])
    (found,) = said_by(results, "PP")
    assert found["text"] == "PP by “ward” rests on under ten flagged people in a group."


def test_that_zero_shows_nothing_stands_before_what_holds_always(found):
    texts = [line["text"] for line in found.results["caveats"]]
    zero = texts.index("An interval that contains zero does not show that the groups are alike.")
    general = [n for n, text in enumerate(texts) if text.startswith(("Several attributes", "All intervals", "Only"))]
    assert len(general) == 3
    assert zero == min(general) - 1


SWAPPED = "The order of the numbers is TP, FP, TN, FN; swapping TN and FN would give this."


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Women:80,40,30,800; Men:120,90,25,700", "90.2%"),  # as CASE, with TN and FN in each other's place
        ("A:2,2,3,2; B:9,1,1,0", "65.0%"),  # more in one group, fewer in the other
        ("A:25,25,25,25; B:25,25,25,26", "50.2%"),
        ("A:25,25,25,25; B:25,25,26,26", None),
        (CASE, None),
    ],
)
def test_most_people_with_the_outcome(text, share):
    """More than half: said first, with a number of the results, and with what may have been swapped."""
    results = al.audit(text, replicates=100).results
    cells = np.array([[int(n) for n in part.split(":")[1].split(",")] for part in text.split(";")]).sum(axis=0)
    assert results["input"]["prevalence"] == pytest.approx((cells[0] + cells[3]) / cells.sum())
    found = [line for line in results["caveats"] if "TP, FP, TN, FN" in line["text"]]
    if share is None:
        assert found == []
        return
    assert found == [results["caveats"][0]]
    assert found[0]["text"] == f"More than half of the people, {share}, have the outcome. {SWAPPED}"
    assert found[0]["numbers"] == [{"text": share, "pointer": "/input/prevalence", "form": "percent"}]


def test_rows_with_a_common_outcome_were_not_swapped(rows):
    """Rows have names for their columns: only what is typed in an order can be in the wrong one."""
    found = al.audit(rows.assign(label=1 - rows["label"]), label="label", score="true_risk", by="sex", replicates=100)
    assert found.results["input"]["prevalence"] == pytest.approx(1 - rows["label"].mean())
    assert found.results["input"]["prevalence"] > 0.5
    assert not any("TP, FP" in line["text"] for line in found.results["caveats"])


def test_specifications_of_the_book_are_not_of_a_model_fitted_anew():
    from copy import deepcopy

    from auditlib.audits.caveats import caveats

    held = al.audit_gap("cdc_diabetes", "age", replicates=100).results
    said = "They are not of the model fitted here, nor is a headline that counts them."

    def of_specifications(**known):
        changed = deepcopy(held)
        changed["input"] |= known
        (found,) = [line["text"] for line in caveats(changed) if line["text"].startswith("The specifications are")]
        return found

    assert held["headline"]["rule"] == "both signs"
    assert said not in of_specifications()
    assert of_specifications(fitted="anew", max_rows=50_000, asked_model="hist_gradient_boosting").endswith(said)
    assert of_specifications(fitted="anew", max_rows=None, age_bands=["18–24", "80+"]).endswith(said)
    sexes = al.audit_gap("cdc_diabetes", "sex", replicates=100).results
    sexes["input"] |= {"fitted": "anew", "max_rows": 50_000}
    assert not any("specifications" in line["text"].lower() for line in caveats(sexes))


def test_numbers_stand_where_they_point(found):
    """Each number of a sentence is the value at its pointer, in its form."""
    results, checked = found.results, 0
    said = [results["headline"], *results["tiles"], *results["caveats"]]
    for part in [*said, *(line["why"] for line in results["follow_ups"])]:
        for number in part["numbers"]:
            assert shown(at(results, number["pointer"]), number["form"]) == number["text"]
            assert number["text"] in part["text"]
            checked += 1
    assert checked > 15


def test_same_seed_same_results(rows):
    asked = {"label": "label", "score": "true_risk", "by": "sex", "threshold": 0.2, "replicates": 100}
    one, two, other = al.audit(rows, **asked), al.audit(rows, **asked), al.audit(rows, seed=43, **asked)
    assert one.results == two.results
    assert one.results["questions"]["prevalence"] != other.results["questions"]["prevalence"]
    assert one.results["questions"]["chance"] == other.results["questions"]["chance"]


def test_names_that_results_use_themselves(rows):
    """Columns called like parts of the results are columns like others."""
    frame = rows.rename(columns={"group": "metric", "sex": "attribute", "hospital": "raw"})
    asked = {"label": "label", "score": "true_risk", "threshold": 0.2, "replicates": 100}
    plain = al.audit(rows, by=["group", "sex"], site="hospital", **asked)
    found = al.audit(frame, by=["metric", "attribute"], site="raw", **asked)
    assert found.results["questions"]["chance"] == plain.results["questions"]["chance"]
    assert [line["value"] for line in found.results["verdicts"]] == [
        line["value"] for line in plain.results["verdicts"]
    ]


def test_gap_of_the_book():
    """The default options give the book's own numbers: Newcombe's interval of its table of gaps."""
    from auditlib import studies

    table = studies.gap_table(replicates=100).set_index("comparison")
    for name, row in table.iterrows():
        _, dataset, attribute = str(name).split("-")
        results = al.audit_gap(dataset, attribute, replicates=100).results
        gap = results["questions"]["chance"]["gap"]
        assert gap["estimate"] == pytest.approx(row["gap"], rel=1e-11)
        assert [gap["low"], gap["high"]] == pytest.approx([row["newcombe_low"], row["newcombe_high"]], rel=1e-11)
        assert (gap["n_a"], gap["n_b"]) == (row["positives_a"], row["positives_b"])
        assert results["threshold"]["value"] == pytest.approx(row["threshold"])
        told = results["published"]
        assert (told is None) == np.isnan(row["published_gap"])
        if told:
            assert told["difference"] == pytest.approx(row["gap"] - row["published_gap"])


def test_gap_multiverse_of_the_book():
    """754 of 1,728 specifications lie above zero and 124 below; 39 and 551 of 864."""
    for dataset, expected in (("diabetes130", (1728, 754, 124)), ("cdc_diabetes", (864, 39, 551))):
        choices = al.audit_gap(dataset, "age", replicates=100).results["questions"]["choices"]
        assert (choices["specifications"], choices["above"], choices["below"]) == expected
    assert al.audit_gap("diabetes130", "age", replicates=100, multiverse=False).results["questions"]["choices"] == {
        "available": False,
        "why": "Left out as asked (multiverse off).",
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threshold": 1.5}, "between 0 and 1"),
        ({"threshold": 0.0}, "above 0 and below 1"),
        ({"threshold": "top0"}, "flags nobody"),
        ({"threshold": "lowest"}, "'prevalence'"),
        ({"lam": 1.2}, "lam must be"),
        ({"lam": float("nan")}, "lam must be"),
        ({"lam": {"Women": 0.2, "Men": 2.0}}, "lam of 'Men'"),
        ({"benefit_threshold": 1.0}, "benefit_threshold must be"),
        ({"target_prevalence": "common"}, "'pooled'"),
        ({"target_prevalence": 0.0}, "target_prevalence must be"),
        ({"capacity": 0}, "capacity must be"),
        ({"capacity": 1.2}, "capacity must be"),
        ({"limits": {"XY": 0.5}}, "no metric 'XY'"),
        ({"replicates": 10}, "replicates"),
        ({"replicates": 10**9}, "at most"),
        ({"seed": -1}, "seed"),
        ({"level": 95}, "level"),
        ({"bins": 0}, "bins"),
        ({"multiverse": "yes"}, "true or false"),
        ({"group_a": "x", "group_b": "x"}, "two groups"),
    ],
)
def test_options_refused(options, words):
    """An error that names the option and its range."""
    with pytest.raises(al.AuditInputError, match=words):
        Options(**options)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda rows: al.audit(rows, by="sex"), "label=….*score=…"),
        (lambda rows: al.audit(rows, label="label", score="true_risk", by=[]), "by=…"),
        (lambda rows: al.audit(rows, label="label", score="true_risk", by="sex", colour=1), "unknown option 'colour'"),
        (lambda rows: al.audit(rows[rows["sex"] == "F"], label="label", score="true_risk", by="sex"), "two groups"),
        (lambda rows: al.audit(rows, label="label", score="true_risk", by="true_risk"), "used twice"),
        (
            lambda rows: al.audit(rows.assign(i=range(len(rows))), label="label", score="true_risk", by="i"),
            "at most 60",
        ),
        (lambda rows: al.audit(CASE, threshold=0.3), "leave it out"),
        (lambda rows: al.audit(CASE, capacity=0.3), "confusion matrices"),
        (lambda rows: al.audit(CASE, lam=0.3), "benefit_threshold"),
        (lambda rows: al.audit(CASE, group_a="Boys"), "no group 'Boys'"),
        (lambda rows: al.audit("A:0,0,0,0; B:0,0,0,0"), "nobody"),
        (lambda rows: al.audit_gap("diabetes130", "income"), "choose one of"),
        (lambda rows: al.audit_gap("cdc_diabetes", "sex", model="oracle"), "model must be"),
        (lambda rows: al.audit_gap("cdc_diabetes", "sex", max_rows=0), "max_rows"),
        (lambda rows: al.audit_gap("cdc_diabetes", "age", age_bands=["18–44", "20–30"]), "whole recorded bands"),
    ],
)
def test_input_refused(rows, call, words):
    """An error that says what is wrong."""
    with pytest.raises(al.AuditInputError, match=words):
        call(rows)


def test_sites_of_one_attribute(rows):
    """One attribute is one item: the share of pairs of hospitals with one verdict, and no coefficient beyond chance."""
    found = al.audit(rows, label="label", score="true_risk", by="group", site="hospital", threshold=0.2, replicates=100)
    flagged = rows.assign(flagged=rows["true_risk"] >= 0.2)
    passed = [np.ptp(part.groupby("group")["flagged"].mean()) <= 0.1 for _, part in flagged.groupby("hospital")]
    pairs = [one == two for at, one in enumerate(passed) for two in passed[at + 1 :]]
    line = next(line for line in found.results["sites"]["metrics"] if line["metric"] == "SPD")
    assert line["raw"] == pytest.approx(np.mean(pairs))
    assert line["ac1"] is line["kappa"] is None
