"""One table per paper: the published number, ours, and whether they agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from auditlib.studies.reproduced import benefit, gaps, verdicts
from auditlib.studies.reproduced.agreement import AGREEMENT, RULES, Estimate, same_digits
from auditlib.studies.reproduced.lines import number, published_lines
from auditlib.studies.reproduced.ours import Ours, Registry
from auditlib.studies.reproduction import side

#: What makes our number for a line, by its id.
OURS: Registry = {**benefit.OURS, **gaps.OURS, **verdicts.OURS}


def reproduction_table(paper: str) -> pd.DataFrame:
    """Every published number of a paper with ours, and what comes of the comparison.

    Returns
    -------
    DataFrame of ``published_lines``, and ``ours``, ``ours_low``, ``ours_high`` (95% interval, or, without ``ours``, the
    limits that the published number must lie between), ``ours_n``, ``note``, ``other`` (by a second public table of
    the same thing), ``copied``, and ``judged``:

    - same data: "agrees" or "differs", by the rule ``AGREEMENT`` of ``RULES``;
    - recomputed: "equal" to the printed digits, "copied" (the number itself stands in a public table), "two runs" (one
      public table gives it, another does not), "differs", or "possible" and "impossible" where only limits are known;
    - worked out, ours in two ways: "equal" or "differs";
    - other data: no reproduction; "same side" or "other side" of zero, "open" where one interval contains it, "shown"
      where public code does something and ours only illustrates what;
    - setting: "the same", "another", "used" (numbers of ours are computed with it) or "as given"; and "not tried".

    Raises
    ------
    AuditInputError
        For an unknown paper.

    Examples
    --------
    >>> table = reproduction_table("vfr_audit")
    >>> table.loc[["vfr-mean", "vfr-hospitals", "vfr-base-race-pp", "vfr-cv-field"], "judged"].tolist()
    ['equal', 'copied', 'two runs', 'differs']
    """
    lines = published_lines(paper)
    ours = [OURS[name]() if name in OURS else Ours() for name in lines.index]
    found = pd.DataFrame(ours, index=lines.index).rename(
        columns={"value": "ours", "low": "ours_low", "high": "ours_high", "n": "ours_n"}
    )
    judged = [_judged(line, one) for line, one in zip(lines.to_dict("records"), ours, strict=True)]
    return lines.join(found).assign(judged=judged)


def _judged(line: dict[Any, str], ours: Ours) -> str:
    kind = line["kind"]
    if kind == "not tried":
        return kind
    if kind == "setting":
        return _setting(line, ours)
    if kind in ("recomputed", "worked out"):
        return _recomputed(line, ours)
    theirs = Estimate(*(number(line[name]) for name in ("value", "low", "high")))
    mine = Estimate(ours.value, ours.low, ours.high)
    if kind == "same data":
        return "agrees" if bool(RULES[AGREEMENT](theirs, mine)) else "differs"
    return _sides(theirs, mine) if line["tag"] == "paper" else "shown"


def _setting(line: dict[Any, str], ours: Ours) -> str:
    if np.isfinite(ours.value):
        return "the same" if same_digits(line["value"], ours.value) else "another"
    return "used" if line["reason"] == "used" else "as given"


def _recomputed(line: dict[Any, str], ours: Ours) -> str:
    printed = line["value"]
    if not np.isfinite(ours.value) and np.isfinite(ours.low):
        return "possible" if ours.low <= number(printed) <= ours.high else "impossible"
    limits = [(line[name], getattr(ours, name)) for name in ("low", "high") if line[name]]
    if not all(same_digits(text, value) for text, value in [(printed, ours.value), *limits]):
        return "differs"
    if np.isfinite(ours.other) and not same_digits(printed, ours.other):
        return "two runs"
    return "copied" if ours.copied else "equal"


def _sides(theirs: Estimate, ours: Estimate) -> str:
    """Where two numbers from different people lie; one published without an interval is taken by its sign."""
    first = int(side(theirs.low, theirs.high) if np.isfinite(theirs.low) else np.sign(theirs.value))
    second = int(side(ours.low, ours.high))
    if not first * second:
        return "open"
    return "same side" if first == second else "other side"
