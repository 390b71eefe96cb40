"""The project's list of cases through `al.audit` and through the command line, to folder and check.

Cases 8 and 12 are of functions that a card does not call (standardized net benefit; simulated audits of the spread).
"""

import json
import math
import time
from itertools import product

import numpy as np
import pandas as pd
import pytest

import auditlib as al
from tests.unit.cards import CASE14, refused, run


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def typed(capsys, place, *words):
    """Results of a command line whose folder passes its check."""
    usual = ("--replicates", "200") if "--replicates" not in words else ()
    status, _, err = run(capsys, "audit", *words, "--out", place, "--quiet", *usual)
    assert status == 0, err
    status, said, _ = run(capsys, "check", place)
    assert status == 0, said
    return json.loads((place / "results.json").read_bytes())


def both(capsys, place, text, *words, **options):
    """Results of confusion matrices, the same by both ways."""
    found = typed(capsys, place, "--confusion", text, *words)
    held = al.audit(text, replicates=200, **options).results
    for name in ("groups", "questions", "verdicts", "benefit", "headline"):
        assert found[name] == held[name]
    return found


def of_metrics(results):
    return {line["metric"]: line for line in results["verdicts"]}


def of_groups(results):
    return {line["group"]: line for line in results["groups"]}


def rows(path=None, **columns):
    frame = pd.DataFrame(columns)
    if path is not None:
        frame.to_csv(path, index=False)
    return frame


ROWS = ("--label", "y", "--score", "p", "--by", "g")
COLUMNS = {"label": "y", "score": "p", "by": "g"}
Y, P, G = [1, 0, 1, 0, 1, 0, 0, 1] * 5, [0.9, 0.2, 0.4, 0.1, 0.8, 0.6, 0.3, 0.7] * 5, ["a", "b", "b", "a"] * 10


def test_case_1_a_group_without_positives(capsys, tmp_path):
    found = both(capsys, tmp_path / "a", "A:0,5,45,0; B:20,10,60,10")
    groups, metrics = of_groups(found), of_metrics(found)
    assert groups["A"]["sensitivity"]["estimate"] is None
    assert groups["B"]["sensitivity"]["estimate"] == pytest.approx(2 / 3)
    assert groups["A"]["specificity"]["estimate"] == 0.9
    gap = found["questions"]["chance"]["gap"]
    assert (gap["estimate"], gap["low"], gap["high"], gap["n_a"]) == (None, None, None, 0)
    assert found["attributes"][0]["spread"]["estimate"] is None
    for name in ("EOpp", "EOD"):
        assert (metrics[name]["value"], metrics[name]["verdict"], metrics[name]["vfr"]) == (None, "undefined", None)
    assert found["headline"]["rule"] == "undefined"
    assert "“A” has nobody with the outcome" in found["headline"]["text"]
    assert found["tiles"][0]["text"] == "The gap in sensitivity is undefined."
    assert "undefined" in (tmp_path / "a" / "summary.md").read_text(encoding="utf-8")


def test_case_2_nobody_is_flagged(capsys, tmp_path):
    found = both(capsys, tmp_path / "a", "A:0,0,40,10; B:0,0,30,20")
    metrics = of_metrics(found)
    assert [line["ppv"]["estimate"] for line in found["groups"]] == [None, None]
    for name in ("DI", "PP"):
        assert (metrics[name]["value"], metrics[name]["verdict"]) == (None, "undefined")
    for name in ("SPD", "EOpp", "EOD"):
        assert (metrics[name]["value"], metrics[name]["verdict"]) == (0, "pass")
    assert found["questions"]["prevalence"]["raw"]["estimate"] is None


