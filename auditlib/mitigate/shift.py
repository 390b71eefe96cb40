"""A threshold for each joint group, so that selection rates are alike in every attribute at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic

import numpy as np
import pandas as pd

from auditlib.counts import Counts
from auditlib.counts.merge import positions
from auditlib.counts.thresholds import Thresholds
from auditlib.errors import AuditInputError
from auditlib.mitigate import program as solver
from auditlib.mitigate.cells import NEGATIVE, POSITIVE, Cells, make_cells
from auditlib.mitigate.program import GAP, Answer, Program, solve
from auditlib.mitigate.result import Shift, ratio_array, thresholds_of, unit_table
from auditlib.values import listed
from auditlib.verdicts.judged import NOISE

OBJECTIVES = ("accuracy", "balanced_accuracy", "changes")
MIN_N = 30
HALVINGS, RETRIES, TIGHTER = 12, 5, 1e-6
TOTAL = 180.0  # seconds of all solves of a search


def shift_thresholds(
    counts: Counts,
    attributes: str | Sequence[str],
    *,
    target: float = 0.80,
    start: Thresholds = 0.5,
    by: str | Sequence[str] | None = None,
    metric: str = "accuracy",
    min_n: int = MIN_N,
    protect: Mapping[str, str | Sequence[str]] | None = None,
    edges: Sequence[float] | None = None,
    gap: float = GAP,
) -> Shift:
    """One threshold a joint group such that every attribute's DI reaches ``target``, at the least loss of accuracy.

    maximise Σ_u correct_u(t_u) subject to rate_l ≥ target · rate_m for any two groups l, m of one attribute. The
    thresholds t_u are edges of the table, so this is an integer program (one of E edges for each of U joint groups),
    linear in people flagged: it is solved by branch and bound, to a proven relative distance ``gap`` from the optimum
    (``bound``). The same input gives the same thresholds with one version of SciPy. Within 0.4 of a person,
    thresholds that move by fewer edges are preferred.

    Flagging everybody always reaches the target, so without ``min_n``, ``protect``, ``edges`` or ``by`` there is
    always an answer: look at its accuracy. Thresholds of joint groups of few people follow their chance outcomes, and
    a DI that binds stands at the target on these people and on either side of it on others: take every number that is
    to be believed from ``price`` on another partition.

    Parameters
    ----------
    counts : Counts
        Of the partition to choose on; one model, not resampled. Dims not named are summed over.
    attributes : str or list of str
        Group dims whose DI (smallest over largest selection rate) must reach the target, all at once.
    target : float
        In (0, 1].
    start : as ``Counts.at`` takes it
        Thresholds to begin with; those of groups not searched stay there.
    by : str or list of str, optional
        Dims that have thresholds of their own; all ``attributes`` jointly by default. One of them alone gives
        thresholds by the groups of that attribute.
    metric : {"accuracy", "balanced_accuracy", "changes"}
        What is to suffer least. "changes" counts the people whose decision differs from that at ``start``, whatever
        their outcome; it cannot follow chance outcomes.
    min_n : int
        Joint groups of fewer people keep their start threshold.
    protect : mapping of dim to levels, optional
        Groups whose thresholds stay at the start.
    edges : list of float, optional
        Thresholds to choose among (each an edge), instead of all edges.
    gap : float
        Relative distance from the optimum at which the search may stop. It also stops after 20,000 nodes, and says so
        (``stopped``); how far from the optimum it may then be is ``bound`` less what was reached. A solve that takes
        60 seconds is ended before that, and so are all together after 180: only then does the answer depend on the
        machine, and ``stopped`` says so. It may happen near a ``target`` of 1, where rates must be equal to a person;
        when nothing better was found in time, everybody is flagged (DI 1), or the start kept if it reaches the target.
        Flagging nobody is no answer: its DI is 0/0.

    Returns
    -------
    Shift
        ``ok`` is False when no thresholds reach the target. Then the thresholds are those with the largest lowest DI
        (to target/4096), and of these the best by ``metric``; with ``di`` saying how far they got.

    Raises
    ------
    AuditInputError
        For counts that hold several partitions or models or are resampled, an attribute with one group or with a group
        that nobody is in, a start or edge that is no edge of the table, a target outside (0, 1].

    References
    ----------
    29 CFR §1607.4(D), the four-fifths rule; Joy et al., arXiv 2608.30846, threshold shifting as a baseline. That every
    optimal rule of this kind has one threshold a group: Corbett-Davies S et al. J Mach Learn Res 2023;24(312).

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> risk = [0.9, 0.8, 0.7, 0.6, 0.3, 0.9, 0.4, 0.3, 0.2, 0.1]
    >>> frame = pd.DataFrame({"y": [1, 1, 0, 1, 0, 1, 1, 0, 0, 0], "risk": risk, "sex": list("FFFFFMMMMM")})
    >>> counts = al.count(frame, label="y", score="risk", by="sex", bins=10)
    >>> found = shift_thresholds(counts, "sex", min_n=1)
    >>> found.thresholds.values.tolist(), found.di.values.tolist(), found.accuracy
    ([0.8, 0.4], [1.0], 0.9)
    """
    cells = make_cells(counts, attributes, by)
    check_share(target, "target")
    at = cells.index(thresholds_of(start))
    why = frozen(cells, min_n, protect)
    program = Program(cells, at, _allowed(cells, at, why, edges), _gain(cells, at, metric), gap)
    found, bound, ok, stopped = _best(program, target)
    return Shift(
        thresholds=cells.thresholds(found, thresholds_of(start)),
        attributes=cells.attributes,
        target=float(target),
        ok=ok,
        di=ratio_array(cells, found),
        accuracy=cells.correct(found) / cells.people,
        bound=bound,
        cells=unit_table(cells, at, found, why),
        history=pd.DataFrame([_row(cells, name, edge) for name, edge in (("start", at), ("shifted", found))]),
        stopped=stopped,
    )


def _row(cells: Cells, step: str, at: np.ndarray) -> dict[str, object]:
    ratios = {f"DI {name}": value for name, value in zip(cells.attributes, cells.ratios(at).tolist(), strict=True)}
    return {"step": step, "accuracy": cells.correct(at) / cells.people, **ratios}


def _best(program: Program, target: float) -> tuple[np.ndarray, float, bool, str]:
    """Edges, bound, whether the target is reached, and why the search ended."""
    cells, search = program.cells, _Search(program)
    asked = sorted({min(target + attempt * TIGHTER, 1.0) for attempt in range(RETRIES)})
    for more in asked:  # the solver keeps constraints to about 1e-6 only; then a little more is asked
        solved = search.solve(more)
        if solved.edges is None:
            break
        if reaches(cells.ratios(solved.edges), target):
            if solved.complete:
                return solved.edges, solved.bound, True, f"within {program.gap:g} of the optimum"
            edges = max((solved.edges, *_known(program, target)), key=program.objective)
            return edges, solved.bound, True, f"stopped short of the optimum{search.said}"
    if known := _known(program, target):
        edges = max(known, key=program.objective)
        kept = "everybody is flagged" if not edges.any() else "the start is kept"
        return edges, np.nan, True, f"{kept}, as the search found nothing that reaches the target{search.said}"
    proven = solved.complete
    low, high, best = 0.0, target, search.solve(0.0).edges
    if best is None:
        return program.start, np.nan, False, f"nobody can be flagged; the start is returned{search.said}"
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        trial = search.solve(middle).edges
        low, high, best = (middle, high, trial) if trial is not None else (low, middle, best)
    none = "no thresholds reach" if proven else "the search found no thresholds that reach"
    return best, np.nan, False, f"{none} DI {target:g}; the nearest are returned{search.said}"


class _Search:
    """Solves one after the other, all within ``TOTAL`` seconds."""

    def __init__(self, program: Program) -> None:
        self.program, self.left, self.said = program, TOTAL, ""

    def solve(self, target: float) -> Answer:
        """One of them; nothing once the time is up."""
        seconds = min(solver.SECONDS, self.left)
        began, found = monotonic(), Answer(None, np.nan, False, True)
        if seconds > 0:
            found = solve(self.program, target, seconds)
        self.left -= monotonic() - began
        if found.late:
            limits = f"{solver.SECONDS:g} s a solve, {TOTAL:g} s in all"
            self.said = f" (time ran out: {limits}; another machine may get further)"
        return found


def _known(program: Program, target: float) -> list[np.ndarray]:
    """Edges that need no search: flagging everybody, whose DI is 1, and the start, where allowed and good enough."""
    units = np.arange(len(program.start))
    tried = (np.zeros_like(program.start), program.start)
    allowed = [at for at in tried if program.allowed[units, at].all()]
    return [at for at in allowed if reaches(program.cells.ratios(at), target)]


def reaches(ratios: np.ndarray, target: float) -> bool:
    """Whether every DI is at least ``target``, as verdicts have it; an undefined one is not.

    >>> reaches(np.array([0.8, 0.9]), 0.8), reaches(np.array([np.nan, 0.9]), 0.8)
    (True, False)
    """
    return bool((ratios >= target - NOISE).all())


def check_share(value: object, name: str) -> None:
    """An error unless ``value`` lies in (0, 1].

    >>> check_share(0.8, "target")
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value <= 1:
        raise AuditInputError(f"{name} must be a ratio above 0 and at most 1, such as 0.8, not {value!r}.")


