"""``Counts``: the table that an audit is a function of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts import confusions, draws, merge
from auditlib.counts.edges import Edges
from auditlib.counts.patterns import Lines, collapse
from auditlib.counts.thresholds import Thresholds, all_thresholds, as_thresholds
from auditlib.errors import AuditInputError

SMALL = 5
MAX_BYTES = 512 * 1024**2


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """How many patients of each label fall in each score bin of each group: all that an audit needs.

    Made by :func:`auditlib.count` or read by :meth:`read_csv`; never changed, every method returns a new one.

    Parameters
    ----------
    groups : dict of str to tuple of str
        Levels of each group dimension, in order.
    edges : Edges
        Lower edges of the score bins.
    models : tuple of str
        Names of the score columns where there are several; empty for one.
    label, positive, unit : str
        Label column, the value that counts as positive, and what is resampled (``row`` or a cluster column).
    lines : Lines
        The patterns.
    provenance : dict
        Where the numbers come from; travels with the table.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame(
    ...     {"died": [1, 1, 0, 0], "risk": [0.9, 0.2, 0.6, 0.1], "sex": ["F", "M", "F", "M"]}
    ... )
    >>> counts = al.count(frame, label="died", score="risk", by="sex", thresholds=[0.5])
    >>> counts.at(0.5)["tp"].sel(sex="F").item()
    1
    """

    groups: Mapping[str, tuple[str, ...]]
    edges: Edges
    models: tuple[str, ...]
    label: str
    positive: str
    unit: str
    lines: Lines
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dims(self) -> tuple[str, ...]:
        """Group dimensions."""
        return tuple(self.groups)

    @property
    def resampled(self) -> bool:
        """Whether this holds replicates."""
        return self.lines.units.ndim == 2

    @property
    def clustered(self) -> bool:
        """Whether a unit is more than a row."""
        return self.unit != "row"

    @property
    def n_units(self) -> Any:
        """Units (patients, or rows): an int, or one number a replicate where resampled."""
        return self.lines.units.sum(axis=-1) if self.resampled else int(self.lines.units.sum())

    @property
    def n_rows(self) -> Any:
        """Rows counted: an int, or one number a replicate where resampled."""
        return self.lines.rows().sum(axis=-1) if self.resampled else int(self.lines.rows().sum())

    @property
    def thresholds(self) -> list[float]:
        """Thresholds that are edges beyond those of the grid."""
        return [value for value in self.edges.extra if value > 0]

    def __repr__(self) -> str:
        unit = "rows" if self.unit == "row" else f"units ({self.unit})"
        shape = f"{self.lines.units.shape[0]:,} replicates of " if self.resampled else ""
        levels = "".join(f"\n  {dim}: {', '.join(names)}" for dim, names in self.groups.items())
        models = f"\n  model: {', '.join(self.models)}" if self.models else ""
        units = "" if self.resampled else f"{self.n_rows:,} rows, "
        units += f"{self.n_units:,} {unit}, " if self.clustered and not self.resampled else ""
        return (
            f"<Counts: {shape}{units}{self.lines.units.shape[-1]:,} patterns in {len(self.lines.n):,} lines; "
            f"{self.label} = {self.positive}; {len(self.edges)} score bins ({self.edges.kind})>{levels}{models}"
        )

    def to_frame(self) -> pd.DataFrame:
        """The long table: pattern, units, groups, label, bin (its lower edge; one a model) and n."""
        if self.resampled:
            raise AuditInputError("replicates have no single table; use .at(threshold) or the unresampled counts.")
        lines, columns = self.lines, len(self.groups)
        table: dict[str, Any] = (
            {"pattern": lines.pattern, "units": lines.units[lines.pattern]} if self.clustered else {}
        )
        for column, (dim, levels) in enumerate(self.groups.items()):
            table[dim] = np.array(levels, dtype=object)[lines.cells[:, column]]
        table["label"] = lines.cells[:, columns]
        for column, name in enumerate(self.bin_columns, start=columns + 1):
            table[name] = self.edges.lower[lines.cells[:, column]]
        table["n"] = lines.n if self.clustered else lines.rows()
        return pd.DataFrame(table)

    @property
    def bin_columns(self) -> list[str]:
        """Names of the bin columns of the long table."""
        return [f"bin.{name}" for name in self.models] or ["bin"]

    def small_cells(self) -> int:
        """Cells (lines of the long table) that hold fewer than 5 rows in all."""
        return int((self.lines.rows() < SMALL).sum())

    def column(self, dim: str) -> int:
        """Position of a group dimension, or an error that names those there are."""
        if not isinstance(dim, str) or dim not in self.groups:
            raise AuditInputError(f"{dim!r} is not a group here; there are: {', '.join(self.groups) or 'none'}.")
        return list(self.groups).index(dim)

    def _with(self, cells: np.ndarray, keep: np.ndarray | None = None, **changes: Any) -> Counts:
        return replace(self, lines=self.lines.replace_cells(cells, keep), **changes)

    def by(self, *dims: str) -> Counts:
        """Counts by ``dims`` alone, other groups summed over."""
        columns = [self.column(dim) for dim in dims]
        if len(set(columns)) < len(columns):
            raise AuditInputError(f"a group is named twice in by({', '.join(map(repr, dims))}).")
        rest = list(range(len(self.groups), self.lines.cells.shape[1]))
        return self._with(self.lines.cells[:, columns + rest], groups={dim: self.groups[dim] for dim in dims})

    def sel(self, /, **groups: str | Sequence[str]) -> Counts:
        """Only the named levels; a single level drops its dimension, as in xarray."""
        keep = np.ones(len(self.lines.n), dtype=bool)
        cells, levels = self.lines.cells.copy(), dict(self.groups)
        dropped: list[int] = []
        for dim, wanted in groups.items():
            column = self.column(dim)
            single = np.ndim(wanted) == 0
            names = [str(wanted)] if single else [str(name) for name in wanted]
            old = merge.positions(dim, names, self.groups[dim])
            code = np.full(len(self.groups[dim]), -1)
            code[old] = np.arange(len(old))
            cells[:, column] = code[self.lines.cells[:, column]]
            keep &= cells[:, column] >= 0
            levels[dim] = tuple(names)
            if single:
                dropped.append(column)
                del levels[dim]
        return self._with(np.delete(cells, dropped, axis=1), keep, groups=levels)

    def regroup(self, /, **groups: Mapping[str, Iterable[str]]) -> Counts:
        """Levels merged: ``regroup(age={"18–44": ["18–24", "25–44"]})``; levels not named stay as they are."""
        cells, levels = self.lines.cells.copy(), dict(self.groups)
        for dim, parts in groups.items():
            column = self.column(dim)
            levels[dim], code = merge.regrouping(dim, parts, self.groups[dim])
            cells[:, column] = code[cells[:, column]]
        return self._with(cells, groups=levels)

    def as_rows(self) -> Counts:
        """The same counts with every row a unit of its own, as if the rows of one patient were independent."""
        size = len(self.lines.n)
        rows = collapse(np.arange(size), self.lines.cells, np.ones(size, np.int64), self.lines.rows())
        return replace(self, unit="row", lines=rows)

    def cut(self, thresholds: Thresholds) -> Counts:
        """Bins merged to what ``thresholds`` need; AUROC and calibration can then no longer be had."""
        keep = [self.edges.index(value) for value in all_thresholds(thresholds)]
        edges, new = self.edges.cut(keep)
        first, held = len(self.groups) + 1, self.lines.cells
        return self._with(np.hstack([held[:, :first], new[held[:, first:]]]), edges=edges)

    def at(self, threshold: Thresholds) -> xr.Dataset:
        """Confusion counts when patients with ``score >= threshold`` are flagged.

        Parameters
        ----------
        threshold : float, list of float, DataArray over group dims, or dict of level to float
            A list gives a ``threshold`` dim. The dict is for a table with one group dim left.

        Returns
        -------
        Dataset of int64 ``tp``, ``fp``, ``fn``, ``tn`` over (replicate, *groups, model, threshold), as present.
        With clusters the coordinate ``unit_moments`` holds Σ over units of the outer product of a unit's
        (tp, fp, fn, tn, 1), from which intervals take the effective sample size.

        Raises
        ------
        AuditInputError
            If a threshold is no edge (the nearest are named), lacks a level or names an unknown one.
        """
        return confusions.confusion_at(self, as_thresholds(self, threshold))

    def histogram(self) -> xr.DataArray:
        """Rows by label and score bin: int64 over (replicate, *groups, model, label, bin), as present."""
        return confusions.histogram(self)

    def resample(
        self,
        n: int,
        strata: str | Sequence[str] = (),
        size: int | None = None,
        replace: bool = True,
        seed: int | np.random.Generator | None = None,
    ) -> Counts:
        """``n`` bootstrap samples of units, as Counts with replicates.

        Resampling rows with replacement *is* a multinomial draw of patterns, so nothing of size
        replicates × rows is ever made.

        Parameters
        ----------
        n : int
            Replicates.
        strata : names of groups, or "label"
            Units are drawn within strata whose sizes stay fixed. A unit belongs to the set of levels it touches.
        size : int, optional
            Units a sample, shared over strata in proportion (largest remainder); all of them by default.
        replace : bool
            False draws subsamples without replacement.
        seed : int or Generator
            For numpy.random.default_rng.

        Raises
        ------
        AuditInputError
            If already resampled, if a stratum is unknown, if ``label`` is asked for and units hold both labels,
            if ``size`` is impossible, or if the replicates would pass 512 MB.

        References
        ----------
        Field CA, Welsh AH. Bootstrapping clustered data. J R Stat Soc B 2007;69:369–390.
        """
        lines = draws.resample(self, n, strata, size, replace, seed)
        return Counts(**{**self.__dict__, "lines": lines})

    def check_bytes(self, cells: int) -> None:
        """An error if a dense result of ``cells`` numbers would pass 512 MB."""
        if cells * 8 > MAX_BYTES:
            raise AuditInputError(
                f"the result would take {cells * 8 / 1024**2:,.0f} MB, over the limit of 512 MB. Keep only the "
                f"groups needed with .by(…) (now: {', '.join(self.groups) or 'none'}) and only the thresholds "
                f"needed with .cut(…) (now: {len(self.edges)} bins), or ask for fewer replicates."
            )

    def __add__(self, other: Counts) -> Counts:
        """Counts of both, exactly; edges, score types, label and unit kind must agree."""
        return merge.add(self, other)

    def __radd__(self, other: object) -> Counts:
        return self if other == 0 else NotImplemented  # so that sum([a, b]) works

    def with_provenance(self, /, **facts: Any) -> Counts:
        """The same counts with ``facts`` added to where they come from."""
        return replace(self, provenance={**self.provenance, **facts})

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Write format 1 (all or nothing); without a path, return the text."""
        from auditlib.counts import write

        return write.write(self, path)

    @classmethod
    def read_csv(cls, path: str | Path | IO[str]) -> Counts:
        """Read what :meth:`to_csv` wrote; an error if it was cut short or edited."""
        from auditlib.counts import files

        return files.read(path)
