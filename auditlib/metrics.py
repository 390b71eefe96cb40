"""One function a metric, on a confusion table of any dimensions.

A table is anything that holds integers under ``tp``, ``fp``, ``fn`` and ``tn``: the Dataset of
``Counts.at``, or a dict of NumPy arrays. What cannot be computed is NaN, never 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import xlogy

from auditlib.counts.cells import aligned, cell_of, like, total, wide
from auditlib.errors import AuditInputError

Metric = Callable[[Any], Any]

#: Numerator and denominator of every rate, as sums of cells.
RATES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "sensitivity": (("tp",), ("tp", "fn")),
    "specificity": (("tn",), ("tn", "fp")),
    "ppv": (("tp",), ("tp", "fp")),
    "npv": (("tn",), ("tn", "fn")),
    "selection_rate": (("tp", "fp"), ("tp", "fp", "fn", "tn")),
    "false_positive_rate": (("fp",), ("fp", "tn")),
    "accuracy": (("tp", "tn"), ("tp", "fp", "fn", "tn")),
    "prevalence": (("tp", "fn"), ("tp", "fp", "fn", "tn")),
}


def parts(table: Any, metric: Metric | str) -> tuple[Any, Any]:
    """Numerator and denominator of a rate: (events, trials).

    Raises
    ------
    AuditInputError
        If ``metric`` is not one of the rates of this module.

    Examples
    --------
    >>> parts({"tp": 8, "fp": 4, "fn": 2, "tn": 6}, sensitivity)
    (8, 10)
    """
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
    if name not in RATES:
        raise AuditInputError(f"{name} is not a rate of one table; the rates are {', '.join(RATES)}.")
    above, below = RATES[name]
    return total(table, above), total(table, below)


def _rate(table: Any, name: str) -> Any:
    above, below = parts(table, name)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is NaN, on purpose
        if aligned(table, [above, below]):
            return like(above, np.true_divide(above.data, below.data))
        return np.true_divide(above, below)


def sensitivity(table: Any) -> Any:
    """Share of those with the outcome who are flagged, TP / (TP + FN).

    Parameters
    ----------
    table : mapping of arrays ``tp``, ``fp``, ``fn``, ``tn``
        Any dims.

    Returns
    -------
    Same dims as the table; NaN where nobody has the outcome.

    References
    ----------
    Altman DG, Bland JM. Diagnostic tests 1: sensitivity and specificity. BMJ 1994;308:1552.

    Examples
    --------
    >>> float(sensitivity({"tp": 8, "fp": 4, "fn": 2, "tn": 6}))
    0.8
    """
    return _rate(table, "sensitivity")


def specificity(table: Any) -> Any:
    """Share of those without the outcome who are not flagged, TN / (TN + FP); NaN where all have it.

    >>> float(specificity({"tp": 8, "fp": 4, "fn": 2, "tn": 6}))
    0.6
    """
    return _rate(table, "specificity")


def ppv(table: Any) -> Any:
    """Share of the flagged who have the outcome, TP / (TP + FP); NaN where nobody is flagged.

    >>> float(ppv({"tp": 6, "fp": 4, "fn": 2, "tn": 8}))
    0.6
    """
    return _rate(table, "ppv")


def npv(table: Any) -> Any:
    """Share of those not flagged who do not have the outcome, TN / (TN + FN); NaN where all are flagged.

    >>> float(npv({"tp": 6, "fp": 4, "fn": 2, "tn": 8}))
    0.8
    """
    return _rate(table, "npv")


def selection_rate(table: Any) -> Any:
    """Share flagged, (TP + FP) / N; NaN where there is nobody.

    >>> float(selection_rate({"tp": 6, "fp": 4, "fn": 2, "tn": 8}))
    0.5
    """
    return _rate(table, "selection_rate")


def false_positive_rate(table: Any) -> Any:
    """Share of those without the outcome who are flagged, FP / (FP + TN); NaN where all have it.

    >>> float(false_positive_rate({"tp": 6, "fp": 2, "fn": 2, "tn": 8}))
    0.2
    """
    return _rate(table, "false_positive_rate")


def accuracy(table: Any) -> Any:
    """Share classified correctly, (TP + TN) / N; NaN where there is nobody.

    >>> float(accuracy({"tp": 6, "fp": 4, "fn": 2, "tn": 8}))
    0.7
    """
    return _rate(table, "accuracy")


def prevalence(table: Any) -> Any:
    """Share with the outcome, (TP + FN) / N; NaN where there is nobody.

    >>> float(prevalence({"tp": 6, "fp": 4, "fn": 2, "tn": 8}))
    0.4
    """
    return _rate(table, "prevalence")


def gap(values: xr.DataArray, a: str, b: str, dim: str | None = None) -> xr.DataArray:
    """Value of level ``a`` minus value of level ``b``; NaN when either is.

    Parameters
    ----------
    values : DataArray
        A metric over a group dim and any others.
    a, b : str
        Two levels of one group dim.
    dim : str, optional
        The group dim; found from the levels when only one has both.

    Raises
    ------
    AuditInputError
        If no dim, or more than one, has both levels.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> table = parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> round(float(gap(sensitivity(table), "Women", "Men")), 4)
    -0.1003
    """
    dim = find_dim(values, a, b, dim)
    return pick(values, dim, a) - pick(values, dim, b)


def pick(values: Any, dim: str, level: str) -> Any:
    """The part of ``values`` at a level that ``find_dim`` found, whatever the type of its name."""
    return values.isel({dim: [str(name) for name in values[dim].values].index(str(level))}, drop=True)


def find_dim(values: xr.DataArray | xr.Dataset, a: str, b: str, dim: str | None = None) -> str:
    """The dim that has both levels."""
    if not isinstance(values, xr.DataArray | xr.Dataset):
        raise AuditInputError(f"a gap needs named levels: pass a metric of counts.at(…), not {type(values).__name__}.")
    dims = [str(name) for name in values.dims if name in values.coords] if dim is None else [dim]
    if dim is not None:
        check_dim(values, dim)
    levels = {name: [str(level) for level in values[name].values] for name in dims}
    a, b = str(a), str(b)
    found = [name for name in dims if a in levels[name] and b in levels[name]]
    for name, level in ((name, level) for name in found for level in (a, b)):
        if levels[name].count(level) > 1:
            raise AuditInputError(f"{name!r} names the level {level!r} twice; give every group its own name.")
    if len(found) == 1 and a != b:
        return found[0]
    known = "; ".join(f"{name}: {', '.join(levels[name])}" for name in dims if name not in ("replicate", "threshold"))
    why = "are one level" if a == b else "are in several dims, so say dim=" if found else "are not levels of one dim"
    raise AuditInputError(f"{a!r} and {b!r} {why}. There is {known or 'no group dim'}.")


def check_dim(values: xr.DataArray | xr.Dataset, dim: str) -> None:
    """An error unless ``dim`` is a dim of at least two levels: one group compared with itself always agrees."""
    if not isinstance(values, xr.DataArray | xr.Dataset):
        raise AuditInputError(
            f"comparing over {dim!r} needs named levels: pass a metric of counts.at(…) or of confusion(…), "
            f"not {type(values).__name__}."
        )
    if not isinstance(dim, str) or dim not in values.dims:
        known = ", ".join(map(str, values.dims)) or "none"
        raise AuditInputError(f"{dim!r} is not a dim of these values; they have: {known}.")
    if values.sizes[dim] < 2:
        raise AuditInputError(f"comparing over {dim!r} needs at least two groups, but there is {values.sizes[dim]}.")


def spread(values: xr.DataArray, dim: str) -> xr.DataArray:
    """Largest minus smallest value over ``dim``; NaN if any level's is.

    >>> from auditlib.counts import parse_confusion
    >>> table = parse_confusion("A:8,5,45,2; B:20,10,60,10")
    >>> round(float(spread(sensitivity(table), "group")), 4)
    0.1333
    """
    check_dim(values, dim)
    return values.reduce(np.ptp, dim)


def ratio(values: xr.DataArray, dim: str) -> xr.DataArray:
    """Smallest over largest value over ``dim``; NaN if any level's is, or if all are 0.

    >>> from auditlib.counts import parse_confusion
    >>> table = parse_confusion("A:8,2,45,5; B:20,20,60,0")
    >>> round(float(ratio(selection_rate(table), "group")), 4)
    0.4167
    """
    check_dim(values, dim)
    with np.errstate(divide="ignore", invalid="ignore"):
        return values.reduce(_lowest_over_highest, dim)


def _lowest_over_highest(values: np.ndarray, axis: Any) -> np.ndarray:
    return np.true_divide(values.min(axis=axis), values.max(axis=axis))


def theil(table: Any, dim: str) -> xr.DataArray:
    """Between-group Theil index of benefit, T = Σ (n_g/N)(b̄_g/b̄) ln(b̄_g/b̄).

    A person's benefit is 1 + flagged − outcome, so b̄_g = 1 + selection rate − prevalence. A group with b̄_g = 0
    contributes 0; when all benefits are 0, or a group is empty, T is NaN.

    References
    ----------
    Speicher T et al. A unified approach to quantifying algorithmic unfairness. KDD 2018:2239–2248.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> round(float(theil(parse_confusion("A:0,0,0,10; B:5,5,5,5"), "group")), 4)
    0.4055
    """
    cells = [wide(cell_of(table, cell)) for cell in ("tp", "fp", "fn", "tn")]
    check_dim(cells[0], dim)
    tp, fp, fn, tn = (cell.variable for cell in cells)  # without coordinates to align
    people = tp + fp + fn + tn
    benefit = people + fp - fn  # of all in the group: n_g·b̄_g
    with np.errstate(divide="ignore", invalid="ignore"):  # an empty group, or no benefit at all, is NaN
        share = benefit / benefit.sum(dim)
        relative = share * people.sum(dim) / people
    terms = share.copy(deep=False, data=xlogy(share.data, relative.data))  # 0 · ln 0 is 0
    found = terms.sum(dim, skipna=False)
    return like(cells[0].isel({dim: 0}, drop=True).transpose(*found.dims), found.data)


def small(table: Any) -> Any:
    """Where a group is too small to lean on: under 30 positives or negatives, or any cell under 5.

    >>> bool(small({"tp": 40, "fp": 40, "fn": 4, "tn": 60}))
    True
    """
    cells = {cell: wide(cell_of(table, cell)) for cell in ("tp", "fp", "fn", "tn")}
    few = (cells["tp"] + cells["fn"] < 30) | (cells["fp"] + cells["tn"] < 30)
    for cell in cells.values():
        few = few | (cell < 5)
    return few
