"""Agreement of pass/fail verdicts among sites: raw, Fleiss' κ and Gwet's AC1, for any number of raters an item.

An item is a verdict to be given (a metric of one attribute), a rater a site that gives it: 1 pass, 0 fail, NaN
undefined. With n_i defined verdicts on item i, r_i of them passes, and items with n_i < 2 left out,

- P_i = [r_i(r_i − 1) + (n_i − r_i)(n_i − r_i − 1)] / [n_i(n_i − 1)], the share of pairs of raters that agree on item i;
- raw = mean of P_i over items;
- p = mean of r_i/n_i over items, the share of passes, each item counting once however many raters it has;
- κ = (raw − C)/(1 − C) with C = p² + (1 − p)²;
- AC1 = (raw − G)/(1 − G) with G = 2p(1 − p).

With the same number of raters for all items this is Fleiss' original coefficient, and what
``statsmodels.stats.inter_rater.fleiss_kappa`` returns. For unequal numbers it is Gwet's generalization, except that an
item with one verdict, which says nothing about agreement, is left out of p as well (irrCAC keeps it there).

When all verdicts are the same, raw = AC1 = 1 and κ is 0/0: NaN, neither 1 nor 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from auditlib.errors import AuditInputError


def fleiss_kappa(ratings: Any) -> float:
    """Fleiss' κ of verdicts, with unequal numbers of raters as in Gwet 2014.

    Parameters
    ----------
    ratings : array, items × raters
        1 pass, 0 fail, NaN or masked undefined. At least two items and two raters.

    Returns
    -------
    float; NaN when all verdicts are the same (0/0) and when fewer than two items have two verdicts: of a single item κ
    is −1/(n − 1) or 0/0 whatever the verdicts.

    Raises
    ------
    AuditInputError
        For another shape, lists of unequal length, or values other than 0, 1 and NaN.

    References
    ----------
    Fleiss JL. Measuring nominal scale agreement among many raters. Psychol Bull 1971;76:378–382. Unequal raters: Gwet
    KL. Handbook of Inter-Rater Reliability, 4th ed., 2014, ch. 2.

    Examples
    --------
    >>> verdicts = np.ones((4, 20))
    >>> fleiss_kappa(verdicts)
    nan
    >>> verdicts[0, 0] = 0
    >>> round(fleiss_kappa(verdicts), 4)
    -0.0127
    """
    return _of_ratings(ratings)["kappa"]


def gwet_ac1(ratings: Any) -> float:
    """Gwet's AC1 of verdicts, for any numbers of raters; 1 when all verdicts are the same.

    Parameters, errors and items left out are those of ``fleiss_kappa``. NaN when no item has two verdicts.

    References
    ----------
    Gwet KL. Computing inter-rater reliability and its variance in the presence of high agreement. Br J Math Stat
    Psychol 2008;61:29–48.

    Examples
    --------
    >>> verdicts = np.ones((4, 20))
    >>> verdicts[0, 0] = 0
    >>> round(gwet_ac1(verdicts), 4)
    0.9744
    """
    return _of_ratings(ratings)["ac1"]


def raw_agreement(ratings: Any) -> float:
    """Share of pairs of raters that agree, averaged over items; as ``fleiss_kappa`` otherwise.

    >>> raw_agreement([[1, 1, 0], [1, 1, float("nan")]])
    0.6666666666666666
    """
    return _of_ratings(ratings)["raw"]


def agreement(passes: Any, raters: Any) -> dict[str, float]:
    """Raw agreement, κ and AC1 from how many raters passed each item: ``passes`` of ``raters``.

    Parameters
    ----------
    passes : whole numbers, one an item
    raters : whole number, or one an item
        Defined verdicts; items with fewer than two are left out.

    Raises
    ------
    AuditInputError
        For anything but whole numbers with 0 ≤ passes ≤ raters, or fewer than two items.

    Examples
    --------
    >>> {name: round(value, 4) for name, value in agreement([19, 20, 20, 20], 20).items()}
    {'raw': 0.975, 'kappa': -0.0127, 'ac1': 0.9744}
    """
    held = _array(passes, "passes")
    if held.ndim != 1 or held.size < 2 or held.dtype.kind not in "iuf":
        raise AuditInputError(f"passes must be one number an item, of at least two items, not {passes!r}.")
    try:
        of = np.broadcast_to(_array(raters, "raters").astype(np.float64), held.shape)
    except (TypeError, ValueError):
        raise AuditInputError(f"raters must be one number, or one an item, not {raters!r}.") from None
    whole = (held == np.floor(held)) & (of == np.floor(of))
    if not (whole & (held >= 0) & (held <= of)).all():
        raise AuditInputError("passes and raters must be whole numbers with 0 ≤ passes ≤ raters.")
    return {name: float(value) for name, value in coefficients(held.astype(np.float64), of).items()}


def _array(values: Any, name: str) -> np.ndarray:
    """Values as an array, NaN where masked."""
    try:
        held = np.ma.asarray(values)  # a list of masked arrays keeps its masks
    except ValueError:
        raise AuditInputError(
            f"{name}: the lists are not all of one length; write NaN where a verdict is missing."
        ) from None
    found: np.ndarray = held.data
    if np.ma.is_masked(held) and held.dtype.kind in "biuf":
        found = np.where(np.ma.getmaskarray(held), np.nan, found)
    return found


def _of_ratings(ratings: Any) -> dict[str, float]:
    held = _array(ratings, "ratings")
    if held.ndim != 2 or min(held.shape) < 2:
        raise AuditInputError(
            f"ratings must be items × raters, at least two of each, not of shape {' × '.join(map(str, held.shape))}."
        )
    held = check_verdicts(held, "ratings")
    defined = np.isfinite(held)
    return {name: float(value) for name, value in coefficients(np.nansum(held, 1), defined.sum(1)).items()}


def check_verdicts(values: np.ndarray, name: str) -> np.ndarray:
    """Verdicts as float64, 1, 0 or NaN; an error that names ``name`` for anything else.

    >>> check_verdicts(np.array([True, False]), "passes")
    array([1., 0.])
    """
    if values.dtype.kind not in "biuf":
        raise AuditInputError(f"{name} must be 1 (pass), 0 (fail) or NaN (undefined), but hold {values.dtype}.")
    held = values.astype(np.float64)
    wrong = held[~(np.isnan(held) | (held == 0) | (held == 1))]
    if wrong.size:
        raise AuditInputError(
            f"{name} must be 1 (pass), 0 (fail) or NaN (undefined), but {wrong.size} of {held.size} are not, such as "
            f"{float(wrong[0])!r}; make verdicts of metrics with passes(…)."
        )
    return held


def coefficients(
    passes: np.ndarray, raters: np.ndarray, same: np.ndarray | None = None, pairs: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Raw agreement, κ and AC1 over the last axis (items), from passes and defined verdicts of each item.

    ``same`` and ``pairs`` are ordered pairs that agree, and all, by item, where they do not follow from the counts.

    >>> float(coefficients(np.array([1.0, 2.0]), np.array([2, 2]))["raw"])
    0.5
    """
    fails = raters - passes
    same = passes * (passes - 1) + fails * (fails - 1) if same is None else same
    pairs = raters * (raters - 1) if pairs is None else pairs
    used = pairs > 0
    items = used.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):  # nothing left is NaN, on purpose
        raw = np.where(used, same / pairs, 0).sum(axis=-1) / items
        share = np.where(used, passes / raters, 0).sum(axis=-1) / items
        by_chance, gwet = share**2 + (1 - share) ** 2, 2 * share * (1 - share)
        kappa = (raw - by_chance) / (1 - by_chance)
    mixed = (np.where(used, passes, 0).sum(-1) > 0) & (np.where(used, fails, 0).sum(-1) > 0)  # else 0/0, exactly
    return {"raw": raw, "kappa": np.where(mixed & (items > 1), kappa, np.nan), "ac1": (raw - gwet) / (1 - gwet)}