def test_case_3_labels_in_words(capsys, tmp_path):
    words = ["yes" if y else "no" for y in Y]
    frame = rows(tmp_path / "x.csv", y=words, p=P, g=G)
    with bad(r"yes.*positive|positive.*yes"):
        al.audit(frame, replicates=200, **COLUMNS)
    said = refused(capsys, "audit", tmp_path / "x.csv", *ROWS)
    assert all(word in said for word in ("'yes'", "'no'", "positive", "'y'"))
    found = typed(capsys, tmp_path / "a", tmp_path / "x.csv", *ROWS, "--positive", "yes")
    expected = al.audit(rows(y=Y, p=P, g=G), replicates=200, **COLUMNS)
    assert found["groups"] == expected.results["groups"]


@pytest.mark.parametrize(("column", "number"), [("g", 3), ("y", 2), ("p", 4)])
def test_case_4_missing_values(capsys, tmp_path, column, number):
    frame = rows(y=Y, p=P, g=G).astype({"y": "Int64"})
    frame.loc[: number - 1, column] = None
    frame.to_csv(tmp_path / "x.csv", index=False)
    with bad(rf"'{column}'.*\b{number}\b|\b{number}\b.*'{column}'"):
        al.audit(frame, replicates=200, **COLUMNS)
    said = refused(capsys, "audit", tmp_path / "x.csv", *ROWS)
    assert f"'{column}'" in said
    assert f" {number} " in said
    if column != "g":  # labels and scores are never filled
        assert refused(capsys, "audit", tmp_path / "x.csv", *ROWS, "--missing", "category") == said
        return
    found = typed(capsys, tmp_path / "a", tmp_path / "x.csv", *ROWS, "--missing", "category")
    assert sum(line["n"] for line in found["groups"]) == len(frame)
    assert sorted(line["n"] for line in found["groups"])[0] == 3
    assert len(found["groups"]) == 3


@pytest.mark.parametrize("scores", [[0.2, 1.3], [0.2, "inf"], [-0.1, 0.5]])
def test_case_5_scores_outside_0_to_1(capsys, tmp_path, scores):
    rows(tmp_path / "x.csv", y=[0, 1], p=scores, g=["a", "b"])
    assert "1" in refused(capsys, "audit", tmp_path / "x.csv", *ROWS)
    frame = rows(y=[0, 1], p=[float(score) for score in scores], g=["a", "b"])
    with bad(r"\b1\b.*(outside|between) 0|(outside|between) 0.*\b1\b"):
        al.audit(frame, replicates=200, **COLUMNS)


def test_case_6_a_level_that_nobody_has(capsys, tmp_path):
    frame = rows(y=Y, p=P, g=pd.Categorical(G, categories=["a", "nobody", "b"]))
    frame.to_parquet(tmp_path / "x.parquet")
    found = typed(capsys, tmp_path / "a", tmp_path / "x.parquet", *ROWS)
    held = al.audit(frame, replicates=200, **COLUMNS).results
    for results in (found, held):
        assert sorted(of_groups(results)) == ["a", "b"]
        assert sorted(results["input"]["groups"]["g"]) == ["a", "b"]
    assert of_metrics(found)["DI"]["value"] == of_metrics(held)["DI"]["value"] > 0


def test_case_7_net_benefit_at_0_and_1(capsys, tmp_path):
    with bad("benefit_threshold must be at least 0 and below 1"):
        al.audit(CASE14, lam=0.3, benefit_threshold=1.0)
    words = ("audit", "--confusion", CASE14, "--lam", "0.3", "--benefit-threshold")
    assert "benefit_threshold must be at least 0 and below 1" in refused(capsys, *words, "1")
    found = both(
        capsys, tmp_path / "a", CASE14, "--lam", "0.3", "--benefit-threshold", "0", lam=0.3, benefit_threshold=0.0
    )
    women = found["benefit"]["groups"][0]
    assert women["snb"]["estimate"] == pytest.approx(
        840 / 950 + 0.3 * 80 / 950, abs=1e-9
    )  # no harm in a false positive
    assert "Infinity" not in (tmp_path / "a" / "results.json").read_text(encoding="utf-8")
    everybody = "A:100,900,0,0; B:200,800,0,0"  # at threshold 0 the net benefit of treating all is the prevalence
    treated = both(
        capsys, tmp_path / "b", everybody, "--lam", "1", "--benefit-threshold", "0", lam=1.0, benefit_threshold=0.0
    )
    for line, prevalence in zip(treated["benefit"]["groups"], (0.1, 0.2), strict=True):
        assert line["snb"]["estimate"] - line["untreated"] == pytest.approx(prevalence, abs=1e-9)


