"""A declared grid of analyst choices."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from auditlib.errors import AuditInputError

Choice = str | int | float | bool
Specification = dict[str, Choice]

#: Columns of the rows that a grid or a judge must not name.
TAKEN = ("specification", "error", "replicates")
LARGEST = 1_000_000  # specifications
NONE = " (for None a text, such as 'no limit', which the judge turns back into None)"
EXACT = 2**53  # whole numbers beyond it are not kept apart by floats


@dataclass(frozen=True)
class Grid:
    """Every combination of the choices on its axes, in one order: the last axis changes fastest.

    Parameters
    ----------
    name : str
        What the grid is about.
    axes : mapping of str to a sequence of choices
        One axis a decision; a choice is a text, number or truth value. For None, or an object, give a text and let the
        judge translate it.
    default : mapping of str to a choice, optional
        The specification that departures are counted from; the first choice of each axis that is not named.
    settings : mapping, optional
        Whatever else decides the results (row budget, seeds, versions), as plain values. Results are kept under name,
        axes, default and settings, so that those of another grid are never taken for these.

    Raises
    ------
    AuditInputError
        For an empty axis, a choice named twice (also in another spelling, such as 1 and "1": in a table they would be
        one), a default that is no choice, more than a million specifications, settings that are no plain values, and
        for names and choices that a table cannot hold: no text, empty, or with signs that cannot be printed.

    References
    ----------
    Steegen S, Tuerlinckx F, Gelman A, Vanpaemel W. Increasing transparency through a multiverse analysis.
    Perspect Psychol Sci 2016;11:702–712.

    Examples
    --------
    >>> grid = Grid("example", {"family": ["logistic", "shallow_tree"], "threshold": ["top20", 0.3]})
    >>> len(grid), grid.specifications()[1]
    (4, {'family': 'logistic', 'threshold': 0.3})
    >>> len(grid.only(family="logistic"))
    2
    """

    name: str
    axes: Mapping[str, Sequence[Choice]]
    default: Mapping[str, Choice] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _is_name(self.name):
            raise AuditInputError(f"name = {self.name!r}: give the grid a name, on one line.")
        if not isinstance(self.axes, Mapping) or not self.axes:
            raise AuditInputError("axes: give at least one axis, as {'name': [choice, choice]}.")
        axes = {axis: _choices(axis, given) for axis, given in self.axes.items()}
        if (size := math.prod(len(choices) for choices in axes.values())) > LARGEST:
            raise AuditInputError(f"{self.name}: {size:,} specifications are more than {LARGEST:,}; shorten axes.")
        if not isinstance(self.default, Mapping):
            raise AuditInputError(f"default = {self.default!r}: give one choice an axis, as {{'axis': choice}}.")
        named = {axis: _known(axes, axis, [choice])[0] for axis, choice in self.default.items()}
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "default", {axis: named.get(axis, axes[axis][0]) for axis in axes})
        object.__setattr__(self, "settings", _plain(self.settings))

    def __len__(self) -> int:
        return math.prod(len(choices) for choices in self.axes.values())

    def __iter__(self) -> Iterator[Specification]:
        for choices in itertools.product(*self.axes.values()):
            yield dict(zip(self.axes, choices, strict=True))

    def specifications(self) -> list[Specification]:
        """All of them, in order."""
        return list(self)

    def only(self, /, **choices: Choice | Sequence[Choice]) -> Grid:
        """The part of the grid with these choices, one or several an axis, in the order of this grid.

        Its default keeps the choices of this one where they are left.

        Raises
        ------
        AuditInputError
            For an axis or a choice that this grid does not have, and for none at all.
        """
        wanted = {axis: _known(self.axes, axis, _listed(given)) for axis, given in choices.items()}
        if empty := [axis for axis, given in wanted.items() if not given]:
            raise AuditInputError(f"{empty[0]}: name at least one choice of {_said(self.axes[empty[0]])}.")
        axes = {axis: [c for c in held if c in wanted.get(axis, held)] for axis, held in self.axes.items()}
        default = {axis: choice for axis, choice in self.default.items() if choice in axes[axis]}
        return Grid(self.name, axes, default, self.settings)

    @property
    def declaration(self) -> dict[str, Any]:
        """Name, axes, default and settings as plain values; orders count, since they number the specifications."""
        axes = {axis: list(choices) for axis, choices in self.axes.items()}
        return {"name": self.name, "axes": axes, "default": dict(self.default), "settings": dict(self.settings)}


def _choices(axis: object, given: object) -> tuple[Choice, ...]:
    if not _is_name(axis):
        raise AuditInputError(f"axes: {axis!r} names an axis; use a text on one line.")
    if axis in TAKEN:
        raise AuditInputError(f"axes: {axis!r} is a column of the results; give the axis another name.")
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise AuditInputError(f"{axis}: give its choices as a list, not {given!r}.")
    if not given:
        raise AuditInputError(f"{axis}: an axis without choices leaves no specification; name one or drop the axis.")
    if odd := [choice for choice in given if not _is_choice(choice)]:
        raise AuditInputError(
            f"{axis}: {_short(odd[0])} is no choice that a table can hold: give texts on one line, "
            f"numbers of usual size, or truth values{NONE if odd[0] is None else ''}."
        )
    seen: dict[Any, Choice] = {}
    for choice in given:
        keys = (choice, str(choice))
        if twins := [seen[key] for key in keys if key in seen]:
            raise AuditInputError(
                f"{axis}: {twins[0]!r} and {choice!r} are one choice, so specifications would be there twice; drop one."
            )
        seen.update((key, choice) for key in keys)
    return tuple(given)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name.strip()) and name.isprintable()


def _is_choice(choice: object) -> bool:
    if isinstance(choice, str):
        return _is_name(choice)
    return isinstance(choice, int | float) and -EXACT <= choice <= EXACT  # NaN is on neither side


def _known(axes: Mapping[str, Sequence[Choice]], axis: str, given: list[Any]) -> list[Choice]:
    if axis not in axes:
        raise AuditInputError(f"{axis!r} is no axis of this grid; the axes are {_said(axes)}.")
    found: list[Choice] = []
    for choice in given:
        choice = choice.item() if isinstance(choice, np.generic) else choice
        usual = isinstance(choice, str | int | float)
        mine = [c for c in axes[axis] if usual and c == choice and isinstance(c, bool) == isinstance(choice, bool)]
        if not mine:
            raise AuditInputError(f"{axis}: {_short(choice)} is no choice of this grid; there are {_said(axes[axis])}.")
        found += mine
    return found


def _listed(given: Any) -> list[Any]:
    if isinstance(given, np.ndarray | pd.Series | pd.Index):
        return list(np.ravel(given))
    return list(given) if isinstance(given, list | tuple | set | range) else [given]


def _plain(settings: Any) -> dict[str, Any]:
    try:
        found = json.loads(json.dumps(dict(settings), allow_nan=False))
        if any(not isinstance(key, str) for key in settings):
            raise TypeError("names must be texts")
    except (TypeError, ValueError, RecursionError) as error:
        raise AuditInputError(f"settings: {error}; give plain values (text, numbers, lists) by name.") from None
    return dict(found)


def _short(value: object) -> str:
    """A value as an error shows it: hostile ones are long, or cannot be written at all."""
    try:
        said = repr(value)
    except Exception:
        said = f"a {type(value).__name__}"
    return said if len(said) <= 60 else f"{said[:57]}…"


def _said(names: Any) -> str:
    return ", ".join(str(name) for name in names)
