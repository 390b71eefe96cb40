"""Sums over the cells and hospitals of a simulated cohort, block by block: of these are its truth and its counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr

Floats = NDArray[np.float64]

BLOCK = 1 << 21  # chances held at once
NORMAL = np.linspace(-9, 9, 401)  # points of the quadrature over the normal law
SITE = "site"


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells over some axes, and hospitals in all of which the cells have the same shares.

    Parameters
    ----------
    axes : names of the axes of ``share`` and ``rate``
    share, rate : share of stays of each cell, and of long ones among them where hospitals are alike
    slope : d, distance of the latents of long stays and others
    site_share, prevalence_shift, score_shift : one number a hospital; shifts in logits
    """

    axes: tuple[str, ...]
    share: Floats
    rate: Floats
    slope: float
    site_share: Floats
    prevalence_shift: Floats
    score_shift: Floats

    def tails(self, thresholds: Sequence[float] | Floats, dims: Sequence[str]) -> Floats:
        """Share of all stays with each label, in each group, and with score ≥ threshold: (label, *dims, threshold)."""
        with np.errstate(divide="ignore"):
            cuts = logit(np.asarray(thresholds, dtype=np.float64)) / self.slope
        return self._sums(dims, len(cuts), lambda latent: ndtr(latent[..., None] - cuts))

    def score_sums(self, dims: Sequence[str]) -> Floats:
        """Mean score of the stays with each label and in each group, times their share: (label, *dims)."""
        weight = np.exp(-(NORMAL**2) / 2)
        weight /= weight.sum()

        def means(latent: Floats) -> Floats:
            return np.asarray(expit(self.slope * (latent[..., None] + NORMAL)) @ weight)[..., None]

        return self._sums(dims, 1, means, len(NORMAL))[..., 0]

    def _sums(
        self, dims: Sequence[str], size: int, values: Callable[[Floats], Floats], width: int | None = None
    ) -> Floats:
        """Σ of mass × ``values`` of the mean latent over all axes but ``dims``."""
        ordered = [axis for axis in (*self.axes, SITE) if axis in dims]
        alike = not self.prevalence_shift.any() and not self.score_shift.any()
        if alike and SITE in dims:
            pooled = self._sums(ordered[:-1], size, values, width)
            found = pooled[..., None, :] * self.site_share[:, None]
        else:
            found = self._over_sites(ordered, size, values, width or size, pooled=alike)
        return np.moveaxis(found, [1 + ordered.index(dim) for dim in dims], range(1, 1 + len(dims)))

    def _over_sites(
        self, ordered: list[str], size: int, values: Callable[[Floats], Floats], width: int, pooled: bool
    ) -> Floats:
        lengths = dict(zip(self.axes, self.share.shape, strict=True)) | {SITE: len(self.site_share)}
        found = np.zeros((2, *(lengths[dim] for dim in ordered), size))
        drop = tuple(axis for axis, name in enumerate((*self.axes, SITE)) if name not in ordered)
        for sites, share, prevalence_shift, score_shift in self._blocks(width, pooled):
            base = logit(self.rate)[..., None]
            long = expit(base + prevalence_shift)
            for label, sign in ((0, -1), (1, 1)):
                mass = self.share[..., None] * share * (long if label else 1 - long)
                latent = (base + score_shift) / self.slope + sign * self.slope / 2
                held = (mass[..., None] * values(latent)).sum(axis=drop)
                if SITE in ordered:
                    found[label][..., sites, :] += held
                else:
                    found[label] += held
        return found

    def _blocks(self, width: int, pooled: bool) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Hospitals few at a time; a single one for all where they are alike and not told apart."""
        if pooled:
            yield slice(0, 1), np.ones(1), np.zeros(1), np.zeros(1)
            return
        step = max(1, BLOCK // (self.share.size * width))
        for start in range(0, len(self.site_share), step):
            sites = slice(start, start + step)
            yield sites, self.site_share[sites], self.prevalence_shift[sites], self.score_shift[sites]


def slope_of(auroc: float, share: Floats, rate: Floats) -> float:
    """d with which all stays together have this AUROC, Σ w₁ᵢ w₀ⱼ Φ((aᵢ − aⱼ + d²)/(d√2)); 0 if even d → 0 gives more.

    aᵢ is the logit of the rate of cell i, w₁ and w₀ are the shares of cells among long stays and others.
    """
    share, rate = share.ravel(), rate.ravel()
    apart = np.subtract.outer(logit(rate), logit(rate))
    pairs = np.outer(share * rate, share * (1 - rate))
    pairs /= pairs.sum()

    def excess(d: float) -> float:
        return float((pairs * ndtr((apart + d**2) / (d * np.sqrt(2)))).sum()) - auroc

    return float(brentq(excess, 1e-6, 50, xtol=1e-13)) if excess(1e-6) < 0 else 0.0