def test_case_9_theil(capsys, tmp_path):
    found = both(capsys, tmp_path / "a", "A:0,0,0,10; B:5,5,5,5")
    assert of_metrics(found)["TI"]["value"] == pytest.approx(math.log(1.5), abs=1e-9)
    nothing = both(capsys, tmp_path / "b", "A:0,0,0,10; B:0,0,0,20")
    assert of_metrics(nothing)["TI"] | {"value": None, "verdict": "undefined"} == of_metrics(nothing)["TI"]


def twenty_sites(dissent):
    """Four attributes of two levels in 20 sites, all rates alike; in one site one attribute's shares flagged differ."""
    lines = []
    for site, levels in product(range(20), product("ab", repeat=4)):
        apart = dissent and site == 7 and levels[1] == "b"
        for y, p, n in ((1, 0.9, 4), (0, 0.9, 2 if apart else 4), (0, 0.1, 6 if apart else 4), (1, 0.1, 4)):
            lines += [(y, p, *levels, f"site {site}")] * n
    return pd.DataFrame(lines, columns=["y", "p", "g0", "g1", "g2", "g3", "site"])


@pytest.mark.parametrize(("dissent", "raw", "ac1", "kappa"), [(False, 1.0, 1.0, None), (True, 0.975, 0.9744, -0.0127)])
def test_cases_10_and_11_twenty_sites(capsys, tmp_path, dissent, raw, ac1, kappa):
    twenty_sites(dissent).to_csv(tmp_path / "x.csv", index=False)
    words = ["--label", "y", "--score", "p", *(word for n in range(4) for word in ("--by", f"g{n}")), "--site", "site"]
    found = typed(
        capsys, tmp_path / "a", tmp_path / "x.csv", *words, "--threshold", "0.5", "--limits", "SPD=0.1,DI=0.8"
    )
    line = next(line for line in found["sites"]["metrics"] if line["metric"] == "SPD")
    assert found["sites"]["sites"] == 20
    assert line["passed"] == pytest.approx(79 / 80 if dissent else 1)
    assert line["raw"] == pytest.approx(raw, abs=5e-5)
    assert line["ac1"] == pytest.approx(ac1, abs=5e-5)
    assert line["kappa"] == (None if kappa is None else pytest.approx(kappa, abs=5e-5))


def test_case_13_a_group_of_two_positives(capsys, tmp_path):
    """All 20 with the outcome are drawn anew; that none of the two is drawn has the chance .9 ** 20 = .122."""
    text = "A:1,5,45,1; B:9,10,60,9"
    found = typed(capsys, tmp_path / "a", "--confusion", text, "--replicates", "2000")
    line = of_metrics(found)["EOpp"]
    expected = 0.9**20
    assert line["undefined"] == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 2000))
    assert line["vfr"] is not None
    assert any("EOpp" in caveat["text"] and "5%" in caveat["text"] for caveat in found["caveats"])
    assert of_groups(found)["A"]["small"]


