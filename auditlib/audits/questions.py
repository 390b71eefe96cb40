"""The first three of the four questions: chance, prevalence, threshold; each answered from counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import norm

from auditlib.audits.options import Options
from auditlib.audits.plain import estimated, number, side
from auditlib.audits.source import Source
from auditlib.counts import Counts
from auditlib.counts.table import MAX_BYTES
from auditlib.errors import AuditInputError
from auditlib.intervals import gap_interval, interval, rate_interval, spread_interval
from auditlib.intervals.replicates import MOVED
from auditlib.metrics import gap, ppv, prevalence, selection_rate, sensitivity, small, specificity
from auditlib.standardization import split_gap, standardize
from auditlib.thresholds import gap_curve

RATES = {"sensitivity": sensitivity, "specificity": specificity, "ppv": ppv, "selection_rate": selection_rate,
         "prevalence": prevalence}  # fmt: skip
CURVE = 40  # thresholds of a curve at most
FLAGGED = 10  # people in each group, under which a gap in PPV has no interval
NEAR = 2.0  # thresholds count as alternatives when they flag between 1/NEAR and NEAR times as many people


@dataclass(frozen=True)
class Asked:
    """A source with its options, and the two groups that the questions are about."""

    source: Source
    options: Options
    a: str
    b: str
    pair_rule: str

    @property
    def dim(self) -> str:
        """The attribute asked about."""
        return self.source.attributes[0]

    @cached_property
    def table(self) -> xr.Dataset:
        """Confusion counts of its groups at the threshold."""
        return self.source.first.at(self.source.threshold)

    @cached_property
    def again(self) -> xr.Dataset:
        """The same resampled: rows within groups, or patients, some of whom may change group."""
        first = self.source.first
        strata = () if first.clustered else self.dim
        options = self.options
        cut = first.cut(self.source.threshold)
        return cut.resample(options.replicates, strata=strata, seed=options.seed).at(self.source.threshold)


def asked_of(source: Source, options: Options) -> Asked:
    """The groups named, or the two with the most people with the outcome: a choice that does not look at the gap."""
    dim = source.attributes[0]
    held = source.first.at(source.threshold)
    positives = (held["tp"] + held["fn"]).values
    levels = list(source.first.groups[dim])
    named = [options.group_a, options.group_b]
    for name in named:
        if name is not None and name not in levels:
            raise AuditInputError(
                f"no group {str(name)[:60]!r} in {source.names[dim]!r}: choose of {', '.join(map(repr, levels[:20]))}."
            )
    rest = [level for level in levels if level not in named]
    order = sorted(rest, key=lambda level: -positives[levels.index(level)])
    if named == [None, None]:
        a, b = sorted(order[:2], key=levels.index)
        rule = "the two groups" if len(levels) == 2 else "the two groups with the most people with the outcome"
    else:
        a, b = options.group_a or order[0], options.group_b or order[0]
        rule = "named"
    return Asked(source, options, a, b, rule)


def groups_of(source: Source, dim: str, level: float) -> list[dict[str, Any]]:
    """Every group of an attribute: its counts and its rates with their intervals."""
    table = source.counts.by(dim).at(source.threshold)
    few = small(table[["tp", "fp", "fn", "tn"]].reset_coords(drop=True))
    rates = {name: rate_interval(table, metric, level) for name, metric in RATES.items()}
    lines = []
    for group in source.counts.groups[dim]:
        held = {name: int(table[name].sel({dim: group})) for name in ("tp", "fp", "fn", "tn")}
        line: dict[str, Any] = {"attribute": source.names[dim], "group": group, "n": sum(held.values()), **held}
        line["small"] = bool(few.sel({dim: group}))
        for name, found in rates.items():
            one = found.sel({dim: group})
            line[name] = estimated(one, "Wilson", n=int(one["n"]))
        lines.append(line)
    return lines


def chance(asked: Asked, dim: str | None = None) -> dict[str, Any]:
    """Could chance have made it? The gap with Newcombe's interval, and the spread of all groups."""
    level = asked.options.level
    found = gap_interval(asked.table, asked.a, asked.b, dim=asked.dim, level=level)
    held = {"gap": estimated(found, "Newcombe", n_a=int(found["n_a"]), n_b=int(found["n_b"])), "spread": None}
    if asked.table.sizes[asked.dim] > 2:
        held["spread"] = spread_of(asked.table, asked.dim, level)
    return held


