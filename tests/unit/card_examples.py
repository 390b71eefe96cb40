"""Audits of every kind whose cards the tests look at, each computed once."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import auditlib as al
from auditlib.card.figures import Picture, figures

RACES = ["White", "Black", "Asian", "Hispanic", "Native American", "Pacific Islander", "Mixed", "Other"]
PLACES = ["urban", "rural", "remote", "coast", "hill", "lake", "river", "plain"]
LONG = "Patients who came through the emergency department of the old hospital on the hill, " * 3
HOSTILE = [
    "<script>alert(1)</script>", "\"quoted\" & 'single' {{ 7*7 }} {% raw %}", "=cmd|' /C calc'!A0", "$a$ and $b$",
    "😀🏥 emoji", "مجموعة النساء", "x\x01y\u202eabc", "fair and unbiased",
]  # fmt: skip


def people(rows: int, groups: list[str], places: list[str] = PLACES, seed: int = 1) -> pd.DataFrame:
    """Rows whose groups get smaller along the list; risk is right on average but for noise."""
    rng = np.random.default_rng(seed)
    weight = 2.0 ** -np.minimum(np.arange(len(groups)), 5)
    place = rng.choice(len(groups), rows, p=weight / weight.sum())
    logit = rng.normal(-1.6 + 0.12 * place, 1.0)
    noisy = logit + rng.normal(0, 0.7, rows) - 0.1 * place
    columns = {"died": (rng.random(rows) < 1 / (1 + np.exp(-logit))).astype(int), "risk": 1 / (1 + np.exp(-noisy))}
    columns |= {"race": np.array(groups)[place], "place": rng.choice(places, rows)}
    return pd.DataFrame(columns | {"hospital": rng.choice([f"site {k}" for k in range(6)], rows)})


def _hostile() -> Any:
    names = {"race": "<b>race</b>{{ x }}", "place": "💉 " + "p" * 300, "hospital": "</script><img src=x onerror=f()>"}
    names |= {"died": "<i>died</i>", "risk": "ri\"sk' onload='f()"}
    rows = people(6_000, HOSTILE, [*HOSTILE[3:6], LONG + "1", LONG + "2"]).rename(columns=names)
    return al.audit(
        rows, label=names["died"], score=names["risk"], by=[names["race"], names["place"]], site=names["hospital"],
        name="<svg/onload=f()>.csv" + "n" * 200, lam=0.3, capacity=0.1, replicates=200,
    )  # fmt: skip


def _long() -> Any:
    rows = people(6_000, [LONG + str(k) for k in range(8)])
    rows["who"], rows["place"] = np.arange(6_000) // 2, LONG + rows["place"]
    lam = {LONG + str(k): 0.2 + 0.05 * k for k in range(8)}
    return al.audit(
        rows, label="died", score="risk", by=["race", "place"], site="hospital", cluster="who", lam=lam, capacity=0.1,
        name=LONG, replicates=200,
    )  # fmt: skip


def _rows(groups: list[str], rows: int = 4_000, **options: Any) -> Any:
    asked = {"by": "race", "lam": 0.3, "capacity": 0.1, "name": "preds.csv", "replicates": 200} | options
    return al.audit(people(rows, groups), label="died", score="risk", **asked)


AUDITS = {
    "confusion": lambda: al.audit("Women:80,40,800,30; Men:120,90,700,25"),
    "undefined": lambda: al.audit("A:0,5,45,0; B:20,10,60,10"),
    "nobody": lambda: al.audit("A:0,0,40,10; B:0,0,30,20"),
    "benefit": lambda: al.audit("Women:80,40,800,30; Men:120,90,700,25; X:12,9,70,3", lam=0.3, benefit_threshold=0.1),
    "rows": lambda: _rows(RACES[:3]),
    "few": lambda: _rows(RACES[:3], 60, capacity=None),
    "sites": lambda: _rows(RACES, 12_000, by=["race", "place"], site="hospital"),
    "many": lambda: _rows([f"Region {k:02d}" for k in range(25)], 9_000),
    "gap-sex": lambda: al.audit_gap("cdc_diabetes", "sex", replicates=200),
    "gap-age": lambda: al.audit_gap("diabetes130", "age", lam=0.58, replicates=200),
    "gap-race": lambda: al.audit_gap("brfss2022_heart", "race", replicates=200),
    "hostile": _hostile,
    "long": _long,
}


@cache
def results(name: str) -> dict[str, Any]:
    """The results of one of them; not to be changed."""
    return dict(AUDITS[name]().results)


@cache
def pictures(name: str) -> dict[str, Picture]:
    """Their figures."""
    return figures(results(name))
