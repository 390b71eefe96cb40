"""A classifier as a source: its predicted risks, with outcomes and groups beside, nothing matched by guess."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from auditlib.audits.inputs import Columns, names_of, rows_source
from auditlib.audits.options import Options, spelled
from auditlib.audits.source import Source
from auditlib.errors import AuditInputError
from auditlib.reading.names import check_once, nearest
from auditlib.reading.words import said, shown

GROUPS = "groups are names of columns of X, a Series, a DataFrame, or one list or array with a value a person"


def estimator_source(
    model: Any, X: Any, y: Any, by: Any, known: Columns, options: Options, facts: dict[str, Any]
) -> Source:
    """A classifier's predicted risks of the positive class, with the outcomes and groups beside."""
    if X is None or y is None or by is None:
        raise AuditInputError("a classifier needs X, y and by: al.audit(model, X, y, by).")
    if isinstance(X, str) or isinstance(y, str):
        raise AuditInputError("X and y are the predictors and the outcomes themselves, not text.")
    classes = classes_of(model)
    positive = positive_of(classes, known.positive)
    outcome = outcome_of(y)
    risks = risks_of(model, X, classes.index(positive))
    groups = groups_of(X, by, len(outcome))
    if not len(groups) == len(outcome) == len(risks):
        raise AuditInputError(f"X, y and by have {len(risks):,}, {len(outcome):,} and {len(groups):,} rows.")
    check_indexes(X=X, y=y, by=by)
    check_outcomes(outcome, classes)
    taken = [*map(str, groups), *(name for name in (known.cluster, known.site) if name is not None)]
    label = free(known.label or _name(outcome, "outcome"), taken)
    score = free(known.score or "score", [*taken, label])
    held, named = labels_of(outcome, classes, positive, known.positive)
    frame = groups.assign(**{label: held, score: risks})
    for part, column in (("cluster", known.cluster), ("site", known.site)):
        if column is not None and column not in frame:
            frame[column] = column_of(X, column, part, groups)
    columns = asdict(known) | {"label": label, "score": score, "positive": named}
    by_names = [str(name) for name in groups if name not in (known.cluster, known.site)]
    if not by_names and known.site in groups:
        check_once([("by", str(known.site)), ("site", str(known.site))])
    return rows_source(frame, by_names, columns, options, facts | {"model": type(model).__name__}, kind="estimator")


def classes_of(model: Any) -> list[Any]:
    """The two classes of a fitted model, as plain values."""
    found = [each.item() if isinstance(each, np.generic) else each for each in list(getattr(model, "classes_", ()))]
    if len(found) != 2 or any(np.ndim(each) for each in found):
        raise AuditInputError(f"the classifier knows {len(found)} classes; an audit needs a fitted one with two.")
    return found


def positive_of(classes: Sequence[Any], positive: Any) -> Any:
    """The class that is the outcome: the one named, or 1 of 0 and 1, or True.

    >>> positive_of([0, 1], None), positive_of(["dead", "well"], "dead")
    (1, 'dead')
    """
    shown = " and ".join(map(repr, classes))
    if positive is None:
        if any(isinstance(each, str) for each in classes) or sorted(classes) != [0, 1]:
            raise AuditInputError(
                f"the classifier's classes are {shown}, not 0 and 1 or False and True; say which one is the outcome, "
                "with positive=…."
            )
        return max(classes)
    found = [each for each in classes if np.ndim(positive) == 0 and bool(each == positive)]
    if not found:
        raise AuditInputError(f"positive={positive!r} is no class of the model; its classes are {shown}.")
    return found[0]


def outcome_of(y: Any) -> pd.Series:
    """Outcomes as a Series with a fresh index: from a Series, a list, an array or a table of one column."""
    if isinstance(y, pd.DataFrame):
        if y.shape[1] != 1:
            raise AuditInputError(f"y has {y.shape[1]} columns; pass the one that holds the outcomes.")
        y = y.iloc[:, 0]
    if isinstance(y, pd.Series):
        return pd.Series(np.asarray(y), name=y.name)
    held = pd.Series(y) if isinstance(y, list | tuple) else np.asarray(y)
    if held.ndim == 2 and held.shape[1] == 1:
        held = held[:, 0]
    if held.ndim != 1 or any(isinstance(each, list | tuple | dict) for each in held[:1]):
        raise AuditInputError(
            f"y must hold one outcome a person: a Series, list or array of one dimension, not {_shape(y)}."
        )
    return pd.Series(np.asarray(held), name=getattr(y, "name", None))


def risks_of(model: Any, X: Any, at: int) -> np.ndarray:
    """The predicted risks of the class at a place, checked."""
    try:
        found = np.asarray(model.predict_proba(X))
    except MemoryError:
        raise
    except Exception as error:  # whatever a model says of predictors that it cannot take
        raise AuditInputError(
            f"the classifier's predict_proba fails on X ({type(error).__name__}: {said(error)})."
        ) from error
    if found.ndim != 2 or found.shape[1] != 2:
        raise AuditInputError(
            f"the classifier's predict_proba gives {_shape(found)}; it must give a column for each of the two classes."
        )
    if found.dtype.kind not in "fiub":
        raise AuditInputError(f"the classifier's predict_proba gives values of type {found.dtype}, not numbers.")
    risks = found[:, at]
    absent, outside = int(np.isnan(risks).sum()), int(((risks < 0) | (risks > 1)).sum())
    if absent or outside:
        what, n = ("NaN", absent) if absent else ("outside 0–1", outside)
        raise AuditInputError(f"the classifier's predict_proba: {n:,} of {len(risks):,} risks are {what}.")
    return risks if risks.dtype == np.float32 else risks.astype(np.float64)


