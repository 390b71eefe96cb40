"""What can be set about a group and a site, and the range of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.special import ndtri

from auditlib.errors import AuditInputError

LARGEST = 1e6  # of shares and of what makes a linear predictor: larger numbers lose the digits that matter


def need(name: str, value: object, low: float, high: float, *, closed: bool = False, top: bool = False) -> None:
    """Raise unless `value` is one number with low < value < high (≤ at the lower end when closed, at the upper if top).

    >>> need("lam", 1.0, 0, 1, top=True)
    """
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:  # a whole number too large for a float
        number = math.inf
    inside = low < number < high or (closed and number == low) or (top and number == high)
    if not (math.isfinite(number) and inside):
        ends = f"{'[' if closed else '('}{low:g}, {high:g}{']' if top else ')'}"
        said = " ".join(repr(value).split())
        said = said if len(said) <= 80 else f"{said[:60]}…"
        raise AuditInputError(f"{name} = {said}: it must lie in {ends}.")


def whole(name: str, value: float) -> int:
    """`value` as an int, or an error unless it is a whole number from 1 to 2³¹ − 1."""
    need(name, value, 0, 2**31)
    if value % 1:
        raise AuditInputError(f"{name} = {value!r}: it must be a whole number.")
    return int(value)


def generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """NumPy's generator of that seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise AuditInputError(f"seed = {seed!r}: give a whole number of at least 0, or a Generator.") from None


@dataclass(frozen=True)
class Group:
    """One group's truth.

    Parameters
    ----------
    prevalence : float
        π, share of rows with the outcome, in (0, 1).
    positive, negative : float
        Mean latent of rows with and without the outcome, in standard deviations.
    share : float
        Weight of the group in the cohort; weights need not add up to 1.

    Examples
    --------
    >>> Group(prevalence=0.1, positive=0.5, negative=-1.0).share
    1.0
    """

    prevalence: float
    positive: float = 1.0
    negative: float = -1.0
    share: float = 1.0

    def __post_init__(self) -> None:
        need("prevalence", self.prevalence, 0, 1)
        need("positive", self.positive, -np.inf, np.inf)
        need("negative", self.negative, -np.inf, np.inf)
        need("share", self.share, 0, LARGEST)

    @classmethod
    def at(
        cls, threshold: float, *, prevalence: float, sensitivity: float, specificity: float, share: float = 1.0
    ) -> Group:
        """The group that has this sensitivity and specificity at this threshold.

        Examples
        --------
        >>> group = Group.at(0.2, prevalence=0.1, sensitivity=0.8, specificity=0.7)
        >>> from auditlib.simulate import Cohort
        >>> Cohort({"A": group}).truth(0.2)["sensitivity"].round(12).item()
        0.8
        """
        for name, value in {"threshold": threshold, "sensitivity": sensitivity, "specificity": specificity}.items():
            need(name, value, 0, 1)
        cut = float(ndtri(threshold))
        return cls(prevalence, cut + float(ndtri(sensitivity)), cut - float(ndtri(specificity)), share)


@dataclass(frozen=True)
class Site:
    """How a site departs from the groups' common truth.

    Parameters
    ----------
    prevalence_shift : float
        Added to the logit of every group's prevalence.
    score_shift : float
        Added to every latent, in standard deviations.
    share : float
        Weight of the site, the same in every group.
    """

    prevalence_shift: float = 0.0
    score_shift: float = 0.0
    share: float = 1.0

    def __post_init__(self) -> None:
        need("prevalence_shift", self.prevalence_shift, -np.inf, np.inf)
        need("score_shift", self.score_shift, -np.inf, np.inf)
        need("share", self.share, 0, LARGEST)
