"""How much of a gap of predictive values is prevalence, and how much is sensitivity and specificity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts.cells import cell_of, wide
from auditlib.counts.confusions import CELLS
from auditlib.errors import AuditInputError
from auditlib.metrics import Metric, false_positive_rate, find_dim, gap, npv, pick, ppv, prevalence, sensitivity
from auditlib.standardization.bayes import npv_of, ppv_of

ORDERS = ("prevalence first", "performance first", "average")
#: From a table; from Se, false positive rate and prevalence.
RULES: dict[str, tuple[Metric, Callable[[Any, Any, Any], Any]]] = {"ppv": (ppv, ppv_of), "npv": (npv, npv_of)}


def split_gap(
    table: xr.Dataset, a: str, b: str, metric: Metric = ppv, scale: str = "probability", dim: str | None = None
) -> xr.Dataset:
    """Split the gap of a predictive value exactly into parts of prevalence and of performance (Se and Sp).

    "Performance" is short for Se and Sp at this threshold. The split is arithmetic, not cause: groups whose risks are
    distributed differently differ in Se and Sp even where the score is everybody's true risk, so a performance part is
    not yet a fault or a merit of the model (``split_by_score`` compares people of the same score).

    On the probability scale the size of the parts depends on which is switched first from b's value to a's. With
    prevalence first, the performance part is the gap at a's prevalence (``standardize``), with performance first that
    at b's; the average is the split of Kitagawa and Das Gupta. On the logit scale there is one split, because
    logit PPV = log LR⁺ + logit π with LR⁺ = Se/(1 − Sp), and logit NPV = −log LR⁻ − logit π with LR⁻ = (1 − Se)/Sp.
    Prevalence has part 0 where the groups have one prevalence, performance where they have one Se and one Sp.

    Parameters
    ----------
    table : Dataset of Counts.at (replicates too), or of ``confusion``
    a, b : str
        Levels of one group dim.
    metric : ``ppv`` or ``npv``
    scale : {"probability", "logit"}
    dim : str, optional
        The group dim, when both levels occur in several.

    Returns
    -------
    Dataset of ``prevalence``, ``performance`` and ``total`` (the gap). On the probability scale the parts lie over
    ``order``: "prevalence first", "performance first", "average". Swapping a and b changes every sign and exchanges
    the two orders. Both parts are NaN where a group has a prevalence of 0 or 1 or nobody flagged (for NPV: all
    flagged); ``total`` stays defined wherever both predictive values are. On the logit scale the parts and ``total``
    are NaN where a predictive value is 0, 1 or undefined. The attribute ``undefined`` says why a part is NaN. For
    intervals split replicates, and take ``interval`` of a part.

    Raises
    ------
    AuditInputError
        For another metric or scale, unknown levels, or a dim named as a part of the split.

    References
    ----------
    Kitagawa EM. Components of a difference between two rates. JASA 1955;50:1168–1194; Das Gupta P. Standardization and
    Decomposition of Rates. US Census P23-186, 1993; Chouldechova A. Big Data 2017;5:153–163 (the identity).

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("Women:20,40,160,5; Men:40,40,160,10")
    >>> found = split_gap(table, "Women", "Men").sel(order="average")
    >>> {name: round(float(found[name]), 3) for name in found}
    {'prevalence': -0.167, 'performance': 0.0, 'total': -0.167}

    Intervals of the parts, here of NPV on the logit scale, where there is one split:

    >>> from auditlib import studies
    >>> counts = studies.comparison_counts("gap-cdc_diabetes-sex").cut(0.3)
    >>> def split(table):
    ...     return split_gap(table, "Male", "Female", al.npv, "logit").to_dataarray("part")
    >>> again = counts.resample(200, strata="sex", seed=1)
    >>> al.tidy(al.interval(split(again.at(0.3)), estimate=split(counts.at(0.3))))["estimate"].to_dict()
    {'prevalence': -0.181, 'performance': -0.128, 'total': -0.309}
    """
    name, dim = _predictive(metric), find_dim(table, a, b, dim)
    if clash := [name for name in ("order", "prevalence", "performance", "total") if name in table.dims]:
        raise AuditInputError(
            f"a dim named {clash[0]!r} clashes with the parts of the split; rename it, such as to 'prevalence_of'."
        )
    if not isinstance(scale, str) or scale not in ("probability", "logit"):
        raise AuditInputError(f'scale must be "probability" or "logit", not {scale!r}.')
    cells = xr.Dataset({cell: wide(cell_of(table, cell)).reset_coords(drop=True) for cell in CELLS})
    if "threshold" in table.coords and not table["threshold"].ndim:
        cells = cells.assign_coords(threshold=table["threshold"].reset_coords(drop=True))
    found = _by_order(cells, a, b, name, dim) if scale == "probability" else _by_odds(cells, a, b, name, dim)
    if bool(found["performance"].isnull().any()):
        why = f"a prevalence of 0 or 1, or an undefined {name}" if scale == "probability" else f"no logit of {name}"
        found.attrs["undefined"] = f"{a!r} or {b!r} has {why}: the gap cannot be split."
    return found


def _by_order(cells: xr.Dataset, a: str, b: str, name: str, dim: str) -> xr.Dataset:
    metric, value = RULES[name]
    rates = sensitivity(cells), false_positive_rate(cells), prevalence(cells)
    (se_a, f_a, pi_a), (se_b, f_b, pi_b) = ([pick(rate, dim, level) for rate in rates] for level in (a, b))
    of_a, b_at_a = value(se_a, f_a, pi_a), value(se_b, f_b, pi_a)
    of_b, a_at_b = value(se_b, f_b, pi_b), value(se_a, f_a, pi_b)
    orders = pd.Index(ORDERS, name="order")
    parts = {"prevalence": (b_at_a - of_b, of_a - a_at_b), "performance": (of_a - b_at_a, a_at_b - of_b)}
    found = {part: xr.concat([*both, (both[0] + both[1]) / 2], orders) for part, both in parts.items()}
    known = (found["prevalence"] + found["performance"]).notnull().all("order")  # a part alone would not add up
    return xr.Dataset(
        {part: values.where(known) for part, values in found.items()} | {"total": gap(metric(cells), a, b, dim)}
    )


def _by_odds(cells: xr.Dataset, a: str, b: str, name: str, dim: str) -> xr.Dataset:
    ill, well = cells["tp"] + cells["fn"], cells["fp"] + cells["tn"]
    right, wrong, own, other = (
        (cells["tp"], cells["fp"], ill, well) if name == "ppv" else (cells["tn"], cells["fn"], well, ill)
    )
    known = (right > 0) & (wrong > 0)  # then there are people of both labels
    right, own, other = right.where(known), own.where(known), other.where(known)
    ratios = {"prevalence": own / other, "performance": (right / own) / (wrong / other), "total": right / wrong}
    logs = {part: xr.apply_ufunc(np.log, ratio) for part, ratio in ratios.items()}
    return xr.Dataset({part: gap(values, a, b, dim) for part, values in logs.items()})


def _predictive(metric: Any) -> str:
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
    if name not in RULES:
        raise AuditInputError(f"metric must be ppv or npv, which follow from Se, Sp and prevalence, not {name}.")
    return name
