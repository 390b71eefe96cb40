"""Sites put into folds of near-equal size, and folds of the same sizes made of random people, or of like ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.draws import HYPERGEOMETRIC, LARGEST, generator
from auditlib.counts.merge import check_whole
from auditlib.counts.patterns import Lines
from auditlib.errors import AuditInputError
from auditlib.values import listed


def folds_of_sites(
    sizes: Mapping[Any, int] | pd.Series | xr.DataArray, k: int = 20, seed: int | np.random.Generator | None = None
) -> dict[str, str]:
    """Every site in one of ``k`` folds of near-equal size.

    Sites are placed whole, the largest first, each into the fold with fewest people.

    Parameters
    ----------
    sizes : mapping or Series of site to people, or DataArray over one dim
        Whole numbers of at least 1.
    k : int
        Folds; at least 2, and at most the number of sites.
    seed : int or Generator
        Orders sites of equal size and folds that are equally empty. With sizes that all differ, every seed puts the
        same sites together.

    Returns
    -------
    dict of site to fold, "1" … "k", in the order of ``sizes``.

    Raises
    ------
    AuditInputError
        For fewer sites than folds, k < 2, sizes that are no whole numbers of at least 1 or add up to more than 2⁵³, a
        site named twice.

    References
    ----------
    Graham RL. Bounds on multiprocessing timing anomalies. SIAM J Appl Math 1969;17:416–429: the largest fold holds at
    most 4/3 of what the best partition needs.

    Examples
    --------
    >>> folds_of_sites({"A": 90, "B": 50, "C": 40, "D": 10}, k=2, seed=1)
    {'A': '1', 'B': '2', 'C': '2', 'D': '1'}
    """
    check_whole(k, "k")
    if k < 2:
        raise AuditInputError("k must be at least 2: agreement is between folds.")
    names, people = _sizes(sizes)
    if len(names) < k:
        raise AuditInputError(f"{len(names)} sites cannot fill {k} folds, as no site is split: use k of at most that.")
    rng = generator(seed)
    order = rng.permutation(len(names))
    order = order[np.argsort(-people[order], kind="stable")]
    held, fold = np.zeros(k, dtype=np.int64), np.zeros(len(names), dtype=np.int64)
    for site in order:
        emptiest = np.flatnonzero(held == held.min())
        fold[site] = rng.choice(emptiest)
        held[fold[site]] += people[site]
    return {name: str(number + 1) for name, number in zip(names, fold, strict=True)}


def in_folds(counts: Counts, k: int = 20, dim: str = "site", seed: int | np.random.Generator | None = None) -> Counts:
    """Counts whose sites are merged into ``k`` folds by ``folds_of_sites``; the dim keeps its name.

    Parameters
    ----------
    counts : Counts with `dim`, not resampled
    k, seed : as in ``folds_of_sites``
        Sizes are those of all people in the counts. Sites without anybody, as ``sel`` or a simulation may leave, are in
        no fold.

    Raises
    ------
    AuditInputError
        As ``folds_of_sites``; for replicates, or people of several sites.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1, 1, 0], "p": [0.1, 0.8, 0.6, 0.2], "site": list("abca")})
    >>> in_folds(al.count(frame, label="y", score="p", by="site"), k=2, seed=1).groups
    {'site': ('1', '2')}
    """
    people = _people(counts, dim)
    sizes = {site: size for site, size in zip(counts.groups[dim], people.tolist(), strict=True) if size}
    if len(sizes) < len(people):
        counts = counts.sel(**{dim: list(sizes)})
    folds = folds_of_sites(sizes, k, seed)
    parts: dict[str, list[str]] = {str(number + 1): [] for number in range(k)}
    for site, fold in folds.items():
        parts[fold].append(site)
    return counts.regroup(**{dim: parts})


def random_folds(
    counts: Counts,
    n: int = 200,
    dim: str = "site",
    seed: int | np.random.Generator | None = None,
    *,
    within: Sequence[str] = (),
) -> Counts:
    """``n`` times everybody in the counts dealt at random to folds of the sizes of the sites.

    What sites differ in is gone from such folds, and what is left is chance: the agreement of random folds is what the
    agreement of sites of these sizes is to be compared with. That includes who lives where: folds dealt from everybody
    have the ages and groups of all together. With `within`, people are dealt among those of the same joint group, so
    that each fold keeps its residents' groups, and folds differ in nothing but them. A deal is a draw without
    replacement from the pooled cells, fold by fold (multivariate hypergeometric), so its cost does not depend on the
    number of people.

    Parameters
    ----------
    counts : Counts with `dim`, not resampled
        With all groups that are audited: people are dealt once for all of them.
    n : int
        Deals.
    dim : str
        Sites, or folds of sites (``in_folds``). One without anybody stays empty in every deal.
    seed : int or Generator
    within : list of str
        Dims of which each fold keeps how many people it has in every joint group.

    Returns
    -------
    Counts with ``n`` replicates, in which the levels of `dim` have as many people as before.

    Raises
    ------
    AuditInputError
        For replicates, an unknown dim or one with a single level, people of several sites or of several of the joint
        groups of `within`, `dim` or a dim twice in `within`, or a result over 512 MB.

    References
    ----------
    Good P. Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed., 2005.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1, 1, 0], "p": [0.1, 0.8, 0.6, 0.2], "site": list("abaa"), "sex": list("FFMM")})
    >>> counts = al.count(frame, label="y", score="p", by=["site", "sex"], bins=10)
    >>> random_folds(counts, n=3, seed=1).by("site").histogram().sum(["label", "bin"]).sel(site="a").values
    array([3, 3, 3])
    >>> kept = random_folds(counts, n=3, seed=1, within=["sex"]).histogram().sum(["label", "bin"])
    >>> kept.sel(site="a", sex="F").values
    array([1, 1, 1])
    """
    check_whole(n, "n")
    names = listed("within", within)
    if dim in names or len(set(names)) < len(names):
        raise AuditInputError(f"within must name dims other than {dim!r}, each once, not {names!r}.")
    joint, level = _of_one(counts, names), _of_one(counts, [dim])
    column, folds = counts.column(dim), np.arange(len(counts.groups[dim]))
    if len(folds) < 2:
        raise AuditInputError(f"dealing people to folds needs at least two levels of {dim!r}, but there is 1.")
    together = counts.by(*(name for name in counts.dims if name != dim))
    pooled, group_of = together.lines, _of_one(together, names)
    patterns = pooled.units.shape[0]
    counts.check_bytes(n * len(folds) * patterns)
    if pooled.units.sum() >= HYPERGEOMETRIC:
        most = f"fewer than {HYPERGEOMETRIC:,} people, not {pooled.units.sum():,}"
        raise AuditInputError(f"random folds are dealt from {most}.")
    people = np.zeros((int(joint.max(initial=0)) + 1, len(folds)), dtype=np.int64)
    np.add.at(people, (joint, level), counts.lines.units)
    units, rng = np.zeros((n, len(folds), patterns), dtype=np.int64), generator(seed)
    for group in np.unique(group_of):
        members = np.flatnonzero(group_of == group)
        for deal in range(n):
            units[deal][:, members] = _dealt(pooled.units[members], people[group], rng)
    cells = np.insert(np.tile(pooled.cells, (len(folds), 1)), column, np.repeat(folds, len(pooled.n)), axis=1)
    pattern = (folds[:, None] * patterns + pooled.pattern).reshape(-1)
    lines = Lines(pattern, cells, np.tile(pooled.n, len(folds)), units.reshape(n, -1))
    return replace(counts, lines=lines)


def _dealt(units: np.ndarray, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(folds, patterns) of one deal; the last fold is what is left."""
    found = np.zeros((len(people), len(units)), dtype=np.int64)
    left = units.copy()
    for fold, size in enumerate(people[:-1]):
        found[fold] = rng.multivariate_hypergeometric(left, size, method="marginals")
        left -= found[fold]
    found[-1] = left
    return found