def frozen(cells: Cells, min_n: int, protect: Mapping[str, str | Sequence[str]] | None) -> np.ndarray:
    """Why each unit's threshold is not searched; empty where it is."""
    if isinstance(min_n, bool) or not isinstance(min_n, int | np.integer) or min_n < 0:
        raise AuditInputError(f"min_n must be a whole number of people, 0 or more, not {min_n!r}.")
    why = np.where(cells.unit_people < min_n, f"under {min_n} people", "").astype(object)
    codes = dict(zip(cells.by, np.unravel_index(cells.units, cells.shape), strict=True))
    if protect is not None and not isinstance(protect, Mapping):
        raise AuditInputError(f"protect must map a group to its levels, such as {{'sex': ['Male']}}, not {protect!r}.")
    for dim, levels in (protect or {}).items():
        if dim not in codes:
            raise AuditInputError(f"protect: {dim!r} has no thresholds of its own; those that do: {', '.join(codes)}.")
        names = [str(level) for level in listed(f"protect: {dim!r}", levels, "levels")]
        kept = positions(dim, names, cells.counts.groups[dim])
        why[np.isin(codes[dim], kept)] = "protected"
    return why


def _allowed(cells: Cells, start: np.ndarray, why: np.ndarray, edges: Sequence[float] | None) -> np.ndarray:
    """Which edges each unit may have: (units, edges)."""
    size = len(cells.counts.edges)
    given = None if edges is None else listed("edges", edges, "numbers")
    columns = list(range(size)) if given is None else [cells.counts.edges.index(value) for value in given]
    if not columns:
        raise AuditInputError("edges names no threshold to choose among; leave it out for all of the table.")
    allowed = np.zeros((len(start), size), dtype=bool)
    allowed[np.ix_(why == "", columns)] = True
    allowed[why != "", start[why != ""]] = True
    return allowed