def spread_of(table: xr.Dataset, dim: str, level: float) -> dict[str, Any]:
    """The largest minus the smallest sensitivity of an attribute's groups."""
    return estimated(spread_interval(table, dim, level=level), "simultaneous Newcombe", groups=table.sizes[dim])


def common_prevalence(asked: Asked) -> dict[str, Any]:
    """Is it prevalence? The gap in PPV as it is, and at one prevalence for both groups."""
    target = asked.options.target_prevalence
    a, b = asked.a, asked.b

    def of(table: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
        cells = table[["tp", "fp", "fn", "tn"]].reset_coords(drop=True).sel({asked.dim: [a, b]})
        level = standardize(cells, target, asked.dim) if target == "pooled" else standardize(cells, target)
        return gap(ppv(cells), a, b, dim=asked.dim), gap(ppv(level), a, b, dim=asked.dim)

    names = ("raw", "standardized")
    flagged = [int(asked.table[cell].sel({asked.dim: level})) for level in (a, b) for cell in ("tp", "fp")]
    held: dict[str, Any] = {"flagged": min(sum(flagged[:2]), sum(flagged[2:]))}
    few = held["flagged"] < FLAGGED  # a percentile interval on fewer covers too seldom
    for name, value, draws in zip(names, of(asked.table), of(asked.again), strict=True):
        found = interval(draws, asked.options.level, estimate=value)
        held[name] = estimated(found, "percentile", replicates=asked.options.replicates)
        if few:
            held[name] |= {"low": None, "high": None}
    cells = asked.table[["tp", "fp", "fn", "tn"]].reset_coords(drop=True).sel({asked.dim: [a, b]})
    parts = split_gap(cells, a, b, dim=asked.dim).sel(order="average")
    held["split"] = {name: number(parts[name]) for name in ("prevalence", "performance", "total")}
    held["target"] = number(_pooled(cells)) if target == "pooled" else number(target)
    return held | {"available": True, "target_rule": "pooled" if target == "pooled" else "given"}


def _pooled(cells: xr.Dataset) -> float:
    held = {name: int(cells[name].sum()) for name in ("tp", "fp", "fn", "tn")}
    return (held["tp"] + held["fn"]) / sum(held.values())


def affordable(counts: Counts, replicates: int) -> bool:
    """Whether so many replicates of these counts fit into memory: patients' patterns multiply with the thresholds.

    >>> from auditlib import studies
    >>> counts = studies.comparison_counts("gap-diabetes130-age")
    >>> affordable(counts, 1_000), affordable(counts, 100_000)
    (True, False)
    """
    return counts.lines.units.shape[-1] * replicates * 8 <= MAX_BYTES


def curve_counts(asked: Asked) -> tuple[Counts, list[float]]:
    """Counts cut to the thresholds of a curve: as many as replicates of them fit into memory, at most 40."""
    source, most = asked.source, CURVE
    while True:
        points = points_of(source.first, [source.threshold], most)
        counts = source.first.cut(points)
        if most == 1 or affordable(counts, asked.options.replicates):
            return counts, points
        most //= 2


def points_of(counts: Counts, always: Sequence[float], most: int = CURVE) -> list[float]:
    """Thresholds of a curve: at most 40 edges that flag somebody and not everybody, and those that must be there."""
    edges = counts.edges.lower[1:]
    held = counts.by().histogram().sum("label").values
    flagged = held[::-1].cumsum()[::-1][1:] / held.sum()
    kept = edges[(flagged > 0) & (flagged < 1)]
    if len(kept) > most:
        kept = kept[np.unique(np.linspace(0, len(kept) - 1, most).round().astype(int))]
    return sorted({*map(float, kept), *always})


def along_thresholds(asked: Asked) -> dict[str, Any]:
    """Does it depend on the threshold? The gap along thresholds, and among those that flag about as many people."""
    source, options = asked.source, asked.options
    if not source.scored:
        what = "Confusion matrices" if source.kind == "confusion" else "These counts"
        return {"available": False, "why": f"{what} hold one threshold."}
    counts, points = curve_counts(asked)
    curve = gap_curve(
        counts, asked.a, asked.b, thresholds=points, replicates=options.replicates, seed=options.seed,
        level=options.level, dim=asked.dim,
    )  # fmt: skip
    share = selection_rate(counts.by().at(points)[["tp", "fp", "fn", "tn"]]).values
    names = ("estimate", "low", "high", "band_low", "band_high", "n_a", "n_b")
    apart = _differs(asked, counts, points, share)
    lines = [
        {"threshold": number(point), "flagged": number(share[place])}
        | {name: number(curve[name][place]) for name in names}
        | {"small": bool(curve["small"][place]), "differs": bool(apart[place])}
        for place, point in enumerate(points)
    ]
    return {"available": True, "points": lines, "multiplier": number(curve["c"])} | _near(lines, source.threshold)


def _is_near(share: Any, here: Any) -> Any:
    """Whether a threshold flags between half and twice as many people as the one in use."""
    return (share >= here / NEAR) & (share <= here * NEAR)


def _differs(asked: Asked, counts: Counts, points: list[float], share: np.ndarray) -> np.ndarray:
    """Where the gap differs from that at the threshold in use, beyond chance, among all thresholds near it together.

    A gap moves by the shares q of each group's people with the outcome whose scores lie between the two thresholds. Its
    variance is Σ q(1 − q)/m with q from (x + 2)/(m + 4), as in ``band``: nobody between two thresholds is no proof that
    nobody ever is. The limit is the ``level`` quantile of the largest studentised deviation of the replicates.
    """
    options, place = asked.options, points.index(asked.source.threshold)
    near = _is_near(share, share[place])
    moved, error = _moved(asked, counts.at(points), place)
    draws = counts.resample(options.replicates, strata=asked.dim, seed=options.seed)
    again, errors = _moved(asked, draws.at(points), place)
    with np.errstate(invalid="ignore"):
        largest = np.nanmax(np.where(near, np.abs(again - moved) / errors, 0.0), axis=1)
        limit = max(np.nanquantile(largest, options.level), norm.ppf((1 + options.level) / 2))
        return near & (np.abs(moved) > limit * error)


def _moved(asked: Asked, table: xr.Dataset, place: int) -> tuple[np.ndarray, np.ndarray]:
    """How far the gap at each threshold lies from that at ``place``, and the standard error of that."""
    moved, variance = np.array(0.0), np.array(0.0)
    for sign, level in ((1, asked.a), (-1, asked.b)):
        one = table.sel({asked.dim: level})
        caught = one["tp"].transpose(..., "threshold").values.astype(float)
        ill = caught + one["fn"].transpose(..., "threshold").values
        between = caught - caught[..., [place]]
        with np.errstate(invalid="ignore", divide="ignore"):
            moved = moved + sign * between / ill
        q = (np.abs(between) + MOVED) / (ill + 2 * MOVED)
        variance = variance + q * (1 - q) / np.maximum(ill, 1)
    return moved, np.sqrt(variance)


def _near(lines: list[dict[str, Any]], chosen: float) -> dict[str, Any]:
    """What becomes of the gap among thresholds that flag between half and twice as many people.

    That it keeps its side at all of them is claimed when each interval of its own does; that it turns round somewhere,
    which was looked for, only when the simultaneous band does; and that it is lost somewhere when the interval contains
    zero there and the gap differs from the one in use beyond chance: wide intervals alone lose no gap. Where it is
    ``least`` was looked for, too: its interval is that of one threshold.
    """
    here = next(line for line in lines if line["threshold"] == number(chosen))
    near = [line for line in lines if _is_near(line["flagged"], here["flagged"])]
    sign, alone = side(here), [side(line) for line in near]
    together = [side({"low": line["band_low"], "high": line["band_high"]}) for line in near]
    turned = [line for line, found in zip(near, together, strict=True) if sign and found == -sign]
    lost = [line for line, found in zip(near, alone, strict=True) if sign and found == 0 and line["differs"]]
    least = min(near, key=lambda line: np.inf if line["estimate"] is None else sign * line["estimate"])
    return {
        "range": [near[0]["threshold"], near[-1]["threshold"]],
        "thresholds": len(near),
        "same_side": sum(found == sign for found in alone) if sign else 0,
        "excluding": sum(map(abs, together)),
        "turns_at": min(turned, key=lambda line: abs(line["threshold"] - chosen)) if turned else None,
        "lost": len(lost),
        "lost_at": min(lost, key=lambda line: abs(line["threshold"] - chosen)) if lost else None,
        "least": least if sign else None,
    }
