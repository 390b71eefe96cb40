"""Judges that live in a module, so that every worker can import them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from auditlib import models
from auditlib.errors import AuditInputError
from auditlib.multiverse import Grid

GRID = Grid("example", {"family": ["a", "b", "c"], "threshold": ["top20", 0.3], "seed": [1, 2, 3, 4]})


def prepare(specifications: list[dict[str, Any]]) -> np.ndarray:
    """A "fit" that specifications with one family and seed share."""
    first = specifications[0]
    return np.random.default_rng([ord(first["family"]), first["seed"]]).normal(size=50)


def judge(specification: dict[str, Any], fitted: np.ndarray) -> dict[str, Any]:
    """Fails where family b meets seed 3, as where a group vanishes."""
    if specification["family"] == "b" and specification["seed"] == 3:
        raise AuditInputError("age: nobody of 18–24 has the outcome.")
    low = 0.84 if specification["threshold"] == "top20" else 0.3
    kept = fitted[fitted > low]
    return {"estimate": kept.mean(), "n": len(kept), "replicates": [kept.mean() + k / 10 for k in range(3)]}


def fitted(specifications: list[dict[str, Any]]) -> models.CrossFit:
    """Real fits, which are parallel themselves."""
    rng = np.random.default_rng(specifications[0]["seed"])
    x = pd.DataFrame({"x": rng.normal(size=300)})
    y = (rng.random(300) < 1 / (1 + np.exp(-x["x"]))).astype(int)
    return models.cross_fit(x, y, x, families=[each["family"] for each in specifications])


def mean_risk(specification: dict[str, Any], fit: models.CrossFit) -> dict[str, Any]:
    return {"estimate": fit.scores[specification["family"]].mean()}


class Logged:
    """A judge that leaves a line a call in a file, and takes a while."""

    def __init__(self, log: Path, pause: float = 0.0) -> None:
        self.log, self.pause = log, pause

    def __call__(self, specification: dict[str, Any]) -> dict[str, Any]:
        time.sleep(self.pause)
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(
                f"{specification['family']} {specification['threshold']} {specification['seed']} {os.getpid()}\n"
            )
        return {"estimate": specification["seed"] / 7, "undefined": float("nan")}
