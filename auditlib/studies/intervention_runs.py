"""Numbers of other splits, other classifiers, other thresholds and the published runs, as text for the same chapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from auditlib.counts import Counts
from auditlib.metrics import accuracy
from auditlib.plots.group_rules import GroupRule
from auditlib.studies.intervention_words import RESAMPLES, SHORT, TARGET, num
from auditlib.studies.reproduced import pass_counts
from auditlib.verdicts.judged import NOISE


def runs(whole: pd.DataFrame, names: Mapping[str, str], late: Counts) -> dict[str, str]:
    """Other splits and predictors: ``names`` are tables and how they are called here; ``late`` is the one in order."""
    said: dict[str, str] = {}
    held: Any = whole.xs("audit", level="partition")
    for table, key in names.items():
        one: Any = held.loc[table]
        said[f"{key}-margin"] = num(one.loc["margin", "lowest DI"])
        cost = 100 * (one["accuracy"] - one.loc["start", "accuracy"])
        if key in ("seed", "order"):
            said |= {f"{key}-{p}": num(one.loc[p, "lowest DI"]) for p in ("shifted", "stabilised")}
        said[f"{key}-cost"] = num(cost["margin"] - cost["shifted"], 2, sign=True)
        if key == "first":
            said[f"{key}-range"] = (
                f"{num(one.loc['margin', 'lowest DI low'])} to {num(one.loc['margin', 'lowest DI high'])}"
            )
        else:
            said[f"{key}-acc"] = num(cost["stabilised"], 2, sign=True)
            said[f"{key}-acc-shifted"] = num(cost["shifted"], 2, sign=True)
        if key == "seed":
            said[f"{key}-acc-control"] = num(cost["control"], 2, sign=True)
        if key == "adm":
            said[f"{key}-vfr"] = num(one.loc["stabilised", "mean VFR"] - one.loc["start", "mean VFR"], sign=True)
    two = held.loc[list(names)].loc[(slice(None), ["shifted", "stabilised"]), "lowest DI"].astype(float)
    said |= {"reached": str(int((two >= TARGET - NOISE).sum())), "of-reached": str(len(two))}
    facts = late.provenance
    said["long-train"] = f"{facts['positives']['train'] / facts['n_train']:.0%}"
    said["long-audit"] = f"{facts['positives']['audit'] / facts['n']['audit']:.0%}"
    right = [[float(accuracy(late.sel(partition=p).by().at(float(t)))) for t in late.edges.lower] for p in SHORT]
    best = int(np.argmax(right[0]))
    return said | {"common": num(late.edges.lower[best], 2), "common-acc": num(right[1][best])}


def twelve(whole: pd.DataFrame, study: pd.DataFrame, tables: Sequence[str]) -> dict[str, str]:
    """Of the classifiers, how many …; changes of accuracy and F1 in points, median and worst."""
    f1 = study[study["measure"] == "F1"].set_index(["table", "policy", "partition"])["estimate"]
    said: dict[str, str] = {}
    for part, short in SHORT.items():
        held = whole.xs(part, level="partition").loc[list(tables)]
        right, low, mean = (held[name].unstack().astype(float) for name in ("accuracy", "lowest DI", "mean VFR"))  # noqa: PD010
        counted = {
            "ok": low["shifted"] >= TARGET - NOISE, "okst": low["stabilised"] >= TARGET - NOISE,
            "gain": right["shifted"] > right["start"],
            "up": mean["shifted"] > mean["start"], "down": mean["stabilised"] < mean["shifted"],
            "best": mean["stabilised"] < mean["start"],
        }  # fmt: skip
        said |= {f"twelve-{key}-{short}": str(int(value.sum())) for key, value in counted.items()}
        both = f1.xs(part, level="partition").unstack().loc[list(tables)]  # noqa: PD010
        since = {policy: right[policy] - right["start"] for policy in ("control", "shifted", "stabilised")}
        for key, cost in (*since.items(), ("f1", both["stabilised"] - both["start"])):
            said[f"twelve-{key}-{short}"] = (
                f"{num(100 * cost.median(), 1, sign=True)} ({num(100 * cost.min(), 1, sign=True)})"
            )
        if part == "audit":
            said["twelve-wide"] = str(int((low["margin"] >= TARGET - NOISE).sum()))
            cost, moved = since["stabilised"].sort_values(ascending=False), mean["stabilised"] - mean["shifted"]
            said["twelve-rank"] = str(list(cost.index).index("stays-xgboost") + 1)
            said |= {"moved-low": num(moved.min(), sign=True), "moved-high": num(moved.max(), sign=True)}
    return said


def pairs(rules: Mapping[str, GroupRule], young: Sequence[float], old: Sequence[float]) -> dict[str, str]:
    """For how many pairs of thresholds DI passes on the selection partition, and for how many on both."""
    each = [(a, b) for a in young for b in old]
    ok = {part: {one for one in each if rule.judged(*one).ratio >= TARGET - NOISE} for part, rule in rules.items()}
    here = ok["selection"]
    return {
        "pairs": str(len(each)), "pairs-sel": str(len(here)), "pairs-both": str(len(here & ok["audit"])),
        "pairs-young": num(max(a for a, _ in here), 2), "pairs-old": num(min(b for _, b in here), 2),
    }  # fmt: skip


def published(before: str = "threshold shifting", after: str = "VFR-Audit") -> dict[str, str]:
    """The drop of the published mean flip rate cell by cell, and its error under three assumptions.

    Examples
    --------
    >>> published()["drop-all"]
    '−0.0054'
    """
    share = [pass_counts(run).to_numpy() / RESAMPLES for run in (before, after)]
    names = pass_counts(after)
    vfr = [np.minimum(one, 1 - one) for one in share]
    since = pd.DataFrame(vfr[1] - vfr[0], names.index, names.columns)
    each = [np.sqrt(one * (1 - one) / RESAMPLES) for one in vfr]
    apart = np.sqrt(sum((one**2).sum() for one in each)) / since.size
    together = np.sqrt(sum((one.sum(axis=0) ** 2).sum() for one in each)) / since.size
    moved = np.abs(share[1] - share[0])
    paired = np.sqrt((moved * (1 - moved) / RESAMPLES).sum()) / since.size
    two = since.loc[["DI", "SPD"], "age"]
    race = since["race"]
    return {
        "drop-all": num(since.to_numpy().mean(), 4), "drop-sum": num(since.to_numpy().sum(), sign=True),
        "drop-race": num(race.sum(), sign=True),
        "drop-rest": num(since.to_numpy().sum() - two.sum() - race.sum(), sign=True),
        "se-apart": num(apart, 4), "se-together": num(together, 4), "se-paired": num(paired, 4),
    } | {f"drop-{str(metric).lower()}-age": num(value, sign=True) for metric, value in two.items()}  # fmt: skip
