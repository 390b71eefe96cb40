"""Score columns in the engine: their type, their bins, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw

from auditlib.counts.edges import Edges, round_to
from auditlib.errors import AuditInputError

MISSING, OUTSIDE = -1, -2


def computed(step: Callable[[], Any]) -> Any:
    """What the engine makes of its own plan; its error where a file is missing or a lazy step fails."""
    try:
        return step()
    except (AuditInputError, MemoryError):
        raise
    except Exception as error:
        raise AuditInputError(f"the frame cannot be computed ({type(error).__name__}: {_reason(error)}).") from error


def _reason(error: Exception) -> str:
    """One line of an engine's message: its first, or what a Java or Python trace in it ends with."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    traced = lines[-1] if any(line.startswith("Traceback (") for line in lines) else lines[0]
    return (causes[-1].removeprefix("Caused by: ") if causes else traced)[:300]


def column(data: Any, name: str) -> nw.Expr:
    """The column of exactly this name; Spark alone would read ``risk.30d`` as a field of ``risk``."""
    quoted = data.implementation.is_spark_like()
    return nw.col("`" + name.replace("`", "``") + "`" if quoted else name)


def as_floats(data: Any, schema: Any, names: Sequence[str]) -> Any:
    """Decimals as the nearest floats: through text, because Arrow's own cast is off by a bit."""
    found = [name for name in names if schema[name] == nw.Decimal]
    floats = [column(data, name).cast(nw.String).cast(nw.Float64).alias(name) for name in found]
    return data.with_columns(*floats) if found else data


def score_dtype(data: Any, name: str, dtype: Any) -> str:
    """Type in which scores are compared with edges."""
    if dtype == nw.Float32:
        return "float32"
    if dtype == nw.Float16:
        raise AuditInputError(
            f"score {name!r} has type {dtype}, too coarse for thresholds to be told apart; "
            "keep the model's own floats (float32 or float64)."
        )
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "float64"
    if rows := all_missing(data, name):
        raise AuditInputError(_absent(name, rows, rows))
    raise AuditInputError(f"score {name!r} has type {dtype}, not numbers; convert it to floats between 0 and 1.")


def all_missing(data: Any, name: str) -> int:
    """Number of rows if the column has no value in any, otherwise 0."""
    # Counted, not summed: Spark adds no booleans.
    found = computed(lambda: data.select(column(data, name).count().alias("held"), nw.len().alias("rows")).collect())
    held, rows = int(found["held"][0] or 0), int(found["rows"][0])
    return 0 if held else rows


def _absent(name: str, absent: int, total: int) -> str:
    return (
        f"score {name!r}: {absent:,} of {total:,} rows have no value; scores are never filled. "
        "Drop those rows knowingly, or predict for them."
    )


def sum_of(terms: Sequence[nw.Expr]) -> nw.Expr:
    """The terms added pairwise: engines refuse, or crash on, sums nested as deep as there are thresholds."""
    while len(terms) > 1:
        pairs = [left + right for left, right in zip(terms[::2], terms[1::2], strict=False)]
        terms = [*pairs, terms[-1]] if len(terms) % 2 else pairs
    return terms[0]


def bin_of(held: nw.Expr, dtype: str, edges: Edges | None) -> nw.Expr:
    """Bin number of a score (the score itself where edges are its values), or a code for missing or outside."""
    score = held.cast(nw.Float64)
    inside = ((score >= 0.0) & (score <= 1.0)).fill_null(False)
    # A NaN is greater than everything for some engines and not comparable for others, so it is asked for by name.
    absent = held.is_null() | score.is_nan().fill_null(True)
    if edges is None:
        found = score
    else:
        bins = float(edges.grid or 0)
        nearest = (score * bins + 0.5).floor()
        # Divided by a column, not a number: Polars turns x / 200.0 into x * (1 / 200.0), which misses the edge.
        edge = nearest / (nearest * 0.0 + bins)
        if dtype == "float32":
            edge = edge.cast(nw.Float32).cast(nw.Float64)
        beyond = [float(round_to(threshold, dtype)) for threshold in edges.extra]
        steps = [(score >= threshold).cast(nw.Float64) for threshold in beyond]
        found = sum_of([nearest - (score < edge).cast(nw.Float64), *steps])
    code = nw.when(absent).then(float(MISSING)).otherwise(nw.when(inside).then(found).otherwise(float(OUTSIDE)))
    return code if edges is None else code.cast(nw.Int32)  # engines group whole numbers faster


def check_scores(scores: Sequence[str], table: dict[str, Any]) -> None:
    """No score is missing or outside 0–1."""
    n, total = table["n"], int(table["n"].sum())
    for i, name in enumerate(scores):
        codes = table[f"bin{i}"]
        absent, outside = int(n[codes == MISSING].sum()), int(n[codes == OUTSIDE].sum())
        if outside:
            raise AuditInputError(
                f"score {name!r}: {outside:,} of {total:,} values lie outside 0–1; a score is a predicted risk. "
                "Divide percentages by 100, or turn logits into probabilities."
            )
        if absent:
            raise AuditInputError(_absent(name, absent, total))
