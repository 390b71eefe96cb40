"""What an sNB gap is made of: an exact split into prevalence, treatment effect, burden and model."""

from __future__ import annotations

from itertools import combinations
from math import factorial
from typing import Any

import xarray as xr

from auditlib.benefit.core import bare, odds, subgroup_net_benefit
from auditlib.errors import AuditInputError
from auditlib.metrics import false_positive_rate, find_dim, gap, pick, prevalence, sensitivity
from auditlib.values import together

FACTORS = ("prevalence", "effect", "burden", "performance")


def decompose_gap(
    table: xr.Dataset, threshold: float, lam: Any, a: str, b: str, burden: Any = 1.0, dim: str | None = None
) -> xr.Dataset:
    """Split the gap sNB_a − sNB_b exactly into parts of prevalence, treatment effect, burden and the model.

    sNB = 1 − r(π − λ(Se·π − w·F·(1 − π))), F the false positive rate. A factor's part is its Shapley value: the mean,
    over the 24 orders in which the four factors may be switched from group b's value to group a's, of the change at its
    turn. The parts add up to the gap, a factor that does not differ has part 0, and swapping a and b changes every
    sign. The model is Se and F together, at the threshold; that they are equal in two groups says nothing of other
    thresholds.

    Parameters
    ----------
    table : Dataset of Counts.at (replicates too), or of ``confusion``
    threshold : number in [0, 1)
        One for both groups.
    lam, burden : as in ``subgroup_net_benefit``
    a, b : str
        Levels of one group dim.
    dim : str, optional
        The group dim, when both levels occur in several.

    Returns
    -------
    Dataset of ``prevalence``, ``effect`` (λ), ``burden``, ``performance`` (Se, F) and ``total`` (the gap). Where a
    group's prevalence is 0 or 1 it has no sensitivity or no false positive rate: the parts are NaN, ``total`` is not,
    and the attribute ``undefined`` says so. For intervals split replicates, and take ``al.interval`` of one part, or of
    all with ``parts.to_dataarray("part")``.

    Raises
    ------
    AuditInputError
        As ``subgroup_net_benefit``; for thresholds that differ between the groups.

    References
    ----------
    Das Gupta P. Standardization and Decomposition of Rates. US Census P23-186, 1993; Shapley 1953. Its use on sNB is
    this package's.

    Examples
    --------
    >>> from auditlib.counts import confusion
    >>> table = confusion(tp=[360, 180], fp=[940, 970], fn=[240, 120], tn=[8460, 8730], group=["A", "B"])
    >>> parts = 10_000 * decompose_gap(table, 0.15, 0.58, "A", "B")
    >>> {name: round(float(parts[name])) for name in ("prevalence", "performance", "total")}
    {'prevalence': -193, 'performance': 0, 'total': -193}
    """
    dim = find_dim(table, a, b, dim)
    table = bare(table)
    threshold, lam, burden = together(table, threshold=threshold, lam=lam, burden=burden)
    w = odds(threshold, table)
    if isinstance(w, xr.DataArray) and dim in w.dims:
        raise AuditInputError("the split takes one threshold for both groups, not one a group.")
    sides = {True: _facts(table, lam, burden, dim, a), False: _facts(table, lam, burden, dim, b)}
    worth = {
        chosen: _benefit(w, **{factor: sides[factor in chosen][factor] for factor in FACTORS})
        for size in range(len(FACTORS) + 1)
        for chosen in combinations(FACTORS, size)
    }
    parts = {factor: _shapley(worth, factor) for factor in FACTORS}
    clash = {str(dim) for part in parts.values() for dim in part.dims} & {*FACTORS, "total"}
    if clash:
        raise AuditInputError(
            f"the dims {sorted(clash)} are names of parts; rename a grid, such as to lam or burden_grid."
        )
    total = gap(subgroup_net_benefit(table, threshold, lam, burden), a, b, dim)
    found = xr.Dataset({**parts, "total": total}).reset_coords(drop=True)
    if bool((found["performance"].isnull() & found["total"].notnull()).any()):
        found.attrs["undefined"] = (
            f"{a!r} or {b!r} has a prevalence of 0 or 1, and so no sensitivity or no false positive rate: "
            "the gap cannot be split."
        )
    return found


def _facts(table: xr.Dataset, lam: Any, burden: Any, dim: str, level: str) -> dict[str, Any]:
    def side(values: Any) -> Any:
        by_group = isinstance(values, xr.DataArray) and dim in values.dims
        return pick(values, dim, level) if by_group else values

    return {
        "prevalence": side(prevalence(table)),
        "effect": side(lam),
        "burden": side(burden),
        "performance": (side(sensitivity(table)), side(false_positive_rate(table))),
    }


def _benefit(w: Any, prevalence: Any, effect: Any, burden: Any, performance: tuple[Any, Any]) -> Any:
    caught, alarmed = performance
    return 1 - burden * (prevalence - effect * (caught * prevalence - w * alarmed * (1 - prevalence)))


def _shapley(worth: dict[tuple[str, ...], Any], factor: str) -> Any:
    n = len(FACTORS)
    rest = [other for other in FACTORS if other != factor]
    part = 0.0
    for size in range(n):
        weight = factorial(size) * factorial(n - size - 1) / factorial(n)
        for chosen in combinations(rest, size):
            joined = tuple(name for name in FACTORS if name in (*chosen, factor))
            part = part + weight * (worth[joined] - worth[chosen])
    return part
