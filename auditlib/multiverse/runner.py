"""Run every specification of a grid: in any number of processes, through any joblib backend, with one result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from pickle import PicklingError
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from tqdm.auto import tqdm

from auditlib.errors import AuditInputError
from auditlib.jobs import check_jobs
from auditlib.multiverse.code import code_of
from auditlib.multiverse.grid import EXACT, TAKEN, Grid, Specification
from auditlib.multiverse.record import Record
from auditlib.multiverse.rows import Multiverse, Row, assemble

Batch = list[tuple[int, Specification]]


def run_multiverse(
    grid: Grid,
    judge: Callable[..., Mapping[str, Any]],
    *,
    prepare: Callable[[list[Specification]], Any] | None = None,
    once: Sequence[str] = (),
    path: str | Path | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Multiverse:
    """One row a specification of a declared grid.

    Parameters
    ----------
    grid : Grid
    judge : callable
        ``judge(specification)``, or ``judge(specification, prepared)`` with ``prepare``: a mapping of names to numbers,
        such as estimate, low and high; under ``replicates`` it may return a list of numbers, its estimate in resamples
        that are common to all specifications (``resampling_weights``; not in ``counts.resample`` of its own, which
        draws others for each). What it returns must depend on nothing else: a specification is judged in any process
        and in any order.
    prepare : callable, optional
        What several specifications share, such as a fitted model: called with the list of those specifications.
    once : sequence of str
        The axes in which specifications may differ and still share what ``prepare`` makes.
    path : str or Path, optional
        A file that keeps each finished specification; those that share what ``prepare`` makes are kept together, when
        the last of them is finished. With the same grid and path a run that was stopped goes on, and what is there is
        not done again. That includes specifications that failed: they stay failed until the file is removed. The file
        knows the grid, not the work: a ``judge`` or ``prepare`` whose own code has changed is warned of, but changes
        in what they call, in data or in versions are not seen, and old results come back as if they were new. Put
        whatever else decides the results (data, versions, the judge's own settings) into ``grid.settings``.
    n_jobs : int, optional
        Processes, −1 for one a core. By default what ``joblib.parallel_config`` says, so that
        ``with parallel_config(backend="dask"):`` sends the work to a cluster. The result does not depend on it, to the
        last bit where fits run on one thread. With one process ``judge`` and ``prepare`` use as many threads as their
        libraries like, which on a busy machine wait for each other (boosting took ten times as long): fit within
        ``with threadpoolctl.threadpool_limits(1):``, as ``models.cross_fit`` does by itself, or set
        ``OMP_NUM_THREADS=1`` before Python starts. Workers of a run that was killed end by themselves within a minute
        or so; they do not hold the file at ``path``.
    progress : bool
        Whether to draw a bar.

    Returns
    -------
    Multiverse
        A specification that raises an error is a row with that error; the others go on.

    Raises
    ------
    AuditInputError
        When ``once`` names no axis of the grid, or is given without ``prepare``; when the file at ``path`` is of
        another grid, damaged, or cannot be written; when a process was killed, or the functions cannot be sent to one.
        What was finished before is kept.

    References
    ----------
    Steegen et al. 2016; Simson J, Pfisterer F, Kern C. One model many scores: using multiverse analysis to prevent
    fairness hacking and evaluate the influence of model design decisions. FAccT 2024.

    Examples
    --------
    >>> grid = Grid("example", {"rate": ["sensitivity", "ppv"], "groups": ["A v B", "A v C"]})
    >>> def judge(specification):
    ...     if specification["groups"] == "A v C":
    ...         raise ValueError("nobody is in C")
    ...     return {"estimate": {"sensitivity": 0.1, "ppv": -0.2}[specification["rate"]]}
    >>> run_multiverse(grid, judge).rows[["rate", "estimate", "error"]].values.tolist()[:2]
    [['sensitivity', 0.1, ''], ['sensitivity', nan, 'ValueError: nobody is in C']]

    Fits shared by the thresholds judged, kept in a file; the second run does nothing again. (Judges that return
    replicates: ``resampling_weights``.)

    >>> import tempfile
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from threadpoolctl import threadpool_limits
    >>> from auditlib.simulate import RiskCohort
    >>> people = RiskCohort.example().frame(2_000, seed=5)
    >>> x, y = people.filter(regex="^x"), people["label"]
    >>> axes = {"depth": [1, 3], "threshold": [0.1, 0.2]}
    >>> grid = Grid("boosting", axes, settings={"people": 2_000, "seed": 5})
    >>> def prepare(specifications):
    ...     print("fits depth", specifications[0]["depth"])
    ...     with threadpool_limits(1):
    ...         model = HistGradientBoostingClassifier(max_depth=specifications[0]["depth"], max_iter=10)
    ...         return model.fit(x[:1000], y[:1000]).predict_proba(x[1000:])[:, 1]
    >>> def judge(specification, risk):
    ...     return {"flagged": (risk >= specification["threshold"]).mean()}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     given = {"prepare": prepare, "once": ["threshold"], "path": Path(folder) / "boosting.jsonl", "n_jobs": 1}
    ...     first = run_multiverse(grid, judge, **given)
    ...     second = run_multiverse(grid, judge, **given)
    fits depth 1
    fits depth 3
    >>> first.rows.equals(second.rows), len(second.failed)
    (True, 0)
    """
    check(grid, judge, prepare, once, n_jobs)
    code = code_of(judge, *([] if prepare is None else [prepare]))
    with Record(path, grid, code) if path is not None else nullcontext() as record:
        done = dict(record.done) if record is not None else {}
        bar = tqdm(total=len(grid), initial=len(done), disable=not progress, desc=grid.name, unit="spec")
        with bar:
            for rows in _finished(grid, judge, prepare, once, set(done), n_jobs):
                if record is not None:
                    record.append(rows)
                done |= rows
                bar.update(len(rows))
    return assemble(grid, done)


def check(grid: Any, judge: Any, prepare: Any, once: Any, n_jobs: Any) -> None:
    """What cannot be run stops here, before anything is fitted or written."""
    if not isinstance(grid, Grid):
        raise AuditInputError(f"grid: give a Grid, not {type(grid).__name__}.")
    if not callable(judge) or not (prepare is None or callable(prepare)):
        raise AuditInputError("judge and prepare must be functions of a specification.")
    if isinstance(once, str) or not isinstance(once, Sequence):
        raise AuditInputError(f"once = {once!r}: give a list of axes.")
    if unknown := [axis for axis in once if not isinstance(axis, str) or axis not in grid.axes]:
        raise AuditInputError(f"once: {unknown[0]!r} is no axis of this grid; the axes are {', '.join(grid.axes)}.")
    if once and prepare is None:
        raise AuditInputError("once: says what specifications share of what prepare makes, so give prepare as well.")
    if n_jobs is not None:
        check_jobs(n_jobs)


def _finished(
    grid: Grid, judge: Any, prepare: Any, once: Sequence[str], done: set[int], n_jobs: int | None
) -> Iterator[dict[int, Row]]:
    batches: dict[tuple[Any, ...], Batch] = {}
    for k, specification in enumerate(grid):
        if k not in done:
            shared = (k,) if prepare is None else tuple(v for axis, v in specification.items() if axis not in once)
            batches.setdefault(shared, []).append((k, specification))
    try:
        pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
        yield from pool(delayed(_batch)(judge, prepare, batch) for batch in batches.values())
    except TerminatedWorkerError as error:
        raise AuditInputError(
            "a process was killed, perhaps for want of memory; what was finished is kept where a path was given. "
            "Run with n_jobs=1 to see at which specification."
        ) from error
    except PicklingError as error:
        raise AuditInputError(
            f"judge or prepare cannot be sent to another process ({error}); use n_jobs=1, or functions without "
            "open files and locks."
        ) from error


def _batch(judge: Any, prepare: Any, batch: Batch) -> dict[int, Row]:
    # What fits models in parallel would otherwise ask the same cluster, whose workers wait for this very task.
    with parallel_config(backend="sequential"):
        return _judged(judge, prepare, batch)


def _judged(judge: Any, prepare: Any, batch: Batch) -> dict[int, Row]:
    arguments: tuple[Any, ...] = ()
    if prepare is not None:
        try:
            arguments = (prepare([dict(specification) for _, specification in batch]),)
        except Exception as error:  # a specification that fails is a row
            return {k: {"error": _said(error)} for k, _ in batch}
    return {k: _row(judge, specification, arguments) for k, specification in batch}


def _row(judge: Any, specification: Specification, arguments: tuple[Any, ...]) -> Row:
    try:
        return {**_results(judge(dict(specification), *arguments), specification), "error": ""}
    except Exception as error:  # a specification that fails is a row
        return {"error": _said(error)}


def _said(error: Exception) -> str:
    """The error as one line, with its kind unless it is one of input."""
    try:
        text = "".join(c if c.isprintable() else " " for c in " ".join(str(error).split())) or "no message"
    except Exception:  # an error that cannot say what it is
        text = "no message"
    return text if isinstance(error, AuditInputError) else f"{type(error).__name__}: {text}"


def _results(found: Any, specification: Specification) -> Row:
    """What a judge returned, as plain numbers that come back from a file as they were."""
    if not isinstance(found, Mapping):
        raise AuditInputError(f"judge returned {type(found).__name__}, not a mapping of names to numbers.")
    row: Row = {}
    for name, value in found.items():
        usual = isinstance(name, str) and name.strip() == name != "" and name.isprintable()
        if not usual or name in specification or (name in TAKEN and name != "replicates"):
            raise AuditInputError(f"judge returned {name!r}, which is no name of its own for a result.")
        if name != "replicates":
            row[name] = _plain(name, value)
        elif isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__") or not len(value):
            raise AuditInputError("judge returned replicates that are no list of numbers.")
        else:
            row[name] = [_plain(name, each) for each in value]
    return row


def _plain(name: str, value: Any) -> int | float | None:
    """A number; None where it is missing, masked or NaN."""
    if value is None or value is np.ma.masked:
        return None
    if isinstance(value, np.generic) or (getattr(value, "ndim", None) == 0 and hasattr(value, "item")):
        value = value.item()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and abs(value) > EXACT:
        raise AuditInputError(f"judge returned a number under {name!r} that is too large to be kept exactly.")
    if isinstance(value, int | float):
        return None if value != value else value
    raise AuditInputError(f"judge returned {type(value).__name__} under {name!r}; give a number.")
