"""How risk arises in one group of a cohort whose true risks are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit, roots_legendre

from auditlib.errors import AuditInputError
from auditlib.simulate.parameters import LARGEST, need

Floats = NDArray[np.float64]

TAIL, STEP = 10.0, 40.0  # where the normal law ends, in standard deviations, and a rise of the risk, in logits
NODES = 400  # points of the quadrature over each piece


@dataclass(frozen=True)
class RiskGroup:
    """How risk arises in one group: logit π(x) = intercept + coefficients · x, x ~ N(means, 1), independent.

    Parameters
    ----------
    intercept : float
        In (−10¹⁵, 10¹⁵).
    coefficients : sequence of float
        One a covariate, in (−10⁶, 10⁶).
    means : sequence of float
        Mean of each covariate, in (−10⁶, 10⁶); all 0 unless given.
    share : float
        Weight of the group in the cohort, below 10⁶; weights need not add up to 1.

    Raises
    ------
    AuditInputError
        When a parameter lies outside its range; the message names it.

    Examples
    --------
    >>> RiskGroup(-2.0, (1.0, 0.5)).prevalence().round(4).item()
    0.1633
    """

    intercept: float
    coefficients: Sequence[float]
    means: Sequence[float] = ()
    share: float = 1.0

    def __post_init__(self) -> None:
        need("intercept", self.intercept, -1e15, 1e15)
        need("share", self.share, 0, LARGEST)
        for name in ("coefficients", "means"):
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        if not self.coefficients:
            raise AuditInputError("coefficients: at least one is needed; 0 for a covariate that does not matter.")
        if not self.means:
            object.__setattr__(self, "means", (0.0,) * len(self.coefficients))
        if len(self.means) != len(self.coefficients):
            raise AuditInputError(f"means: {len(self.means)} values for {len(self.coefficients)} coefficients.")

    @classmethod
    def at(
        cls, prevalence: float, coefficients: Sequence[float], means: Sequence[float] = (), share: float = 1.0
    ) -> RiskGroup:
        """The group with this prevalence: the intercept is found.

        Examples
        --------
        >>> RiskGroup.at(0.1, (1.0, 0.5)).prevalence().round(12).item()
        0.1
        """
        need("prevalence", prevalence, 0, 1)
        centred = cls(0.0, coefficients, means, share)
        centre, scale = centred.predictor()
        reach = abs(float(logit(prevalence))) + abs(centre) + TAIL * scale + 1
        found = brentq(lambda a: centred._mean(lambda risk: risk, a) - prevalence, -reach, reach, xtol=1e-13)
        return cls(float(found), coefficients, means, share)

    def predictor(self) -> tuple[float, float]:
        """Mean and standard deviation of the linear predictor, which is normal."""
        b, m = np.array(self.coefficients), np.array(self.means)
        return float(self.intercept + b @ m), float(np.sqrt(b @ b))

    def prevalence(self) -> np.float64:
        """Mean of the true risk, by quadrature over the linear predictor."""
        return self._mean(lambda risk: risk)

    def net_benefit(self, threshold: float) -> np.float64:
        """Net benefit of flagging whose true risk is at least `threshold`, in [0, 1): none is larger.

        >>> RiskGroup(0.0, (1000.0,)).net_benefit(0.15).round(4).item()  # a risk of 0 or 1, and half of them have 1
        0.4998
        """
        need("threshold", threshold, 0, 1, closed=True)
        w = threshold / (1 - threshold)
        return self._mean(lambda risk: risk - w * (1 - risk), cut=float(logit(threshold)) if threshold else -np.inf)

    def _mean(self, value: Callable[[Floats], Floats], shift: float = 0.0, cut: float = -np.inf) -> np.float64:
        """E[value(π); logit π ≥ cut], with `shift` added to the intercept.

        The risk rises from 0 to 1 within ±40 logits of ½: steep slopes make that a small part of the normal law, so
        quadrature goes piece by piece.
        """
        centre, scale = self.predictor()
        centre += shift
        if scale == 0:
            return value(expit(np.array([centre])))[0] * (centre >= cut)
        low = np.clip((cut - centre) / scale, -TAIL, TAIL)
        rise = (np.array([-STEP, 0.0, STEP]) - centre) / scale
        ends = np.array([low, *np.clip(rise, low, TAIL), TAIL])[:, None]
        nodes, weights = _quadrature()
        half = np.diff(ends, axis=0) / 2
        z = ends[:-1] + (nodes + 1) * half
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        return np.float64((half * weights * density * value(expit(centre + scale * z))).sum())


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Floats, Floats]:
    """Gauss–Legendre points and weights on [−1, 1]."""
    return roots_legendre(NODES)


def _numbers(name: str, given: Any) -> tuple[float, ...]:
    """`given` as a tuple of finite floats."""
    try:
        if isinstance(given, str) or any(isinstance(value, str | bool | np.bool_) for value in given):
            raise TypeError
        values = tuple(float(value) for value in given)
    except (TypeError, ValueError, OverflowError):
        raise AuditInputError(f"{name} = {given!r}: give a sequence of numbers, one a covariate.") from None
    for k, value in enumerate(values):
        need(f"{name}[{k}]", value, -LARGEST, LARGEST)
    return values