def test_case_14_from_the_command_line_to_a_checked_folder(capsys, tmp_path):
    start = time.perf_counter()
    found = both(capsys, tmp_path / "card", CASE14)
    with capsys.disabled():
        print(f" [case 14, folder and check: {time.perf_counter() - start:.1f} s]", end="")
    groups = of_groups(found)
    for name, sensitivity, ppv in (("Women", 0.727, 0.667), ("Men", 0.828, 0.571)):
        assert groups[name]["sensitivity"]["estimate"] == pytest.approx(sensitivity, abs=5e-4)
        assert groups[name]["ppv"]["estimate"] == pytest.approx(ppv, abs=5e-4)
    assert found["questions"]["chance"]["gap"]["estimate"] == pytest.approx(80 / 110 - 120 / 145)
    page = (tmp_path / "card" / "result_card.html").read_text(encoding="utf-8")
    for said in ("72.7 (63.7–80.2)", "82.8 (75.8–88.0)", "66.7 (57.8–74.5)", "57.1 (50.4–63.6)"):  # percent, Wilson
        assert said in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Women:80,40,800; Men:120,90,700,25", "'Women:80,40,800'"),
        ("Women:80,-40,800,30; Men:120,90,700,25", "'Women:80,-40,800,30'"),
        ("Women:80,40.5,800,30; Men:120,90,700,25", "'Women:80,40.5,800,30'"),
        ("Women:80,40,800,30; Women:120,90,700,25", "'Women' is named twice"),
        ("Women:80,40,800,30", "at least two groups"),
    ],
)
def test_case_14_what_is_no_confusion_text(capsys, tmp_path, text, said):
    with bad(said.replace("(", r"\(")):
        al.audit(text)
    assert said in refused(capsys, "audit", "--confusion", text, "--out", tmp_path / "a")
    params = tmp_path / "p.json"
    params.write_text(json.dumps({"byo_confusion": text}))
    if text:
        assert said in refused(capsys, "gap", "--params", params, "--out", tmp_path / "a")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("lam", 1.2, "lam must be above 0 and at most 1"),
        ("lam", math.nan, "lam must be above 0 and at most 1"),
        ("lam", 0.0, "lam must be above 0 and at most 1"),
        ("threshold", 1.5, "threshold must lie between 0 and 1"),
        ("benefit_threshold", 1.5, "benefit_threshold must be at least 0 and below 1"),
        ("capacity", 0.0, "capacity must be a share of people above 0 and at most 1"),
        ("capacity", 1.2, "capacity must be a share of people above 0 and at most 1"),
        ("target_prevalence", 1.0, "target_prevalence must be above 0 and below 1"),
        ("level", 1.0, "level"),
        ("seed", -1, "seed"),
        ("replicates", 0, "replicates"),
        ("bins", 0, "bins must be a whole number from 1"),
    ],
)
def test_case_15_options_out_of_range(capsys, tmp_path, option, value, said):
    frame = rows(tmp_path / "x.csv", y=Y, p=P, g=G)
    with bad(said):
        al.audit(frame, **COLUMNS, **{option: value})
    more = ["--lam", "0.3"] if option == "benefit_threshold" else []
    words = [
        "audit",
        tmp_path / "x.csv",
        *ROWS,
        *more,
        f"--{option.replace('_', '-')}={value}",
        "--out",
        tmp_path / "a",
    ]
    assert said in refused(capsys, *words)
    assert not (tmp_path / "a").exists()


def test_case_16_a_random_policy(capsys, tmp_path):
    """q = .05 of each group flagged whatever the outcome, π = .03: tp = 150, fp = 4,850 of 100,000."""
    text = "A:150,4850,92150,2850; B:150,4850,92150,2850"
    found = both(capsys, tmp_path / "a", text, "--lam", "0.2", "--benefit-threshold", "0.015", lam=0.2,
                 benefit_threshold=0.015)  # fmt: skip
    expected = 0.97 + 0.20 * 0.05 * (0.03 - 0.015 / 0.985 * 0.97)
    for line in found["benefit"]["groups"]:
        assert line["snb"]["estimate"] == pytest.approx(expected, abs=1e-10)
        assert line["untreated"] == pytest.approx(0.97)
    assert found["benefit"]["gap"]["estimate"] == 0
    assert "9,702" in (tmp_path / "a" / "result_card.html").read_text(encoding="utf-8")
    assert np.isclose(10_000 * expected, 9701.5, atol=0.05)
