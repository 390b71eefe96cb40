"""Draws from a cohort: patients on the leading axes, the rows each may have on the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from auditlib.simulate.cohort import Cohort

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

CELLS = ("tp", "fp", "fn", "tn")
CHUNK = 1 << 22  # latent values held at once


def frame(cohort: Cohort, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows of n patients in long form."""
    shares = np.array([g.share for g in cohort.groups.values()])
    group = rng.choice(len(shares), n, p=shares / shares.sum())
    site, label, latent, real = draw(cohort, group, rng)
    patient = np.broadcast_to(np.arange(n)[:, None], label.shape)[real]
    return pd.DataFrame(
        {
            "group": np.array(list(cohort.groups), dtype=object)[group[patient]],
            "site": np.array(list(cohort.sites), dtype=object)[site[patient]],
            "patient": patient,
            "label": label[real].astype("int64"),
            "score": ndtr(latent[real]),
        }
    )


def tables(
    cohort: Cohort,
    n_audits: int,
    sizes: Sequence[int],
    threshold: float,
    rng: np.random.Generator,
    per_patient: bool,
) -> NDArray[np.int32]:
    """tp, fp, fn, tn (first axis) over audit, group and, if asked for, patient."""
    shape = (4, n_audits, len(sizes)) + ((max(sizes),) if per_patient else ())
    cells = np.zeros(shape, dtype=np.int32)
    for g, size in enumerate(sizes):
        for audits, tallies in _tallies(cohort, g, n_audits, size, threshold, rng):
            if per_patient:
                cells[:, audits, g, :size] = tallies
            else:
                cells[:, audits, g] = tallies.sum(axis=-1)
    return cells


def _tallies(
    cohort: Cohort, group: int, n_audits: int, n: int, threshold: float, rng: np.random.Generator
) -> Iterator[tuple[slice, Whole]]:
    """A few audits at a time: what each patient adds to tp, fp, fn and tn."""
    step = max(1, CHUNK // (n * max(cohort.encounters)))
    for start in range(0, n_audits, step):
        audits = slice(start, min(start + step, n_audits))
        _, label, latent, real = draw(cohort, np.full((audits.stop - start, n), group), rng)
        flag = latent >= ndtri(threshold)
        kinds = (label & flag, ~label & flag, label & ~flag, ~label & ~flag)
        yield audits, np.stack([(kind & real).sum(axis=-1) for kind in kinds])


def draw(cohort: Cohort, group: Whole, rng: np.random.Generator) -> tuple[Whole, Flags, Floats, Flags]:
    """Site of each patient; label, latent and existence of each row it may have."""
    shares = np.array([s.share for s in cohort.sites.values()])
    site = rng.choice(len(shares), group.shape, p=shares / shares.sum())
    numbers, chances = cohort.row_numbers()
    real = np.arange(numbers.max()) < rng.choice(numbers, group.shape, p=chances)[..., None]
    cause = _shared(rng, real.shape, cohort.rho_label)
    label = cause < ndtri(cohort.prevalences()[group, site])[..., None]
    means = np.array([[g.negative, g.positive] for g in cohort.groups.values()])
    shift = np.array([s.score_shift for s in cohort.sites.values()])[site]
    latent = means[group[..., None], label.astype(int)] + shift[..., None]
    return site, label, latent + _shared(rng, real.shape, cohort.rho), real


def _shared(rng: np.random.Generator, shape: tuple[int, ...], rho: float) -> Floats:
    """Standard normals whose correlation along the last axis is rho."""
    own = rng.standard_normal(shape)
    if rho == 0:
        return own
    return np.sqrt(rho) * rng.standard_normal((*shape[:-1], 1)) + np.sqrt(1 - rho) * own
