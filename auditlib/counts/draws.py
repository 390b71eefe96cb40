"""Resampling units: multinomial (or hypergeometric) draws of patterns within strata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from auditlib.counts.merge import check_whole
from auditlib.counts.patterns import Lines
from auditlib.errors import AuditInputError

#: Sums of units stay exact in float64 up to here; and what NumPy's hypergeometric law can draw from.
LARGEST, HYPERGEOMETRIC = 2**53, 10**9

if TYPE_CHECKING:
    from auditlib.counts.table import Counts


def resample(
    counts: Counts,
    n: int,
    strata: str | Sequence[str],
    size: int | None,
    replace: bool,
    seed: int | np.random.Generator | None,
) -> Lines:
    """Lines with the units of each replicate; see ``Counts.resample``."""
    if counts.resampled:
        raise AuditInputError("these counts are replicates already; resample the original counts.")
    check_whole(n, "n")
    if size is not None:
        check_whole(size, "size", LARGEST)
    if not isinstance(replace, bool | np.bool_):
        raise AuditInputError(f"replace must be True or False, not {replace!r}.")
    patterns = counts.lines.units.shape[0]
    counts.check_bytes(int(n) * patterns)
    if not patterns:
        raise AuditInputError("there is nobody to resample: no row is left in these counts.")
    units = draw(counts.lines, n, stratum_of(counts, named(strata)), size, bool(replace), generator(seed))
    return Lines(counts.lines.pattern, counts.lines.cells, counts.lines.n, units)


def named(strata: object) -> list[str]:
    """``strata`` as a list of names."""
    if isinstance(strata, str):
        return [strata]
    if not isinstance(strata, list | tuple | set | np.ndarray):
        raise AuditInputError(f"strata must be a name or a list of names, not {strata!r}; leave it out for none.")
    return list(strata)


def generator(seed: Any) -> np.random.Generator:
    """NumPy's generator for ``seed``."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise AuditInputError(
            f"seed must be a whole number of at least 0, or a NumPy Generator, not {seed!r}."
        ) from None


def strata_columns(counts: Counts, strata: Sequence[str]) -> list[int]:
    """Columns of the cells that define the strata; ``label`` only where units hold one label."""
    columns = [len(counts.groups) if name == "label" else counts.column(name) for name in strata]
    if "label" in strata and counts.clustered:
        lines, label = counts.lines, counts.lines.cells[:, len(counts.groups)]
        mixed = np.bincount(lines.pattern, label) * np.bincount(lines.pattern, 1 - label) > 0
        if mixed.any():
            raise AuditInputError(
                f"strata='label' needs units of one label, but {int(lines.units[mixed].sum()):,} of "
                f"{counts.n_units:,} units ({counts.unit}) hold both; leave label out of strata."
            )
    return columns


def stratum_of(counts: Counts, strata: Sequence[str]) -> np.ndarray:
    """Number of each pattern's stratum: the set of levels it touches, in each of ``strata``."""
    lines = counts.lines
    stratum = np.zeros(lines.units.shape[-1], dtype=np.int64)
    for column in strata_columns(counts, strata):
        level = lines.cells[:, column]
        if lines.simple:
            touched = level
        else:
            pairs = pd.DataFrame({"pattern": lines.pattern, "level": level}).drop_duplicates()
            sets = pairs.sort_values(["pattern", "level"]).groupby("pattern")["level"].agg(tuple)
            touched = pd.factorize(sets, sort=True)[0]
        stratum = np.unique(np.stack([stratum, touched], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    return stratum


def shares(sizes: np.ndarray, total: int) -> np.ndarray:
    """``total`` shared over strata in proportion to ``sizes``, by largest remainder."""
    exact, people = sizes.astype(object) * int(total), int(sizes.sum())  # Python's own integers cannot overflow
    floor = (exact // people).astype(np.int64)
    order = np.argsort(-(exact % people), kind="stable")
    floor[order[: total - floor.sum()]] += 1
    return floor


def draw(
    lines: Lines,
    n: int,
    stratum: np.ndarray,
    size: int | None,
    replace: bool,
    rng: np.random.Generator,
) -> np.ndarray:
    """Units of each pattern in each of ``n`` samples: (n, patterns) int64."""
    units = lines.units
    sizes = np.bincount(stratum, weights=units).astype(np.int64)
    takes = sizes if size is None else shares(sizes, size)
    if not replace and (takes > sizes).any():
        raise AuditInputError(
            f"size={size} without replacement is more than the {int(sizes.sum()):,} units there are; "
            "use a smaller size or replace=True."
        )
    if not replace and (sizes >= HYPERGEOMETRIC).any():
        raise AuditInputError(
            f"replace=False draws from at most {HYPERGEOMETRIC:,} units, but there are {int(sizes.max()):,} in one "
            "stratum; from so many, drawing with replacement (replace=True) hardly differs."
        )
    drawn = np.zeros((n, len(units)), dtype=np.int64)
    for number, (available, take) in enumerate(zip(sizes, takes, strict=True)):
        members = np.flatnonzero(stratum == number)
        if replace:
            drawn[:, members] = rng.multinomial(take, units[members] / available, size=n)
        else:
            drawn[:, members] = rng.multivariate_hypergeometric(units[members], take, size=n, method="marginals")
    return drawn
