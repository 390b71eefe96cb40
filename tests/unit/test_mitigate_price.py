"""Price: every number against rows, scikit-learn, statsmodels or the public functions."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from statsmodels.stats.proportion import proportion_confint

import auditlib as al
from auditlib.mitigate import headline, price, shift_thresholds, stabilize_verdicts
from auditlib.verdicts import METRICS, flip_rate, verdict, verdict_metrics
from tests.unit.mitigations import ATTRIBUTES, counted, people

FRAME = people(1200, 9, ("a", "b", "c"))
COUNTS = counted(FRAME, by=("partition", *ATTRIBUTES))
AUDIT = COUNTS.sel(partition="audit")
ROWS = FRAME[FRAME["partition"] == "audit"]
SHIFT = shift_thresholds(COUNTS.sel(partition="selection"), list(ATTRIBUTES), gap=1e-3)


def priced(thresholds=SHIFT, counts=AUDIT, **options):
    return price(counts, thresholds, list(ATTRIBUTES), **{"seed": 3, "replicates": 40, **options})


def of(frame, measure, attribute=""):
    return frame[(frame["measure"] == measure) & (frame["attribute"] == attribute)].iloc[0]


def test_overall_measures_are_those_of_the_rows():
    found = priced()
    edge = SHIFT.thresholds.sel(sex=xr.DataArray(ROWS["sex"].tolist()), age=xr.DataArray(ROWS["age"].tolist()))
    flagged = ROWS["p"].to_numpy() >= edge.values
    assert of(found, "accuracy")["estimate"] == pytest.approx(accuracy_score(ROWS["y"], flagged))
    assert of(found, "F1")["estimate"] == pytest.approx(f1_score(ROWS["y"], flagged))
    assert of(found, "flagged")["estimate"] == pytest.approx(flagged.mean())
    low, high = proportion_confint(int((flagged == ROWS["y"]).sum()), len(ROWS), method="wilson")
    assert of(found, "accuracy")[["low", "high"]].tolist() == pytest.approx([low, high])
    binned = (ROWS["p"] * 20).astype(int)
    assert of(found, "AUROC")["estimate"] == pytest.approx(roc_auc_score(ROWS["y"], binned))
    assert (found["n"] == len(ROWS)).all()
    assert found["n"].dtype == np.int64
    assert found["measure"].tolist() == ["accuracy", "flagged", "F1", "AUROC", *METRICS, *METRICS]
    assert (found["low"] <= found["high"]).all()


def test_verdicts_and_flip_rates_are_those_of_the_public_functions():
    found = priced(size=500)
    again = AUDIT.resample(40, strata="label", size=500, seed=3)
    for dim in ATTRIBUTES:
        (rest,) = (name for name in ATTRIBUTES if name != dim)
        point = verdict_metrics(AUDIT.at(SHIFT.thresholds).sum(rest), dim, scores=AUDIT.by(dim))
        table = again.at(SHIFT.thresholds).sum(rest)
        flips = flip_rate(verdict_metrics(table, dim, scores=again.by(dim)))
        for metric in METRICS:
            row = of(found, metric, dim)
            assert row["estimate"] == pytest.approx(float(point[metric]))
            assert row["verdict"] == verdict(point[metric]).item()
            assert row["vfr"] == pytest.approx(float(flips.vfr.sel(metric=metric)))
            assert row["p_pass"] == pytest.approx(float(flips.p_pass.sel(metric=metric)))
    low = al.interval(al.ratio(al.selection_rate(table), dim)).low
    assert of(found, "DI", dim)["low"] == pytest.approx(float(low))


def test_auroc_and_cal_do_not_depend_on_thresholds():
    one, two = priced(0.5), priced(SHIFT)
    assert of(one, "AUROC")["estimate"] == of(two, "AUROC")["estimate"]
    for dim in ATTRIBUTES:
        assert of(one, "Cal", dim).drop("n").equals(of(two, "Cal", dim).drop("n"))
    assert of(one, "accuracy")["estimate"] != of(two, "accuracy")["estimate"]


def test_any_kind_of_threshold_prices_the_same():
    number = priced(0.5)
    everywhere = xr.full_like(SHIFT.thresholds, 0.5)
    assert number.equals(priced(everywhere))
    by_sex = xr.DataArray([0.4, 0.5], {"sex": ["F", "M"]}, ["sex"])
    assert priced(by_sex)["estimate"].iloc[0] == float(al.accuracy(AUDIT.at(by_sex).sum(ATTRIBUTES)))
    by_level = price(AUDIT, {"F": 0.4, "M": 0.5}, "sex", seed=3, replicates=40)
    assert by_level["estimate"].iloc[0] == pytest.approx(priced(by_sex)["estimate"].iloc[0])
    alone = price(AUDIT, by_sex, "age", seed=3, replicates=40)
    assert of(alone, "DI", "age")["estimate"] == pytest.approx(of(priced(by_sex), "DI", "age")["estimate"])


def test_on_the_people_searched_a_price_says_what_the_search_said():
    selection = COUNTS.sel(partition="selection")
    stable = stabilize_verdicts(selection, SHIFT, list(ATTRIBUTES), seed=3, replicates=40, max_rounds=20)
    inside = headline(price(selection, stable, list(ATTRIBUTES), seed=3, replicates=40))
    assert inside["mean VFR"] == pytest.approx(stable.history["objective"].iloc[-1])
    assert inside["DI age"] == float(stable.di.sel(attribute="age"))
    assert inside["accuracy"] == pytest.approx(stable.accuracy)


def test_a_headline_counts_cells():
    line = headline(found := priced())
    vfr = found["vfr"].dropna()
    assert line["cells"] == 14
    assert line["flips"] == (vfr > 0).sum()
    assert line["stable"] == (vfr <= 0.1).sum()
    assert line["max VFR"] == vfr.max()
    assert line["passes"] == (found["verdict"] == "pass").sum()
    assert line["AUROC"] == of(found, "AUROC")["estimate"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("x", "takes the DataFrame of price"),
        (None, "takes the DataFrame of price"),
        (pd.DataFrame(), "no column 'measure'"),
        (pd.DataFrame({"measure": [], "attribute": [], "estimate": [], "verdict": []}), "no column 'vfr'"),
    ],
)
def test_a_headline_of_something_else_is_an_error(given, words):
    with pytest.raises(al.AuditInputError, match=words):
        headline(given)


def test_an_attribute_without_a_name_would_be_taken_for_everybody():
    counts = counted(ROWS.rename(columns={"age": ""}), by=("sex", ""))
    with pytest.raises(al.AuditInputError, match="the name ''"):
        price(counts, 0.5, ["sex", ""], seed=1, replicates=5)
    assert price(counts, 0.5, "sex", seed=1, replicates=5)["attribute"].unique().tolist() == ["", "sex"]


def test_rows_of_patients_take_every_interval_from_patients_resampled():
    frame = ROWS.assign(patient=np.arange(len(ROWS)) // 4)
    counts = counted(frame, cluster="patient")
    found = priced(counts=counts, strata=())
    again = counts.resample(40, seed=3)
    low = al.interval(al.accuracy(again.at(SHIFT.thresholds).sum(ATTRIBUTES))).low
    assert of(found, "accuracy")["low"] == pytest.approx(float(low))
    assert of(found, "AUROC")["low"] == pytest.approx(float(al.interval(al.auroc(again.by())).low))
    assert (found["n"] == len(ROWS)).all()


def test_what_is_undefined_is_nan_and_no_pass():
    nobody = priced(1.0, counted(ROWS.assign(p=ROWS["p"] * 0.9)))
    assert np.isnan(of(nobody, "F1")["estimate"]) or of(nobody, "F1")["estimate"] == 0
    assert np.isnan(of(nobody, "DI", "age")["estimate"])
    assert of(nobody, "DI", "age")["verdict"] == "undefined"
    assert np.isnan(of(nobody, "PP", "sex")["vfr"])
    cut = priced(0.5, AUDIT.cut([0.5]))
    assert np.isnan(of(cut, "AUROC")["estimate"])
    assert of(cut, "Cal", "sex")["verdict"] == "undefined"
    one_label = priced(0.5, counted(ROWS.assign(y=0)))
    assert np.isnan(of(one_label, "AUROC")["estimate"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"counts": COUNTS}, "select one"),
        ({"counts": AUDIT.resample(2, seed=1)}, "replicates"),
        ({"replicates": 0}, "replicates must be a whole number"),
        ({"thresholds": [0.4, 0.5]}, "not a list"),
        ({"thresholds": 0.123}, "nearest edges"),
        ({"thresholds": {"F": 0.5, "M": 0.5}}, "one group dimension"),
        ({"thresholds": xr.DataArray([0.5], {"race": ["A"]}, ["race"])}, "'race' is not a group"),
        ({"limits": {"DI": 2}}, "limit of DI"),
        ({"level": 1}, "level must lie between"),
    ],
)
def test_bad_input_is_an_error_in_words(change, words):
    with pytest.raises(al.AuditInputError, match=words):
        priced(**change)


def test_the_dominant_verdict_is_that_of_most_replicates():
    found = priced()
    cells = found[found["attribute"] != ""]
    wanted = np.select(
        [cells["p_pass"] > 0.5, cells["p_pass"] < 0.5, cells["p_pass"] == 0.5], ["pass", "fail", "tie"], ""
    )
    assert cells["dominant"].tolist() == wanted.tolist()
    assert (found.loc[found["attribute"] == "", "dominant"] == "").all()
    assert of(priced(0.5, AUDIT.cut([0.5])), "Cal", "sex")["dominant"] == "undefined"


def test_a_headline_counts_verdicts_that_most_replicates_contradict():
    said = [("pass", 0.075), ("pass", 0.9), ("fail", 0.6), ("fail", 0.1), ("pass", 0.5), ("undefined", np.nan)]
    cells = pd.DataFrame(said, columns=["verdict", "p_pass"]).assign(measure="Cal", attribute="sex", estimate=0.1)
    line = headline(cells.assign(vfr=np.minimum(cells["p_pass"], 1 - cells["p_pass"])))
    assert (line["contrary"], line["passes"], line["stable"], line["cells"]) == (3, 3, 3, 5)
    found = priced()
    known = found[found["attribute"] != ""]
    assert headline(found)["contrary"] == (known["verdict"] != known["dominant"]).sum()


def test_a_headline_of_a_csv_is_that_of_the_price(tmp_path):
    found = priced()
    found.to_csv(tmp_path / "price.csv", index=False)
    line, again = headline(found), headline(pd.read_csv(tmp_path / "price.csv"))
    assert line.index.tolist() == again.index.tolist()
    assert line.index[:3].tolist() == ["accuracy", "F1", "AUROC"]
    assert again.tolist() == pytest.approx(line.tolist())


def test_a_search_in_place_of_its_thresholds_is_refused():
    for call in (AUDIT.at, AUDIT.cut, lambda found: verdict_metrics(AUDIT, "sex", threshold=found)):
        with pytest.raises(al.AuditInputError, match=r"this is a Shift, not thresholds: pass its \.thresholds"):
            call(SHIFT)
