"""An explorer's frames: thresholds of the first and the last group of one attribute, and its verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.intervals import rate_interval
from auditlib.metrics import accuracy, selection_rate
from auditlib.plots import style
from auditlib.plots.flips import FAIL, PASS
from auditlib.verdicts import LIMITS, flip_rate, verdict_metrics

BARS = (("accuracy", "blue"), ("DI", "green"), ("VFR of DI", "purple"), ("mean VFR of seven", "slate"))


class Judged(NamedTuple):
    """What one pair of thresholds does."""

    flagged: xr.Dataset  # share flagged of each group, with its interval
    accuracy: float
    ratio: float
    vfr: float
    mean_vfr: float
    passes: int


@dataclass(frozen=True, eq=False)
class GroupRule:
    """One attribute's groups, of which the first and the last have thresholds of their own.

    Parameters
    ----------
    counts : Counts
        Over one dim of at least two groups.
    again : Counts
        The same, resampled.
    rest : float
        Threshold of the groups between.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1] * 40, "risk": [0.2, 0.8, 0.3, 0.6] * 20, "age": ["young", "old"] * 40})
    >>> counts = al.count(frame, label="y", score="risk", by="age", bins=10)
    >>> rule = GroupRule(counts, counts.resample(20, seed=1))
    >>> rule.judged(0.3, 0.5).passes <= 7
    True
    """

    counts: Counts
    again: Counts
    rest: float = 0.5
    _seen: dict[tuple[float, float], Judged] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if len(self.counts.dims) != 1 or len(self.counts.groups[self.counts.dims[0]]) < 2:
            raise AuditInputError("counts must lie over one attribute of at least two groups: counts.by('age').")
        if not self.again.resampled or self.again.dims != self.counts.dims:
            raise AuditInputError("again must be replicates of the same counts: counts.resample(500, …).")

    @property
    def groups(self) -> tuple[str, ...]:
        """The attribute's groups, in order."""
        return self.counts.groups[self.counts.dims[0]]

    def thresholds(self, young: float, old: float) -> dict[str, float]:
        """Threshold of each group."""
        return dict.fromkeys(self.groups, self.rest) | {self.groups[0]: young, self.groups[-1]: old}

    def judged(self, young: float, old: float) -> Judged:
        """The groups' rates, accuracy, DI, and the flip rates of its verdicts, at these thresholds."""
        if (young, old) not in self._seen:  # a frame and its words ask for the same
            self._seen[young, old] = self._judge(young, old)
        return self._seen[young, old]

    def _judge(self, young: float, old: float) -> Judged:
        dim, at = self.counts.dims[0], self.thresholds(young, old)
        table, tables = (source.at(at) for source in (self.counts, self.again))
        point = verdict_metrics(table, dim, scores=self.counts)
        found = flip_rate(verdict_metrics(tables, dim, scores=self.again), point=point)
        return Judged(
            flagged=rate_interval(table, selection_rate),
            accuracy=float(accuracy(table.sum(dim))),
            ratio=float(point["DI"]),
            vfr=float(found["vfr"].sel(metric="DI")),
            mean_vfr=float(found["vfr"].mean()),
            passes=int((found["verdict"] == "pass").sum()),
        )

    def draw(self, young: float, old: float) -> Figure:
        """Share flagged of each group with the span that DI allows, and below it accuracy, DI and flip rates."""
        found, at = self.judged(young, old), self.thresholds(young, old)
        figure, (ax, below) = plt.subplots(2, 1, figsize=(style.WIDTH, 5.0), height_ratios=[1.25, 1])
        rates = found.flagged["estimate"].values
        side = PASS if found.ratio >= LIMITS["DI"].value - 1e-9 else FAIL
        ax.axvspan(LIMITS["DI"].value * rates.max(), rates.max(), **style.region(side, 0.12))
        y = np.arange(len(rates))
        ax.hlines(y, found.flagged["low"], found.flagged["high"], color=style.INK, lw=1.8)
        ax.plot(rates, y, "o", color=side, ms=7)
        ax.set_yticks(y, [f"{style.plain(name)}, from {at[name]:g}" for name in self.groups])
        ax.set(xlim=(0, 1), ylim=(len(rates) - 0.4, -0.6), xlabel="Share flagged (tint: 80–100% of the highest)")
        values = (found.accuracy, found.ratio, found.vfr, found.mean_vfr)
        for k, ((label, colour), value) in enumerate(zip(BARS, values, strict=True)):
            below.barh([k], [value], 0.35, color=style.PALETTE[colour].light)
            below.text(0, k - 0.25, label, va="bottom", color=style.INK, size=11)
            below.text(value + 0.02, k, f"{value:.3f}", va="center", color=style.INK, size=11)
        below.set(xlim=(0, 1.12), xticks=[0, 0.25, 0.5, 0.75, 1], yticks=[], ylim=(3.4, -0.85))
        below.set_xlabel(f"{found.passes} of 7 metrics pass")
        below.grid(axis="y", visible=False)
        return figure

    def words(self, young: float, old: float) -> str:
        """The figure in words."""
        found = self.judged(young, old)
        rates = "; ".join(
            f"{name} {rate:.0%}" for name, rate in zip(self.groups, found.flagged["estimate"].values, strict=True)
        )
        return (
            f"Flagged from {young:g} in {self.groups[0]}, from {old:g} in {self.groups[-1]}, from {self.rest:g} "
            f"between: {rates}. DI {found.ratio:.3f}, VFR of DI {found.vfr:.3f}, mean VFR {found.mean_vfr:.3f}, "
            f"accuracy {found.accuracy:.3f}; {found.passes} of 7 metrics pass."
        )
