"""A cohort like the Texas one: 441 hospitals, four attributes, and an audit whose result is known in closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit, logit

from auditlib import metrics
from auditlib.counts import Counts
from auditlib.counts.edges import check_bins, check_threshold, make_edges
from auditlib.counts.patterns import Lines
from auditlib.errors import AuditInputError
from auditlib.simulate import draws
from auditlib.simulate.cohort import Cohort
from auditlib.simulate.hospital_cells import SITE, Cells, slope_of
from auditlib.simulate.parameters import Group, Site, generator, need, whole
from auditlib.simulate.texas_facts import LEVELS, SITES, cell_rates, checked_rates, shares, site_shares
from auditlib.values import listed

Floats = NDArray[np.float64]
MAX_CELLS = 1 << 23  # of a table of counts


@dataclass(frozen=True)
class Hospitals:
    """Stays in hospitals of uneven sizes, long or not, with a score of chosen discrimination.

    A stay belongs to a cell c of race × sex × ethnicity × age and to a hospital s. It is long with probability π_cs,
    logit π_cs = logit π_c + u_s; its score is expit(logit π_c + d·z + v_s), z ~ N(±d/2, 1) with + for long stays.
    Where u_s = v_s = 0 the score is the stay's risk given c and z, so that it is calibrated in every group.
    π_c adds up over attributes on the logit scale and gives each group its published share of long stays; how groups
    overlap and how large they and the hospitals are is published as well, in part (``texas_facts``).

    Parameters
    ----------
    auroc : float
        Area under the ROC curve of all stays where hospitals are alike, in (.5, 1); d follows from it. Base rates alone
        give .69, less cannot be asked for.
    rates : mapping of attribute to mapping of level to float
        Shares of long stays in place of the published ones. Those of age set the total; others are scaled to it.
    sites : int
        Hospitals.
    prevalence_sd, score_sd : float
        Standard deviation, over hospitals, of u_s and v_s (both in logits). 0: hospitals are alike.
    site_seed : int
        Which u_s and v_s these are.

    Raises
    ------
    AuditInputError
        When a parameter lies outside its range; the message names it.

    Examples
    --------
    >>> texas = Hospitals()
    >>> texas.truth(0.5, by="age")["prevalence"].round(3).values.tolist()
    [0.403, 0.207, 0.418, 0.606]
    >>> texas.counts(10_000_000, seed=1, by=["sex"], bins=20).n_rows
    10000000
    """

    auroc: float = 0.9528
    rates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sites: int = SITES
    prevalence_sd: float = 0.0
    score_sd: float = 0.0
    site_seed: int = 0

    def __post_init__(self) -> None:
        need("auroc", self.auroc, 0.5, 1)
        sites = whole("sites", self.sites)
        need("prevalence_sd", self.prevalence_sd, 0, 10, closed=True)
        need("score_sd", self.score_sd, 0, 10, closed=True)
        seed = self.site_seed
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise AuditInputError(f"site_seed = {seed!r}: give a whole number of at least 0.")
        # Plain numbers, and rates of its own: what is changed in the dict that was given changes nothing here.
        rates = {name: dict(own) for name, own in checked_rates(self.rates).items() if name in self.rates}
        plain = {name: float(getattr(self, name)) for name in ("auroc", "prevalence_sd", "score_sd")}
        for name, value in {**plain, "sites": sites, "site_seed": int(seed), "rates": rates}.items():
            object.__setattr__(self, name, value)
        if self.slope <= 0:
            raise AuditInputError(f"auroc = {self.auroc!r}: base rates alone give more; ask for a larger one.")

    @cached_property
    def cohort(self) -> Cohort:
        """The same as a ``Cohort`` of 80 groups, numbered by cell, whose latents are logits of the score over d."""
        half, cells = self.slope / 2, zip(self._rate.ravel(), shares().ravel(), strict=True)
        groups = {}
        for number, (rate, share) in enumerate(cells):
            at = float(logit(rate)) / self.slope
            groups[str(number)] = Group(float(rate), at + half, at - half, float(share))
        held = zip(self.names, *self.shifts, site_shares(self.sites), strict=True)
        return Cohort(groups, {name: Site(float(u), float(v / self.slope), float(share)) for name, u, v, share in held})

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the hospitals, the largest first."""
        width = max(3, len(str(self.sites)))
        return tuple(f"H{number:0{width}d}" for number in range(1, self.sites + 1))

    @cached_property
    def shifts(self) -> tuple[Floats, Floats]:
        """u_s and v_s: normal draws, brought to a mean of 0 and the standard deviation asked for."""
        drawn = generator(self.site_seed).standard_normal((2, self.sites))
        drawn -= drawn.mean(axis=1, keepdims=True)
        drawn /= np.maximum(drawn.std(axis=1, keepdims=True), 1e-12)
        return self.prevalence_sd * drawn[0], self.score_sd * drawn[1]

    @cached_property
    def slope(self) -> float:
        """d: how far long stays lie from others, in standard deviations of z."""
        return slope_of(self.auroc, shares(), self._rate)

    @cached_property
    def _rate(self) -> Floats:
        """π_c over race, sex, ethnicity and age."""
        return cell_rates(self.rates)

    @cached_property
    def _cells(self) -> Cells:
        return Cells(tuple(LEVELS), shares(), self._rate, self.slope, site_shares(self.sites), *self.shifts)

    def site_sizes(self, n: int) -> dict[str, int]:
        """Stays to be expected in each hospital, of ``n``: whole numbers by largest remainder, which add up to ``n``.

        >>> list(Hospitals().site_sizes(925_128).items())[:2]
        [('H001', 13440), ('H002', 13218)]
        """
        exact = whole("n", n) * site_shares(self.sites)
        sizes = np.floor(exact).astype(int)
        sizes[np.argsort(sizes - exact, kind="stable")[: n - sizes.sum()]] += 1
        return dict(zip(self.names, sizes.tolist(), strict=True))

    def truth(self, threshold: float | Sequence[float], *, by: str | Sequence[str] = "race") -> xr.Dataset:
        """What an infinitely large audit would find.

        Parameters
        ----------
        threshold : float or sequence of float
            In [0, 1]; several give a dim ``threshold``.
        by : subset of {"race", "sex", "ethnicity", "age", "site"}
            Dims to keep; over the others stays are pooled.

        Returns
        -------
        xarray.Dataset
            tp, fp, fn, tn (shares of all stays, adding up to 1) and the rates that these make.

        Examples
        --------
        >>> Hospitals().truth([0.3, 0.5], by=["sex", "age"])["sensitivity"].dims
        ('threshold', 'sex', 'age')
        """
        dims = self._dims(by)
        asked = [check_threshold(t) for t in np.ravel(threshold).tolist()]
        tails = self._cells.tails([0.0, *asked], dims)
        everybody, flagged = tails[..., :1], tails[..., 1:]
        parts = {"tp": flagged[1], "fp": flagged[0], "fn": (everybody - flagged)[1], "tn": (everybody - flagged)[0]}
        coords = {"threshold": asked, **{dim: list(self._levels(dim)) for dim in dims}}
        order = ["threshold", *dims]
        cells = xr.Dataset({name: (order, np.moveaxis(part, -1, 0)) for name, part in parts.items()}, coords)
        cells = cells if np.ndim(threshold) else cells.isel(threshold=0, drop=True)
        return cells.assign({name: getattr(metrics, name)(cells) for name in metrics.RATES})

    def verdict_metrics(self, threshold: float | Sequence[float], dim: str) -> xr.Dataset:
        """The seven metrics of an infinitely large audit of one attribute: DI, SPD, EOpp, EOD, PP, TI and Cal.

        Cal is of the scores themselves; read at the midpoints of bins, as from ``counts``, it is off by 1/bins at most.

        Returns
        -------
        xarray.Dataset
            Over ``threshold``, where several are given.

        Examples
        --------
        >>> found = Hospitals().verdict_metrics(0.5, "sex")
        >>> round(float(found.SPD), 3), round(float(found.Cal), 3)
        (0.118, 0.0)
        """
        table = self.truth(threshold, by=[dim])
        sensitivity, selected = metrics.spread(table["sensitivity"], dim), table["selection_rate"]
        error = self.mean_scores(dim) - table["prevalence"]
        return xr.Dataset(
            {
                "DI": metrics.ratio(selected, dim),
                "SPD": metrics.spread(selected, dim),
                "EOpp": sensitivity,
                "EOD": np.maximum(sensitivity, metrics.spread(table["false_positive_rate"], dim)),
                "PP": metrics.spread(table["ppv"], dim),
                "TI": metrics.theil(table, dim),
                "Cal": metrics.spread(error, dim),
            }
        )

    def mean_scores(self, dim: str) -> xr.DataArray:
        """Mean score of each group of an attribute, or of each hospital, by quadrature."""
        dims = self._dims([dim])
        people = self._cells.tails([0.0], dims)[..., 0].sum(axis=0)
        found = self._cells.score_sums(dims).sum(axis=0) / people
        return xr.DataArray(found, {dim: list(self._levels(dim))}, [dim])

    def frame(self, n: int, seed: int | np.random.Generator | None = None) -> pd.DataFrame:
        """`n` stays: label (1 if long), score, race, sex, ethnicity, age and site, the last five as categories.

        Examples
        --------
        >>> Hospitals().frame(100, seed=1).columns.tolist()
        ['label', 'score', 'race', 'sex', 'ethnicity', 'age', 'site']
        """
        n, rng, share = whole("n", n), generator(seed), shares()
        cell = rng.choice(share.size, n, p=share.ravel())
        site, label, latent, _ = draws.draw(self.cohort, cell, rng)
        columns = {"label": label[:, 0].astype(np.int64), "score": expit(self.slope * latent[:, 0])}
        codes = dict(zip(LEVELS, np.unravel_index(cell, share.shape), strict=True)) | {SITE: site}
        kinds = {name: pd.CategoricalDtype(list(self._levels(name)), ordered=True) for name in codes}
        return pd.DataFrame(
            columns | {name: pd.Categorical.from_codes(code, dtype=kinds[name]) for name, code in codes.items()}
        )

    def counts(
        self,
        n: int,
        seed: int | np.random.Generator | None = None,
        *,
        by: str | Sequence[str] = tuple(LEVELS),
        bins: int = 100,
        thresholds: Sequence[float] = (),
    ) -> Counts:
        """Counts of `n` stays, drawn as one multinomial over cells: in distribution those of ``frame``, without rows.

        Parameters
        ----------
        n : int
        seed : int or Generator
        by : subset of {"race", "sex", "ethnicity", "age", "site"}
            All levels are there, also those without a stay.
        bins, thresholds : as in ``auditlib.count``

        Raises
        ------
        AuditInputError
            For more than 2²³ cells, as of all five dims at 200 bins.

        Examples
        --------
        >>> Hospitals().counts(1000, seed=1, by=["race", "age"], bins=20)
        <Counts: 1,000 rows, 243 patterns in 243 lines; label = 1; 21 score bins (grid)>
          race: Native American, Asian, Black, White, Other
          age: <18, 18–39, 40–64, 65+
        """
        dims, n, rng = self._dims(by), whole("n", n), generator(seed)
        groups = {dim: self._levels(dim) for dim in dims}
        cuts = listed("thresholds", thresholds, "numbers")
        edges = make_edges(check_bins(bins), [check_threshold(t) for t in cuts], ("float64",))
        size = 2 * len(edges) * int(np.prod([len(levels) for levels in groups.values()]))
        if size > MAX_CELLS:
            raise AuditInputError(f"by and bins make {size:,} cells, over {MAX_CELLS:,}: name fewer groups or bins.")
        tails = self._cells.tails(edges.lower, dims)
        chance = np.moveaxis(-np.diff(tails, axis=-1, append=0.0), 0, -2).clip(min=0)
        drawn = rng.multinomial(n, chance.ravel() / chance.sum()).reshape(chance.shape)
        cells = np.argwhere(drawn)
        lines = Lines(np.arange(len(cells)), cells, np.ones(len(cells), np.int64), drawn[tuple(cells.T)])
        return Counts(groups, edges, (), "label", "1", "row", lines, self._origin(n, seed))

    def _origin(self, n: int, seed: Any) -> dict[str, Any]:
        names = ("auroc", "sites", "prevalence_sd", "score_sd", "site_seed")
        told = {name: getattr(self, name) for name in names} | {"rates": {k: dict(v) for k, v in self.rates.items()}}
        kept = int(seed) if isinstance(seed, int | np.integer) else None
        return {"study": "simulated hospitals", "n": n, "seed": kept, **told}

    def _levels(self, dim: str) -> tuple[str, ...]:
        return self.names if dim == SITE else LEVELS[dim]

    def _dims(self, by: str | Sequence[str]) -> list[str]:
        dims = [by] if isinstance(by, str) or not np.iterable(by) else list(by)
        if not all(dim in (*LEVELS, SITE) for dim in dims) or len(set(dims)) < len(dims):
            raise AuditInputError(f"by = {by!r}: choose from {', '.join((*LEVELS, SITE))}, each once.")
        return dims