def _of_one(counts: Counts, dims: Sequence[str]) -> np.ndarray:
    """The joint level of ``dims`` of each pattern, as one number; each unit must be of one."""
    if not isinstance(counts, Counts):
        raise AuditInputError(f"folds are made of Counts, as count(…) makes them, not {type(counts).__name__}.")
    if counts.resampled:
        raise AuditInputError("these counts are replicates already; make folds of the original counts.")
    lines, level = counts.lines, np.zeros(len(counts.lines.n), dtype=np.int64)
    for name in dims:
        column = counts.column(name)
        level = level * len(counts.groups[name]) + lines.cells[:, column]
    first = np.zeros(lines.units.shape[0], dtype=np.int64)
    first[lines.pattern[::-1]] = level[::-1]
    mixed = np.unique(lines.pattern[level != first[lines.pattern]])
    if mixed.size:
        raise AuditInputError(
            f"{int(lines.units[mixed].sum()):,} of {counts.n_units:,} units ({counts.unit}) are in several levels of "
            f"{' × '.join(map(repr, dims))}, so they cannot be put into one fold; count a unit of each apart."
        )
    return first


def _people(counts: Counts, dim: str) -> np.ndarray:
    """Units of each level of ``dim``; each unit must be of one level."""
    level = _of_one(counts, [dim])
    return np.bincount(level, weights=counts.lines.units, minlength=len(counts.groups[dim])).astype(np.int64)


def _sizes(sizes: Any) -> tuple[list[str], np.ndarray]:
    """Names and numbers of people."""
    if isinstance(sizes, xr.DataArray):
        if sizes.ndim != 1 or sizes.dims[0] not in sizes.coords:
            raise AuditInputError("sizes must be over one dim, with the sites' names as its coordinate.")
        sizes = sizes.to_series()
    if not isinstance(sizes, Mapping | pd.Series):
        raise AuditInputError(f"sizes must be a dict or Series of site to people, not {type(sizes).__name__}.")
    names = [str(name) for name in sizes.keys()]  # noqa: SIM118 (a Series runs over its values)
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise AuditInputError(f"sizes: the site {min(twice)!r} is named twice.")
    held = listed("sizes", sizes.values() if isinstance(sizes, Mapping) else sizes.to_numpy(), "numbers")
    people = np.asarray(held) if all(np.ndim(size) == 0 for size in held) else np.empty(0, dtype=object)
    whole = people.dtype.kind in "iu" or (people.dtype.kind == "f" and bool((people == np.floor(people)).all()))
    if not whole or not (people >= 1).all() or not np.isfinite(people).all():
        raise AuditInputError(f"sizes must be whole numbers of at least 1, not {held!r:.80}.")
    if sum(map(int, people.tolist())) > LARGEST:  # Python's own integers cannot overflow
        raise AuditInputError(f"sizes add up to more than 2**53 people: {held!r:.80}.")
    return names, people.astype(np.int64)
