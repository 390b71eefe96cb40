"""Numbers of the chapter on interventions as text, by the names they have there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.intervals import rate_interval
from auditlib.metrics import selection_rate
from auditlib.mitigate import Shift, headline
from auditlib.plots.words import points

RESAMPLES, Z, TARGET = 500, 1.96, 0.80
#: Where a long name may break (soft hyphens, seen only there).
SPLIT = (
    "re-weigh-ed con-trol shif-ted stabi-lised stabi-lising selec-tion condi-tion accu-racy sensi-tivity admis-sion "
    "ethni-city flag-ged"
)
BREAKS = {name.replace("-", ""): name.replace("-", "\u00ad") for name in SPLIT.split()}
SHORT = {"selection": "sel", "audit": "aud"}
Prices = Mapping[tuple[str, str], pd.DataFrame]


def num(value: Any, digits: int = 3, *, sign: bool = False) -> str:
    """A number with a true minus and no leading "−0".

    >>> num(-0.25, 1, sign=True), num(-0.0001, 2)
    ('−0.2', '0.00')
    """
    text = f"{float(value):{'+' if sign else ''}.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", "−")


def narrow(table: pd.DataFrame) -> pd.DataFrame:
    """The table as text that fits a phone: no zero before a point, and names that may break.

    >>> narrow(pd.DataFrame({"shifted": ["0.744 (0.737 to 0.752)"], "n": [12], "F1": [-0.5]})).iloc[0].tolist()
    ['.744 (.737 to .752)', '12', '−.500']
    """
    texts = table.map(lambda x: num(x) if isinstance(x, float) else str(x))
    texts = texts.map(lambda text: re.sub(r"(?<![\d.,])0\.", ".", text))
    return texts.rename(_breaking, axis=1).rename(_breaking)


def _breaking(name: Any) -> Any:
    return " ".join(BREAKS.get(word, word) for word in name.split(" ")) if isinstance(name, str) else name


def at(priced: Prices, policy: str, part: str, measure: str, attribute: str = "") -> pd.Series:
    """A row of one rule's prices.

    Raises
    ------
    AuditInputError
        Where there is none.
    """
    rows = priced[policy, part]
    found = rows[(rows["measure"] == measure) & (rows["attribute"] == attribute)]
    if len(found) != 1:
        raise AuditInputError(f"no price of {measure} {attribute} under {policy}.")
    return found.iloc[0]


def drop(old: xr.DataArray, new: xr.DataArray, digits: int = 3) -> str:
    """Change of a mean over replicates, with the 95% interval of its paired Monte-Carlo error.

    >>> drop(xr.zeros_like(one := xr.DataArray([0.1, 0.1, 0.1], dims="replicate")), one, 1)
    '+0.1 (+0.1 to +0.1)'
    """
    since = new - old
    mean, error = float(since.mean()), float(since.std("replicate", ddof=1)) / since.sizes["replicate"] ** 0.5
    ends = (num(mean + k * Z * error, digits, sign=True) for k in (0, -1, 1))
    return "{} ({} to {})".format(*ends)


def cohort(stays: Counts) -> dict[str, str]:
    """Who is left out."""
    facts = stays.provenance
    return {"left": f"{facts['patients_left_out']:,}", "patients": f"{facts['patients']:,}"}


def weights(table: pd.DataFrame, change: xr.Dataset) -> dict[str, str]:
    """Weights of a long stay of the youngest and the oldest, and the changes of DI."""
    long = table[table["long_stay"] == 1].set_index("age")["weight"]
    said = {f"change-{a}": points(change.sel(attribute=a), "+.3f", 1) for a in ("race", "ethnicity", "age")}
    return {"weight-young": num(long["<30"]), "weight-old": num(long["70+"])} | said


def thresholds(shifted: Shift, control: Shift) -> dict[str, str]:
    """What moved, what could not, and what it did to accuracy on the people searched on."""
    cell = shifted.cells
    kept = cell["why"] != ""
    white = cell[(cell["race"] == "Caucasian") & (cell["sex"] == "Female")].set_index("age")["threshold"]
    odd = cell[(cell["race"] == "AfricanAmerican") & (cell["sex"] == "Male") & (cell["age"] == "<30")].iloc[0]
    asian = cell[cell["race"] == "Asian"]
    if not (asian["why"] != "").all():
        raise AuditInputError("thresholds: some Asian joint groups were searched; the chapter says that none was.")
    start = float(shifted.history["accuracy"].iloc[0])
    return {
        "cells": str(len(cell)), "kept": str(int(kept.sum())), "searched": str(int((~kept).sum())),
        "kept-people": str(int(cell.loc[kept, "people"].sum())),
        "moved": str(int((cell["threshold"] != cell["start"]).sum())),
        "young": num(white["<30"], 2), "old": num(white["70+"], 2), "between": num(white[["<30", "70+"]].mean(), 2),
        "odd": num(odd["threshold"], 2), "odd-n": str(int(odd["people"])),
        "asian-cells": str(len(asian)), "asian-people": str(int(asian["people"].sum())),
        "gain": num(100 * (shifted.accuracy - start), 2, sign=True),
        "control-gain": num(100 * (control.accuracy - start), 2, sign=True),
    }  # fmt: skip


def groups(parts: Mapping[str, Counts], rules: Mapping[str, Any]) -> dict[str, str]:
    """Shares flagged on the selection partition, of Caucasian and Asian patients and of all; Asian long stays."""
    said: dict[str, str] = {}
    for name, rule in rules.items():
        table = parts["selection"].at(getattr(rule, "thresholds", rule)).reset_coords(drop=True)
        table = table.sum([dim for dim in parts["selection"].dims if dim != "race"])
        said[f"{name}-all"] = num(100 * selection_rate(table.sum("race")), 1)
        if name != "stabilised":
            said[f"{name}-caucasian"] = num(100 * selection_rate(table.sel(race="Caucasian")), 1)
    late = parts["audit"].at(rules["shifted"].thresholds).reset_coords(drop=True)
    late = points(rate_interval(late.sum([dim for dim in parts["audit"].dims if dim != "race"]), selection_rate), ".1f")
    said |= {"audit-asian": late["Asian"], "audit-hispanic": late["Hispanic"]}
    said["asian"] = num(100 * selection_rate(table.sel(race="Asian")), 1)
    for part, counts in parts.items():
        asian = counts.by("race").at(0.5).sel(race="Asian")
        said[f"asian-{SHORT[part]}"] = str(int(asian["tp"] + asian["fn"]))
    return said


def at_limits(passed: xr.DataArray) -> dict[str, str]:
    """In how many replicates DI passes by race, by age, and all four together."""
    held = passed.sel(metric="DI") == 1
    shares = {f"pass-{a}": held.sel(attribute=a) for a in ("race", "age")} | {"all-four": held.all("attribute")}
    return {name: f"{num(100 * value.mean(), 1)}%" for name, value in shares.items()}


def prices(priced: Prices) -> dict[str, str]:
    """Accuracy and flip rates on the audit partition, DI and the verdict on PP by age, and what a new fit changes."""
    said: dict[str, str] = {}
    for policy in ("real-only", "reweighed", "shifted", "stabilised"):
        line = headline(priced[policy, "audit"])
        texts = {"acc": num(line["accuracy"], 4), "vfr": num(line["mean VFR"], 4)}
        said |= {f"{policy}-{key}": text.removeprefix("0") for key, text in texts.items()}
    said["control-vfr"] = num(headline(priced["control", "audit"])["mean VFR"])
    said |= {f"age-{p}": num(at(priced, p, "audit", "DI", "age")["estimate"]) for p in ("shifted", "stabilised")}
    race = at(priced, "shifted", "audit", "DI", "race")
    said |= {"race-shifted": num(race["estimate"]), "race-pass": f"{race['p_pass']:.0%}"}
    said["race-range"] = f"{num(race['low'])} to {num(race['high'])}"
    for policy, key in (("real-only", "start"), ("stabilised", "end")):
        said[f"pp-{key}"] = _of_all(at(priced, policy, "selection", "PP", "age")["p_pass"])
    two = [at(priced, name, "audit", "accuracy") for name in ("real-only", "reweighed")]
    gain = two[1]["estimate"] - two[0]["estimate"]
    half = Z * float(np.sqrt(sum(row["estimate"] * (1 - row["estimate"]) / row["n"] for row in two)))
    said["new-acc"] = "{} ({} to {})".format(*(num(100 * (gain + k * half), 2, sign=True) for k in (0, -1, 1)))
    areas = (at(priced, name, "audit", "AUROC")["estimate"] for name in ("real-only", "reweighed"))
    return said | dict(zip(("auroc-real", "auroc-new"), map(num, areas), strict=True))


def _of_all(share: Any) -> str:
    """So many of the replicates; none is at most 3."""
    count = round(float(share) * RESAMPLES)
    return f"{count} of {RESAMPLES}" if count else f"none of {RESAMPLES} (so in at most 3/{RESAMPLES})"


def changes(found: Mapping[tuple[str, str], xr.Dataset]) -> dict[str, str]:
    """Paired changes of accuracy in points, of each rule and partition, and of F1 when stabilised."""
    said: dict[str, str] = {}
    for (rule, part), one in found.items():
        for measure in ("accuracy", "F1") if rule == "stabilised" else ("accuracy",):
            said[f"d-{rule}-{SHORT[part]}-{measure.lower()}"] = points(one.sel(measure=measure), "+.2f")
    return said


def moves(grid: xr.Dataset, priced: Prices) -> dict[str, str]:
    """Where flip rates fell and rose from real-only to stabilised on the audit partition."""
    vfr = grid["vfr"]
    since = vfr.sel(model="stabilised") - vfr.sel(model="real-only")
    said = {f"up-{a}": num(since.sel(attribute=a).mean(), sign=True) for a in ("race", "ethnicity", "age")}
    said["eod-up"] = num(since.sel(metric="EOD", attribute="age"), sign=True)
    if since.argmax(...)["metric"] != list(since["metric"].values).index("EOD"):
        raise AuditInputError("moves: the largest rise is not that of EOD, as the chapter says.")
    fell = (since < 0) & (grid["dominant"].sel(model="stabilised") == "pass")
    if set(fell.any("metric").to_series().loc[lambda held: held].index) != {"ethnicity"}:
        raise AuditInputError("moves: not all falls to a pass are by ethnicity, as the chapter says.")
    said |= {"fell-pass": str(int(fell.sum())), "fell-fail": str(int((since < 0).sum() - fell.sum()))}
    for name, key in (("real-only", "before"), ("stabilised", "after")):
        said[f"eth-{key}"] = f"{at(priced, name, 'audit', 'DI', 'ethnicity')['p_pass']:.0%}"
        said[f"eod-{key}"] = _of_all(at(priced, name, "audit", "EOD", "age")["p_pass"])
    for name, m, key in (("real-only", "PP", "pp-before"), ("stabilised", "DI", "di-after")):
        said[key] = num(vfr.sel(model=name, metric=m, attribute="age"))
    for name, key in (("real-only", "before"), ("stabilised", "after")):
        gap = at(priced, name, "audit", "PP", "age")["estimate"]
        said |= {f"gap-{key}": num(gap, 2), f"ppv-{key}": num(100 * gap, 0)}
    return said | {"rose": str(int((since > 0).sum())), "fell": str(int((since < 0).sum()))}


def searches(flips: pd.DataFrame) -> dict[str, str]:
    """Where the gain of stabilising holds: other replicates, other seeds, resamples of another size."""
    rows: Any = flips[flips["policy"] == "stabilised"].set_index(["partition", "size", "search"])
    full = rows.loc["audit"].xs(27_828, level="size")
    chosen = rows.loc[("selection", 13_914, "seed 42")]
    seeds = full[full.index.str.startswith("seed")]
    means = flips[(flips["partition"] == "audit") & flips["search"].isin(["", "seed 42"])]  # of this page
    said = {
        "fresh": _with_error(chosen["change"], chosen["change_error"]),
        "seed-aud": _with_error(full.loc["seed 42", "change"], full.loc["seed 42", "change_error"]),
        "seeds-low": num(seeds["vfr"].min()), "seeds-high": num(seeds["vfr"].max()),
        "seeds-fell": str(int((seeds["change"] < 0).sum())), "seeds": str(len(seeds)),
    }  # fmt: skip
    gaps = flips[(flips["policy"] == "shifted") & (flips["size"] == 27_828) & (flips["search"] != "")]
    said["gap-shifted"] = num(gaps["vfr"].max())
    for size, key in ((27_828, "full"), (10_000, "small")):
        one = means[means["size"] == size].set_index("policy")["vfr"]
        said |= {f"{key}-{policy}": num(value) for policy, value in one.items()}
    return said


def _with_error(value: Any, error: Any) -> str:
    return f"{num(value, 4, sign=True)} (SE {num(error, 4)})"