def groups_of(X: Any, by: Any, rows: int) -> pd.DataFrame:
    """Groups as a frame: named columns of X, a Series, a DataFrame, or a list or array of values."""
    if isinstance(by, pd.DataFrame):
        return by.reset_index(drop=True)
    if isinstance(by, pd.Series):
        return pd.DataFrame({_name(by, "group"): by.array})
    if isinstance(by, str):
        return pd.DataFrame({by: column_of(X, by)})
    if isinstance(by, list | tuple) and by and all(isinstance(each, str) for each in by):
        columns = isinstance(X, pd.DataFrame) and len(set(by)) == len(by) and set(by) <= set(X.columns)
        if columns or len(by) != rows:
            return pd.DataFrame({name: column_of(X, name) for name in names_of(by)})
    held: Any = list(by) if isinstance(by, list | tuple) else by
    if isinstance(held, list):
        if any(np.ndim(each) or isinstance(each, dict) for each in held):
            raise AuditInputError(f"by is {_shape(by)}; {GROUPS}.")
        return pd.DataFrame({"group": pd.Series(held, dtype=None if held else object)})
    found = np.asarray(held)
    if found.ndim != 1:
        raise AuditInputError(f"by is {_shape(by)}; {GROUPS}.")
    return pd.DataFrame({"group": found})


def check_indexes(**held: Any) -> None:
    """An error unless all that have a pandas index have the same one: rows are never matched by guess.

    >>> check_indexes(X=pd.DataFrame({"a": [1, 2]}), y=[0, 1], by=pd.Series(["A", "B"]))
    """
    known = [(name, each.index) for name, each in held.items() if isinstance(each, pd.Series | pd.DataFrame)]
    for name, index in known[1:]:
        first, other = known[0]
        if index.equals(other):
            continue
        mine, theirs = Counter(index.tolist()), Counter(other.tolist())
        if mine == theirs:
            why = f"has the index labels of {first} in another order; reorder it with .loc[{first}.index]"
        else:
            n = sum((theirs - mine).values())
            why = f"lacks {n:,} of the {len(other):,} index labels of {first}; take the same rows of both"
        raise AuditInputError(
            f"{name} {why}, or call .reset_index(drop=True) on each if their rows belong together by position."
        )


def check_outcomes(outcome: pd.Series, classes: Sequence[Any]) -> None:
    """An error for outcomes that the model does not know, and for missing ones."""
    try:
        strange = sorted({str(value) for value in pd.unique(outcome.dropna()) if value not in classes})
    except (TypeError, ValueError):
        raise AuditInputError("y holds lists or arrays; it must hold one outcome a person.") from None
    if strange:
        raise AuditInputError(f"y holds {', '.join(map(repr, strange[:5]))}, which the model does not know.")
    if outcome.isna().any():
        raise AuditInputError(f"y: {int(outcome.isna().sum()):,} of {len(outcome):,} outcomes are missing.")


def labels_of(outcome: pd.Series, classes: Sequence[Any], positive: Any, asked: Any) -> tuple[np.ndarray, Any]:
    """Outcomes as a column that ``count`` reads, and what to call positive there: the class keeps its name."""
    match = np.asarray(outcome == positive, dtype=bool)
    other = next(each for each in classes if each != positive)
    if all(isinstance(each, bool) for each in classes):
        return match == positive, None if asked is None else positive
    if all(isinstance(each, int | float) for each in classes):
        return np.where(match, positive, other), None if asked is None else positive
    return np.where(match, spelled(positive), spelled(other)).astype(object), spelled(positive)


def column_of(X: Any, name: str, part: str = "by", others: Iterable[Any] = ()) -> Any:
    """A column of X by its name; ``part`` is the argument that named it, which may name one of ``others``, too."""
    if not isinstance(X, pd.DataFrame) or name not in X:
        near = nearest(name, [str(each) for each in (*getattr(X, "columns", ()), *others)])
        meant = "" if near is None else f" (did you mean {shown(near)}?)"
        hint = "pass the groups themselves, as a Series or DataFrame" if part == "by" else "name one of X, or of by"
        raise AuditInputError(f"{part}={name!r} is no column of X{meant}; {hint}.")
    if list(X.columns).count(name) > 1:
        raise AuditInputError(f"{name!r} is the name of several columns of X; rename them.")
    return X[name].array


def free(name: str, taken: Sequence[str]) -> str:
    """A column name that no other column has.

    >>> free("score", ["sex", "score"])
    'score_'
    """
    while name in taken:
        name += "_"
    return name


def _name(held: pd.Series, usual: str) -> str:
    return held.name if isinstance(held.name, str) and held.name else usual


def _shape(held: Any) -> str:
    """What something is, in words."""
    shape = np.shape(held) if isinstance(held, np.ndarray) else getattr(held, "shape", None)
    kind = "an array" if isinstance(held, np.ndarray) else f"a {type(held).__name__}"
    return f"{kind} of shape {tuple(shape)}" if shape else kind
