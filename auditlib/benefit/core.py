"""Net benefit and subgroup net benefit of a confusion table."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from auditlib.counts.cells import cell_of, total, wide
from auditlib.metrics import prevalence
from auditlib.values import given, together

UNIT = 10_000  # people: results are shown as UNIT × sNB, "true negatives per 10,000"
ALL = ("tp", "fp", "fn", "tn")


def bare(table: Any) -> Any:
    """The table without the moments of its patients, which arithmetic would carry along, and without the one threshold
    at which it was made, which would clash with a grid of thresholds."""
    if not isinstance(table, xr.Dataset):
        return table
    alone = ["threshold"] if "threshold" in table.coords and "threshold" not in table.dims else []
    return table.drop_vars(["unit_moments", *alone], errors="ignore")


def odds(threshold: Any, table: Any) -> Any:
    """w = t/(1 − t): the true positives that one false positive costs at the threshold.

    >>> odds(0.2, {})
    0.25
    """
    t = given("threshold", threshold, table)
    return t / (1 - t)


def net_benefit(table: Any, threshold: Any) -> Any:
    """Net benefit, NB = (TP − w·FP)/N with w = t/(1 − t).

    One unit is one true positive more for each person, with no false positive more.

    Parameters
    ----------
    table : mapping of arrays ``tp``, ``fp``, ``fn``, ``tn``
        Any dims. It says who is flagged.
    threshold : number in [0, 1), or DataArray
        t, which sets the weight of a false positive, and nothing else. For a decision curve pass
        ``table["threshold"]``, so that people are flagged and weighed at one threshold.

    Returns
    -------
    Same dims as the table; NaN where there is nobody.

    Raises
    ------
    AuditInputError
        For a threshold outside [0, 1): at 1 the odds are infinite.

    References
    ----------
    Vickers AJ, Elkin EB. Decision curve analysis. Med Decis Making 2006;26:565–574.

    Examples
    --------
    >>> round(float(net_benefit({"tp": 80, "fp": 100, "fn": 20, "tn": 800}, 0.2)), 4)
    0.055
    """
    w, table = odds(threshold, table), bare(table)
    with np.errstate(divide="ignore", invalid="ignore"):  # nobody: 0/0 is NaN, on purpose
        return _cell(table, "tp") / total(table, ALL) - w * (_cell(table, "fp") / total(table, ALL))


def _cell(table: Any, cell: str) -> Any:
    values = wide(cell_of(table, cell))
    return values if isinstance(values, xr.DataArray) else np.asarray(values, dtype=np.float64)


def standardized_net_benefit(table: Any, threshold: Any) -> Any:
    """Net benefit as a share of the largest there can be, NB/π; NaN where π is 0.

    It divides by the prevalence, not by the share flagged, and counts from treating nobody. Relative utility (Baker et
    al. 2009) counts from the better of treating nobody and everybody, and is smaller where π > t. NB/π depends on the
    prevalence, so that a model with one sensitivity and one false positive rate in two groups has two of them.

    References
    ----------
    Kerr KF et al. J Clin Oncol 2016;34:2534–2540.

    Examples
    --------
    >>> round(float(standardized_net_benefit({"tp": 80, "fp": 100, "fn": 20, "tn": 800}, 0.2)), 4)
    0.55
    """
    benefit, table = net_benefit(table, threshold), bare(table)
    events = _cell(table, "tp") + _cell(table, "fn")
    events = events.where(events > 0) if isinstance(events, xr.DataArray) else np.where(events > 0, events, np.nan)
    return benefit * (total(table, ALL) / events)


def subgroup_net_benefit(table: Any, threshold: Any, lam: Any, burden: Any = 1.0) -> Any:
    """Subgroup net benefit, sNB = 1 − r(π − λ·NB): 1 for a group without the outcome.

    Parameters
    ----------
    table : mapping of arrays ``tp``, ``fp``, ``fn``, ``tn``
        Any dims.
    threshold : number in [0, 1), or DataArray
        t; the harm of a false positive is w·r·λ, so varying λ at fixed t varies that harm too (``threshold_for``).
    lam : number in (0, 1], dict of one a group, or DataArray
        λ, the share of what the outcome costs that treatment gives back: with a, c, d the utilities of a true
        positive, false negative and true negative, (a − c)/(d − c). With binary outcomes of patients, the relative
        risk reduction.
    burden : number in (0, 1], dict of one a group, or DataArray
        r, what an untreated case loses; 1 is the paper's form.

    Returns
    -------
    Same dims as the table (and those of a grid of ``lam``); NaN where there is nobody. ``UNIT *`` it is the number of
    people in 10,000 who are as well off as a true negative. ``benefit_interval`` gives its interval.

    Raises
    ------
    AuditInputError
        For a value outside its range, or a group that is missing or unknown.

    References
    ----------
    Benitez-Aurioles J et al. Epidemiology 2026;37:386–396, Eq. 5 (with r = 1); r is this package's.

    Examples
    --------
    >>> table = {"tp": 80, "fp": 100, "fn": 20, "tn": 800}
    >>> round(float(subgroup_net_benefit(table, 0.2, 0.5)), 4)
    0.9275
    """
    t, lam, burden = together(table, threshold=threshold, lam=lam, burden=burden)
    return 1 - burden * (prevalence(bare(table)) - lam * net_benefit(table, t))