def _gain(cells: Cells, start: np.ndarray, metric: str) -> np.ndarray:
    """What each unit adds to the objective at each edge, in people: (units, edges)."""
    if metric not in OBJECTIVES:
        raise AuditInputError(f"metric must be one of {', '.join(OBJECTIVES)}, not {metric!r}.")
    if metric == "changes":
        flagged = cells.flagged.sum(axis=1)
        moved = np.abs(flagged - flagged[np.arange(len(flagged)), start[cells.unit]][:, None])
        by_cell = (flagged[:, :1] - moved).astype(np.float64)  # people left as they were, so that a gap is one of N
    else:
        positives, negatives = cells.labelled[:, POSITIVE].sum(), cells.labelled[:, NEGATIVE].sum()
        weights = (1.0, 1.0)
        if metric == "balanced_accuracy":
            if not positives or not negatives:
                raise AuditInputError("balanced accuracy needs people of both labels; use metric='accuracy'.")
            weights = cells.people / (2 * positives), cells.people / (2 * negatives)
        missed = cells.labelled[:, NEGATIVE, None] - cells.flagged[:, NEGATIVE]
        by_cell = weights[0] * cells.flagged[:, POSITIVE] + weights[1] * missed
    gain = np.zeros((len(cells.units), by_cell.shape[1]))
    np.add.at(gain, cells.unit, by_cell)
    return gain
