"""Which question, which method: a picture of the way from what one has, by what one asks, to the method that answers.

The only figure of the package without an interval: it holds no estimates.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from auditlib.errors import AuditInputError
from auditlib.plots import style


class Step(NamedTuple):
    """One question and the method that answers it; each is one line of text."""

    question: str
    method: str


class Stage(NamedTuple):
    """What one has, and the questions that need no more than that."""

    data: str
    steps: tuple[Step, ...]


#: The guide of the book. Chapters are named, so that the picture can be read alone.
STAGES = (
    Stage(
        "Confusion tables, one a group",
        (
            Step("Could chance have made the gap?", "Gap or spread interval: chapter 2"),
            Step("Is it small enough? Name a margin", "Interval inside it: chapter 2"),
            Step("Is it prevalence?", "One prevalence for all: chapter 7"),
            Step("Who gains? Name t and λ", "Subgroup net benefit: chapter 3"),
            Step("Does that hang on λ?", "Tipping λ and λ ratio: chapter 4"),
            Step("Would it pass again? Name limits", "Verdicts and flip rate: chapter 10"),
            Step("How many patients settle it?", "Settling size: chapter 11"),
        ),
    ),
    Stage(
        "Scores, in rows or in counts",
        (
            Step("Is it there at other thresholds?", "Gap curve with a band: chapter 8"),
            Step("Does a score mean one risk?", "Split by score: chapter 7"),
            Step("Does it rank worse in one group?", "AUROC of each: chapter 1"),
            Step("Old model or new, same people?", "Paired difference: chapter 5"),
            Step("Who gets the few places? Name a cap", "Capacity frontier: chapter 6"),
            Step("One threshold a group: what price?", "Threshold shifting: chapter 13"),
        ),
    ),
    Stage(
        "Counts of several hospitals",
        (
            Step("Does the gap differ between two?", "Difference of gaps: chapter 2"),
            Step("Do sites agree?", "κ beside random folds: chapter 12"),
        ),
    ),
    Stage(
        "A learner and its training data",
        (
            Step("Which model serves whom?", "Optimism, in pairs: chapter 5"),
            Step("Do the analyst's choices turn it?", "Multiverse: chapter 9"),
            Step("Do other weights help?", "Reweighing: chapter 13"),
        ),
    ),
)

# Inches. The picture is narrow and tall, so that a phone shows it at 0.8 or more.
WIDTH, BAR, LINE, BOX, GAP = 3.5, 0.36, 0.22, 0.29, 0.1
SPINE, QUESTION, METHOD = 0.13, 0.28, 0.58  # where these begin, from the left


def paths(stages: Iterable[Stage] = STAGES) -> Figure:
    """Draw the guide from top to bottom: a bar for what one has, below it questions, each with an arrow to its method.

    Parameters
    ----------
    stages : Stages with at least one step each

    Raises
    ------
    AuditInputError
        Without a stage, for one without a step, and for text of none or several lines.

    Examples
    --------
    >>> figure = paths([Stage("Scores", (Step("At other thresholds?", "Gap curve"),))])
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    ['Scores', 'At other thresholds?', 'Gap curve']
    """
    stages = list(stages)
    _check(stages)
    tall = GAP + sum(BAR + 2 * GAP + len(stage.steps) * (LINE + BOX + GAP) for stage in stages)
    figure = plt.figure(figsize=(WIDTH, tall), layout="none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, WIDTH), ylim=(tall, 0))
    ax.axis("off")
    starts, top = [], GAP
    for stage in stages:
        starts.append(top)
        top = _stage(ax, stage, top)
    for start, end in pairwise(starts):  # on to what can be asked with more
        _arrow(ax, (SPINE, start + BAR), (SPINE, end))
    return figure


def _check(stages: list[Stage]) -> None:
    if not stages or not all(stage.steps for stage in stages):
        raise AuditInputError("stages: at least one is needed, and a step in each.")
    for text in (text for stage in stages for text in (stage.data, *(t for step in stage.steps for t in step))):
        if not text.strip() or "\n" in text:
            raise AuditInputError(f"stages: {text!r} is not one line of text.")


def _stage(ax: Axes, stage: Stage, top: float) -> float:
    """Draw a bar and its steps from `top` down, and return where the next bar begins."""
    _box(ax, 0.04, top, BAR, style.INK, "round,pad=0,rounding_size=0.02")
    ax.text(WIDTH / 2, top + BAR / 2, stage.data, ha="center", va="center", weight="bold", fontsize=11.5)
    top += BAR + GAP
    for step in stage.steps:
        ax.text(QUESTION, top + LINE / 2, step.question, va="center", fontsize=11)
        middle, elbow = top + LINE + BOX / 2, (QUESTION + METHOD) / 2
        ax.plot([elbow, elbow], [top + LINE, middle], color=style.REFERENCE, lw=1.4)
        _arrow(ax, (elbow, middle), (METHOD, middle))
        _box(ax, METHOD, top + LINE, BOX, style.GROUPS[0], "round,pad=0,rounding_size=0.1")
        ax.text(METHOD + 0.1, middle, step.method, va="center", fontsize=11, color=style.GROUPS[0])
        top += LINE + BOX + GAP
    return top + GAP


def _box(ax: Axes, left: float, top: float, height: float, colour: str, shape: str) -> None:
    width = WIDTH - 0.04 - left
    ax.add_patch(FancyBboxPatch((left, top), width, height, boxstyle=shape, fc=(colour, 0.1), ec=colour, lw=1.4))


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    arrow = {"arrowstyle": "-|>", "color": style.REFERENCE, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, start, arrowprops=arrow)
