"""Multiverses on a page: what the book's choices are called, an overview of several grids, controls that hold some."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.multiverse import Multiverse
from auditlib.multiverse.summaries import small_groups
from auditlib.plots import checks
from auditlib.plots.held_choices import holding, holding_words
from auditlib.plots.multiverse import ANY, LIMITS, Names
from auditlib.plots.words import points

#: What the axes and choices of ``studies.multiverse_grid`` are called on a page.
NAMES: dict[str, str] = {
    "diabetes130": "stays",
    "cdc_diabetes": "survey",
    "age_bands": "age bands",
    "hospice": "deaths",
    "missing_race": "missing race",
    "trained_on": "trained on",
    "seed": "split seed",
    "shallow_tree": "shallow tree",
    "gradient_boosting": "boosting",
    "random_forest": "forest",
    "train_prevalence": "prevalence τ",
    "top20": "top 20%",
    "0.3": "risk of 30%",
}
UNKNOWN = "–"
CELLS = tuple(f"{cell}_{group}" for cell in ("tp", "fp", "fn", "tn") for group in "ab")
NEEDED = ("n_train", "n_test", "n_a", *CELLS)


def overview(found: Mapping[str, Multiverse], counts: Mapping[str, Counts] | None = None) -> pd.DataFrame:
    """How large each multiverse is, what its specifications rest on, and how many of them on a small group.

    A group is small with under 30 positives or negatives, or a confusion count under 5 (``metrics.small``).

    Parameters
    ----------
    found : mapping of name to Multiverse
        With the columns that ``studies.gap_multiverse`` gives its rows. The younger group is ``a``.
    counts : mapping of name to Counts, optional
        Of the rows that the default specification judges, the younger group first: what the multiverse's rows do not
        say, how many patients these are. Where a patient has several, the rows are called stays.

    Returns
    -------
    DataFrame of texts, a column a multiverse; "–" where no counts were given.

    Raises
    ------
    AuditInputError
        For missing columns, counts of no multiverse here, over no single group, or of other rows than those judged.

    Examples
    --------
    >>> from auditlib import studies
    >>> survey = studies.committed_multiverse("cdc_diabetes")
    >>> overview({"survey": survey}).loc[["specifications", "with a small group"], "survey"].tolist()
    ['864', '288']
    """
    counts = counts or {}
    if unknown := [name for name in counts if name not in found]:
        raise AuditInputError(f"counts of {unknown[0]!r}: there are multiverses of {', '.join(found) or 'nothing'}.")
    table = pd.DataFrame({name: _summary(one, counts.get(name)) for name, one in found.items()})
    return table[(table != UNKNOWN).any(axis=1)]


def in_points(table: pd.DataFrame, form: str = "+.1f") -> pd.Series:
    """Estimates with their intervals in percentage points, a text a row.

    Parameters
    ----------
    table : DataFrame
        ``estimate``, ``low``, ``high``, such as ``run_multiverse(…).rows``.
    form : str
        Format of one number.

    Raises
    ------
    AuditInputError
        For missing columns.

    Examples
    --------
    >>> rows = pd.DataFrame({"estimate": [0.1, None], "low": [-0.1, None], "high": [0.3, None]})
    >>> in_points(rows).tolist()
    ['+10.0 (−10.0 to +30.0)', 'undefined']
    """
    checks.columns(table, LIMITS, "run_multiverse(…).rows")
    numbers = table[list(LIMITS)].reset_index(drop=True).rename_axis("row")
    found: pd.Series = points(numbers.to_xarray(), form)
    return found.set_axis(table.index)


def controls(
    rows: pd.DataFrame, axes: Iterable[str], *, label: str = "Sensitivity gap", names: Names | None = None
) -> dict[str, Any]:
    """Arguments of ``widgets.explore``: a control an axis, which holds one of its choices or any; ``holding`` drawn.

    Where the rows have confusion counts, figure and words say how many of the specifications rest on a small group.

    Parameters
    ----------
    rows : DataFrame
        As in ``plots.held_choices.holding``.
    axes : names of columns
        At most two, which is what ``explore`` takes.
    label : str
        Of the estimates.
    names : mapping, optional
        How an axis or a choice (as text) is called.

    Raises
    ------
    AuditInputError
        For missing columns, or two choices of an axis under one name.

    Examples
    --------
    >>> rows = pd.DataFrame({"seed": [1, 2], "estimate": [0.1, -0.1], "low": [-0.1, -0.3], "high": [0.3, 0.1]})
    >>> found = controls(rows, ["seed"], names={"seed": "split seed"})
    >>> found["seed"], found["labels"], found["alt"](seed="1")[:12]
    (['any', '1', '2'], {'seed': 'Split seed'}, 'split seed 1')
    """
    axes, names = list(axes), names or {}
    checks.columns(rows, axes, "run_multiverse(…).rows")
    choices: dict[str, dict[str, Any]] = {axis: {ANY: ANY} for axis in axes}
    for axis in axes:
        for choice in dict.fromkeys(rows[axis]):
            shown = names.get(str(choice), str(choice))
            if shown in choices[axis]:
                raise AuditInputError(f"{axis}: two of its choices would be called {shown!r}; name them apart.")
            choices[axis][shown] = choice

    def chosen(shown: Mapping[str, str]) -> dict[str, Any]:
        return {axis: choices[axis][one] for axis, one in shown.items()}

    def few(held: Mapping[str, Any]) -> str:
        if not set(CELLS) <= set(rows):
            return ""
        there = pd.Series(True, rows.index)
        for axis in axes:
            there &= (rows[axis] == held[axis]) | (held[axis] == ANY)
        return f"{(small_groups(rows) & there).sum():,} specifications with a small group"

    def draw(**shown: str) -> Figure:
        figure = holding(rows, chosen(shown), label=label)
        if note := few(chosen(shown)):
            figure.axes[0].set_xlabel(f"{figure.axes[0].get_xlabel()}\n{note}")
        return figure

    def alt(**shown: str) -> str:
        said, note = holding_words(rows, chosen(shown), names), few(chosen(shown))
        return f"{said[:-1]}; {note}." if note else said

    titles = {axis: str(names.get(axis, axis)).capitalize() for axis in axes}
    return {"draw": draw, "alt": alt, "labels": titles, **{axis: list(held) for axis, held in choices.items()}}


def _summary(one: Multiverse, counts: Counts | None) -> dict[str, str]:
    checks.columns(one.rows, NEEDED, "studies.gap_multiverse")
    rows, axes = one.rows, one.grid.axes
    people, young = UNKNOWN, UNKNOWN
    if counts is not None:
        default = rows[(rows[list(axes)] == pd.Series(one.grid.default)).all(axis=1)].iloc[0]
        judged, positives = patients(counts)
        if (judged[0], positives[0]) != (default["n_test"], default["n_a"]):
            raise AuditInputError(
                f"counts of {judged[0]:,} rows, {positives[0]:,} of them young with the outcome: the default "
                f"specification judges {default['n_test']:,.0f}, {default['n_a']:,.0f}."
            )
        people, young = (
            f"{of:,} people" if n == of else f"{n:,} stays of {of:,} people" for n, of in (judged, positives)
        )
    return {
        "choices": " × ".join(str(len(choices)) for choices in axes.values()),
        "specifications": f"{len(one.grid):,}",
        "failed": f"{len(one.failed):,}",
        "training rows, at most": f"{rows['n_train'].max():,.0f}",
        "rows judged": _range(rows["n_test"]),
        "… by the default": people,
        "young rows with outcome": _range(rows["n_a"]),
        "… of the default": young,
        "with a small group": f"{small_groups(rows).sum():,}",
    }


def patients(counts: Counts) -> tuple[tuple[int, int], tuple[int, int]]:
    """Rows and patients of a table over one group: all of them, and those with the outcome in its first level.

    Examples
    --------
    >>> from auditlib.counts import count
    >>> stays = {"who": [1, 1, 2, 3], "age": ["y", "y", "y", "z"], "ill": [1, 1, 0, 1], "risk": [0.1, 0.2, 0.3, 0.4]}
    >>> patients(count(pd.DataFrame(stays), label="ill", score="risk", by="age", cluster="who"))
    ((4, 3), (2, 1))
    """
    if len(counts.groups) != 1:
        raise AuditInputError(f"counts lie over {', '.join(counts.groups) or 'no group'}; give .by(…) of one group.")
    (dim, levels), lines = next(iter(counts.groups.items())), counts.to_frame()
    held = lines[(lines[dim] == levels[0]) & (lines["label"] == 1)]
    if not counts.clustered:  # a row is a patient
        return (counts.n_rows, counts.n_rows), (int(held["n"].sum()), int(held["n"].sum()))
    units = held.drop_duplicates("pattern")["units"].sum()
    return (counts.n_rows, counts.n_units), (int((held["units"] * held["n"]).sum()), int(units))


def _range(values: pd.Series) -> str:
    return f"{values.min():,.0f} to {values.max():,.0f}"
