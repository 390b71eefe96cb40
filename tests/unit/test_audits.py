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


@pytest.mark.parametrize("text", [CASE, "A:9,1,90,9; B:60,40,600,4", "A:30,70,70,30; B:30,70,70,31"])
def test_limit_follow_up_turns_the_verdict(text):
    """The limit that a follow-up names gives that metric the other verdict, and leaves the value."""
    results = al.audit(text).results
    (line,) = [line for line in results["follow_ups"] if "limits" in line["parameters"]]
    ((metric, _),) = line["parameters"]["limits"].items()
    again = al.audit(text, limits=line["parameters"]["limits"]).results
    before, after = (next(v for v in r["verdicts"] if v["metric"] == metric) for r in (results, again))
    assert before["value"] == after["value"]
    assert {before["verdict"], after["verdict"]} == {"pass", "fail"}


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
