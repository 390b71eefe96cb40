"""A cohort's parameters, the truth they imply, and samples of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtr, ndtri, owens_t

from auditlib.errors import AuditInputError
from auditlib.simulate import draws
from auditlib.simulate.parameters import LARGEST, Group, Site, generator, need, whole

KINDS = {
    "groups": (Group, "{'A': Group(0.2)}"),
    "sites": (Site, "{'all': Site()}"),
    "encounters": (object, "{1: 1.0}"),
}


@dataclass(frozen=True)
class Cohort:
    """Groups, sites and patients whose audit has a known answer.

    Parameters
    ----------
    groups : mapping of name to Group
    sites : mapping of name to Site
        One site called "all" unless given.
    encounters : mapping of int to float
        Weight of each number of rows a patient may have; 1 row each unless given.
    rho : float
        Correlation of the latents of two rows of a patient, in [0, 1).
    rho_label : float
        The same for the normal variables behind the labels.

    Raises
    ------
    AuditInputError
        When a parameter lies outside its range; the message names it.

    Examples
    --------
    >>> cohort = Cohort({
    ...     "Men": Group.at(0.2, prevalence=0.12, sensitivity=0.8, specificity=0.7),
    ...     "Women": Group.at(0.2, prevalence=0.08, sensitivity=0.7, specificity=0.8),
    ... })
    >>> cohort.truth(0.2)["sensitivity"].round(12).values.tolist()
    [0.8, 0.7]
    >>> cohort.frame(3, seed=1).columns.tolist()
    ['group', 'site', 'patient', 'label', 'score']
    """

    groups: Mapping[str, Group]
    sites: Mapping[str, Site] = field(default_factory=lambda: {"all": Site()})
    encounters: Mapping[int, float] = field(default_factory=lambda: {1: 1.0})
    rho: float = 0.0
    rho_label: float = 0.0

    def __post_init__(self) -> None:
        for name, (kind, example) in KINDS.items():
            held = getattr(self, name)
            if not isinstance(held, Mapping) or not all(isinstance(value, kind) for value in held.values()):
                raise AuditInputError(f"{name} = {held!r}: give a mapping such as {example}.")
            if not held:
                raise AuditInputError(f"{name}: at least one is needed.")
        for size, weight in self.encounters.items():
            whole("encounters: rows of a patient", size)
            need(f"encounters[{size}]", weight, 0, LARGEST)
        need("rho", self.rho, 0, 1, closed=True)
        need("rho_label", self.rho_label, 0, 1, closed=True)

    def truth(self, threshold: float | Sequence[float], *, by: str | Sequence[str] = ("group",)) -> xr.Dataset:
        """What an infinitely large audit would find.

        Parameters
        ----------
        threshold : float or sequence of float
            A row is flagged when score ≥ threshold; several give a dim ``threshold``.
        by : subset of {"group", "site"}
            Dims to keep; over the others rows are pooled, so a pooled sensitivity is that of the mixture.

        Returns
        -------
        xarray.Dataset
            tp, fp, fn, tn (shares of the cohort's rows, adding up to 1) and sensitivity, specificity, ppv,
            prevalence, selection_rate.

        Examples
        --------
        >>> sites = {"A": Site(), "B": Site(prevalence_shift=0.5, score_shift=0.2)}
        >>> cohort = Cohort({"Men": Group(0.2), "Women": Group(0.1)}, sites)
        >>> cohort.truth([0.2, 0.5], by=["group", "site"])["sensitivity"].dims
        ('threshold', 'group', 'site')
        """
        by = [by] if isinstance(by, str) or not np.iterable(by) else list(by)
        if not all(dim in ("group", "site") for dim in by):
            raise AuditInputError(f"by = {by!r}: choose from group and site.")
        cells = self._cells(threshold)
        cells = cells.sum([d for d in ("group", "site") if d not in by])
        tp, fp, fn, tn = (cells[c] for c in draws.CELLS)
        rates = {
            "sensitivity": tp / (tp + fn),
            "specificity": tn / (tn + fp),
            "ppv": tp / (tp + fp),
            "prevalence": (tp + fn) / (tp + fp + fn + tn),
            "selection_rate": (tp + fp) / (tp + fp + fn + tn),
        }
        return cells.assign(rates)

    def design_effect(self, threshold: float) -> xr.Dataset:
        """How many times larger patients make the variance of a rate than as many independent rows would.

        deff = 1 + ICC · E[m(m − 1)] / E[m], m the patient's rows with that label. The ICC is that of the flags of two
        of them, (Φ₂(h, h; ρ) − p²) / (p(1 − p)) with p = Φ(h) the rate; Φ₂ is the bivariate normal law.

        Returns
        -------
        xarray.Dataset
            icc and deff over rate (sensitivity, specificity), group and site.

        Examples
        --------
        >>> cohort = Cohort({"A": Group(0.5)}, encounters={4: 1.0}, rho=0.5, rho_label=0.9)
        >>> cohort.design_effect(0.5)["deff"].sel(rate="sensitivity", group="A", site="all").round(3).item()
        1.719
        """
        truth = self.truth(threshold, by=("group", "site"))
        rate = xr.concat(
            [truth["sensitivity"], truth["specificity"]], dim=pd.Index(["sensitivity", "specificity"], name="rate")
        )
        share = xr.concat([truth["prevalence"], 1 - truth["prevalence"]], dim=rate["rate"])
        icc = (both(rate, self.rho) - rate**2) / (rate * (1 - rate))
        sizes, weights = self.row_numbers()
        pairs = (weights * sizes * (sizes - 1)).sum() / (weights * sizes).sum()
        return xr.Dataset({"icc": icc, "deff": 1 + icc * pairs * both(share, self.rho_label) / share})

    def frame(self, n: int, seed: int | np.random.Generator | None = None) -> pd.DataFrame:
        """Rows of `n` patients: group, site, patient, label (0 or 1), score (0 to 1).

        Examples
        --------
        >>> Cohort({"A": Group(0.3)}, encounters={2: 1.0}).frame(50, seed=1).shape
        (100, 5)
        """
        return draws.frame(self, whole("n", n), generator(seed))

    def tables(
        self,
        n_audits: int,
        n: int | Mapping[str, int],
        threshold: float,
        *,
        seed: int | np.random.Generator | None = None,
        per_patient: bool = False,
    ) -> xr.Dataset:
        """Confusion tables of many audits at once, for studies of coverage.

        Parameters
        ----------
        n_audits : int
        n : int or mapping of group to int
            Patients of each group in an audit (rows, where a patient has one).
        threshold : float
        seed : int or Generator
        per_patient : bool
            Keep the dim ``patient``: what a clustered variance is computed from. Shorter groups are filled with
            patients of no rows.

        Returns
        -------
        xarray.Dataset
            Integers tp, fp, fn, tn over audit and group (and patient); sites are pooled.

        Examples
        --------
        >>> cohort = Cohort({"A": Group(0.3), "B": Group(0.2)})
        >>> t = cohort.tables(1000, {"A": 50, "B": 80}, 0.5, seed=1)
        >>> (t["tp"] + t["fp"] + t["fn"] + t["tn"]).isel(audit=0).values.tolist()
        [50, 80]
        """
        n_audits = whole("n_audits", n_audits)
        need("threshold", threshold, 0, 1)
        given = n if isinstance(n, Mapping) else dict.fromkeys(self.groups, n)
        if set(given) != set(self.groups):
            raise AuditInputError(f"n names the groups {list(given)}, the cohort has {list(self.groups)}.")
        sizes = [whole(f"n of {name}", given[name]) for name in self.groups]
        cells = draws.tables(self, n_audits, sizes, threshold, generator(seed), per_patient)
        dims = ("audit", "group", "patient") if per_patient else ("audit", "group")
        parts = {name: (dims, cells[i]) for i, name in enumerate(draws.CELLS)}
        return xr.Dataset(parts, coords={"group": list(self.groups)})

    def row_numbers(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Numbers of rows a patient may have, and the chance of each."""
        weights = np.array(list(self.encounters.values()), dtype=float)
        return np.array(list(self.encounters), dtype=np.int64), weights / weights.sum()

    def prevalences(self) -> NDArray[np.float64]:
        """π over group × site, as an array."""
        base = logit([g.prevalence for g in self.groups.values()])
        shift = np.array([s.prevalence_shift for s in self.sites.values()])
        return expit(base[:, None] + shift)

    def _cells(self, threshold: float | Sequence[float]) -> xr.Dataset:
        """Shares of tp, fp, fn, tn over threshold (if several), group and site."""
        for t in np.ravel(threshold).tolist():
            need("threshold", t, 0, 1)
        several = {"threshold": np.asarray(threshold, dtype=float)} if np.ndim(threshold) else {}
        group, site = {"group": list(self.groups)}, {"site": list(self.sites)}
        groups, sites = self.groups.values(), self.sites.values()
        weight = np.outer([g.share for g in groups], [s.share for s in sites])
        share = xr.DataArray(weight / weight.sum(), {**group, **site})
        prevalence = xr.DataArray(self.prevalences(), {**group, **site})
        shift = xr.DataArray([s.score_shift for s in sites], site) - xr.DataArray(ndtri(threshold), several)
        caught = xr.apply_ufunc(ndtr, xr.DataArray([g.positive for g in groups], group) + shift)
        alarmed = xr.apply_ufunc(ndtr, xr.DataArray([g.negative for g in groups], group) + shift)
        parts = {
            "tp": share * prevalence * caught,
            "fp": share * (1 - prevalence) * alarmed,
            "fn": share * prevalence * (1 - caught),
            "tn": share * (1 - prevalence) * (1 - alarmed),
        }
        return xr.Dataset({name: part.transpose(*several, "group", "site") for name, part in parts.items()})


def both(rate: ArrayLike | xr.DataArray, rho: float) -> Any:
    """Chance that two events of probability `rate`, from normals of correlation `rho`, both happen.

    Φ₂(h, h; ρ) = Φ(h) − 2 T(h, √((1 − ρ)/(1 + ρ))), h = Φ⁻¹(rate), T Owen's function (Owen 1956).

    Examples
    --------
    >>> both(0.5, 0.5).round(6).item(), both(0.3, 0.0).round(6).item()
    (0.333333, 0.09)
    """
    return rate - 2 * owens_t(ndtri(rate), np.sqrt((1 - rho) / (1 + rho)))
