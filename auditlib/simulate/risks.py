"""Cohorts in which each person's risk is known, so that what any rule of decision is worth is known too."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from auditlib.errors import AuditInputError
from auditlib.simulate.parameters import generator, need, whole
from auditlib.simulate.risk_groups import RiskGroup

Floats = NDArray[np.float64]
Rule = Callable[[pd.DataFrame], Any]

OVERALL = "overall"


@dataclass(frozen=True)
class RiskCohort:
    """Groups whose covariates, and what these mean for the risk, may differ.

    Parameters
    ----------
    groups : mapping of name to RiskGroup
        All with the same number of covariates, x1, x2, … in `frame`.

    Raises
    ------
    AuditInputError
        When a parameter lies outside its range; the message names it.

    Examples
    --------
    >>> cohort = RiskCohort({"A": RiskGroup.at(0.1, (1.0,)), "B": RiskGroup.at(0.2, (0.5,), share=0.5)})
    >>> cohort.frame(3, seed=1).columns.tolist()
    ['group', 'x1', 'label', 'true_risk']
    >>> cohort.best(0.15, 0.58).round(4).values.tolist()  # A, B, and both together
    [0.9132, 0.8407, 0.8891]
    """

    groups: Mapping[str, RiskGroup]

    def __post_init__(self) -> None:
        if not isinstance(self.groups, Mapping) or not all(isinstance(g, RiskGroup) for g in self.groups.values()):
            raise AuditInputError(f"groups = {self.groups!r}: give a mapping such as {{'A': RiskGroup(-2, (1,))}}.")
        if not self.groups:
            raise AuditInputError("groups: at least one is needed.")
        if OVERALL in self.groups or not all(isinstance(name, str) for name in self.groups):
            raise AuditInputError(f"groups: names are text, and {OVERALL!r} is kept for all groups together.")
        if len({len(g.coefficients) for g in self.groups.values()}) > 1:
            sizes = {name: len(g.coefficients) for name, g in self.groups.items()}
            raise AuditInputError(f"groups: coefficients must be as many in each, but are {sizes}.")

    @classmethod
    def example(cls) -> RiskCohort:
        """Four groups of 60, 20, 12 and 8% with prevalences of 6, 10, 15 and 20%, and slopes of their own.

        Five of eight covariates matter, and to B as they do to A, roughly; in C and D two matter less and others more.
        x1 and x3 are shifted between the groups. So are x6 and x7, which matter in none of them: without the attribute
        a model may use them in its stead.

        Examples
        --------
        >>> RiskCohort.example().prevalences().round(6).values.tolist()
        [0.06, 0.1, 0.15, 0.2, 0.09]
        """
        groups = {  # share, prevalence, slopes of x1 to x5, shift of x1 and x3, shift of x6 (and of x7, downwards)
            "A": (0.60, 0.06, (1.0, 0.7, 0.5, 0.4, 0.2), 0.0, 0.0),
            "B": (0.20, 0.10, (0.9, 0.6, 0.6, 0.4, 0.2), 0.2, 0.5),
            "C": (0.12, 0.15, (0.5, 0.7, 0.8, 0.2, 0.5), 0.4, 1.0),
            "D": (0.08, 0.20, (0.3, 0.3, 0.9, 0.8, 0.5), 0.5, 1.5),
        }
        return cls(
            {
                name: RiskGroup.at(prevalence, (*slopes, 0, 0, 0), (own, 0, own, 0, 0, proxy, -proxy, 0), share)
                for name, (share, prevalence, slopes, own, proxy) in groups.items()
            }
        )

    @property
    def covariates(self) -> list[str]:
        """Names of the covariates, x1, x2, …"""
        return [f"x{k + 1}" for k in range(len(next(iter(self.groups.values())).coefficients))]

    def frame(self, n: int, seed: int | np.random.Generator | None = None) -> pd.DataFrame:
        """`n` people: group, x1, x2, …, label (0 or 1, drawn with the true risk) and true_risk.

        Examples
        --------
        >>> RiskCohort.example().frame(2000, seed=1).shape
        (2000, 11)
        """
        n, rng = whole("n", n), generator(seed)
        who = rng.choice(len(self.groups), n, p=self._shares())
        drawn = self._people(who, rng)
        risk = drawn.pop("true_risk")
        return drawn.assign(label=(rng.random(n) < risk).astype("int64"), true_risk=risk)

    def prevalences(self) -> xr.DataArray:
        """True prevalence of each group, and ``overall``."""
        return self._array([g.prevalence() for g in self.groups.values()])

    def best(
        self, threshold: float, lam: float | Mapping[str, float], burden: float | Mapping[str, float] = 1.0
    ) -> xr.DataArray:
        """Subgroup net benefit of flagging by the true risk, 1 − r(π − λ·NB): what no model exceeds.

        See `benefit` for the parameters. Over ``group``, whose last level is ``overall``; no Monte Carlo in it.
        """
        lams, burdens = self._settings(threshold, lam, burden)
        pairs = [(g.prevalence(), g.net_benefit(threshold)) for g in self.groups.values()]
        found = [1 - r * (prevalence - lam * nb) for (prevalence, nb), lam, r in zip(pairs, lams, burdens, strict=True)]
        return self._array(found)

    def benefit(
        self,
        rules: Rule | Mapping[str, Rule],
        threshold: float,
        lam: float | Mapping[str, float],
        burden: float | Mapping[str, float] = 1.0,
        *,
        n: int = 200_000,
        seed: int | np.random.Generator | None = 0,
    ) -> xr.Dataset:
        """Subgroup net benefit that a rule of decision has under the true risk.

        sNB = best − r·λ·E[|π(x) − w(1 − π(x))|; the rule decides other than the true risk would], w = t/(1 − t). The
        best is exact and the loss is a mean over people drawn, as many of each group; no labels are drawn.

        Parameters
        ----------
        rules : callable, or mapping of name to callable
            Takes a DataFrame of group, x1, x2, … and returns a value a row: True or False for flagged or not, or risks
            as floats, which are flagged at `threshold` or above; whole numbers could mean either and are an error.
            Several rules are judged on the same people, over ``model``.
        threshold : float
            t in [0, 1).
        lam, burden : float, or mapping of group to float
            λ and r in (0, 1].
        n : int
            People, shared equally among the groups.
        seed : int or Generator

        Returns
        -------
        Dataset of ``estimate`` and its Monte-Carlo standard error ``se`` over ``group``, whose last level is
        ``overall``, the mean by the groups' shares.

        Raises
        ------
        AuditInputError
            When a parameter lies outside its range, or a rule gives other than one decision or risk a person.

        Examples
        --------
        >>> cohort = RiskCohort.example()
        >>> nobody = cohort.benefit(lambda people: people["x1"] > 99, 0.15, 0.58, n=4000)
        >>> nobody.estimate.round(2).values.tolist()  # 1 − π
        [0.94, 0.9, 0.85, 0.8, 0.91]
        """
        lams, burdens = self._settings(threshold, lam, burden)
        if isinstance(rules, Mapping) and not rules:
            raise AuditInputError("rules: at least one is needed.")
        each, rng = whole("n", n) // len(self.groups), generator(seed)
        if each < 2:
            raise AuditInputError(f"n = {n!r}: at least two people a group are needed.")
        people = self._people(np.repeat(np.arange(len(self.groups)), each), rng)
        gain = people["true_risk"].to_numpy() - (1 - people["true_risk"].to_numpy()) * threshold / (1 - threshold)
        named = rules if isinstance(rules, Mapping) else {"": rules}
        worth = np.array(lams) * np.array(burdens)
        best = self.best(threshold, lam, burden)
        shown, found = people.drop(columns="true_risk"), []
        for name, rule in named.items():
            flag = _flags(f"rules[{name!r}]" if name else "rules", rule, shown, threshold)
            loss = (np.abs(gain) * (flag != (gain >= 0))).reshape(len(self.groups), each)
            error = worth * loss.std(axis=1, ddof=1) / np.sqrt(each)
            values = {"estimate": best - self._array(worth * loss.mean(axis=1)), "se": self._errors(error)}
            found.append(xr.Dataset(values))
        return xr.concat(found, pd.Index(list(named), name="model")) if isinstance(rules, Mapping) else found[0]

    def _people(self, who: NDArray[np.int64], rng: np.random.Generator) -> pd.DataFrame:
        """Group, covariates and true risk of people of the groups numbered `who`."""
        groups = list(self.groups.values())
        x = rng.standard_normal((len(who), len(groups[0].coefficients)))
        x += np.array([g.means for g in groups])[who]
        slopes, intercepts = np.array([g.coefficients for g in groups]), np.array([g.intercept for g in groups])
        risk = expit(intercepts[who] + np.einsum("ij,ij->i", x, slopes[who]))
        names = np.array(list(self.groups), dtype=object)[who]
        return pd.DataFrame({"group": names, **dict(zip(self.covariates, x.T, strict=True)), "true_risk": risk})

    def _shares(self) -> Floats:
        weights = np.array([g.share for g in self.groups.values()])
        return weights / weights.sum()

    def _settings(self, threshold: float, *given: float | Mapping[str, float]) -> list[list[float]]:
        """λ and r of each group, checked."""
        need("threshold", threshold, 0, 1, closed=True)
        found = []
        for name, value in zip(("lam", "burden"), given, strict=True):
            if not isinstance(value, Mapping | Real):
                raise AuditInputError(f"{name}: give a number or a dict of one number a group, not {_kind(value)}.")
            by = value if isinstance(value, Mapping) else dict.fromkeys(self.groups, value)
            if set(by) != set(self.groups):
                raise AuditInputError(f"{name} names the groups {list(by)}, the cohort has {list(self.groups)}.")
            for group, each in by.items():
                need(f"{name} of {group}" if isinstance(value, Mapping) else name, each, 0, 1, top=True)
            found.append([float(by[group]) for group in self.groups])
        return found

    def _array(self, values: Sequence[Any] | Floats) -> xr.DataArray:
        """Values by group, with their mean by share at the end."""
        levels = {"group": [*self.groups, OVERALL]}
        return xr.DataArray([*values, float(self._shares() @ np.array(values, dtype=float))], levels, dims="group")

    def _errors(self, errors: Floats) -> xr.DataArray:
        """Standard errors by group, and that of the mean by share: groups are drawn apart."""
        whole_ = math.sqrt(float((self._shares() ** 2) @ errors**2))
        return xr.DataArray([*errors, whole_], {"group": [*self.groups, OVERALL]}, dims="group")


def _kind(value: object) -> str:
    return f"a {type(value).__name__}" if np.ndim(value) else repr(value)  # type: ignore[arg-type]


def _flags(name: str, rule: Any, people: pd.DataFrame, threshold: float) -> NDArray[np.bool_]:
    """Whom a rule flags."""
    if not callable(rule):
        raise AuditInputError(
            f"{name} = {rule!r}: give a function of the people, such as lambda people: people.x1 > 0."
        )
    said = np.asarray(rule(people))
    if said.shape != (len(people),) or said.dtype.kind not in "biuf":
        raise AuditInputError(
            f"{name}: one decision or risk a person is needed; it gave {said.dtype} of shape {said.shape}."
        )
    if said.dtype.kind in "iu":
        raise AuditInputError(
            f"{name}: it gave whole numbers ({said.dtype}); give True or False for flagged or not, or risks as floats."
        )
    if said.dtype.kind == "b":
        return said
    outside = ~((said >= 0) & (said <= 1))
    if outside.any():
        raise AuditInputError(f"{name}: {int(outside.sum())} of {len(said)} risks lie outside 0–1 or are missing.")
    return said >= threshold
