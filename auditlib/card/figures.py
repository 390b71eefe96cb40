"""The figures of a card, drawn from results alone: the same results give the same bytes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from auditlib.card import drawn
from auditlib.card.alts import alts, captions
from auditlib.plots import style

_LONG = re.compile(r"-?\d+\.\d{2,}")


@dataclass(frozen=True)
class Picture:
    """A figure of a card.

    Attributes
    ----------
    name : "chance", "prevalence", "thresholds", "choices" or "benefit"
    svg : one SVG whose colours follow the page
    alt : what a reader of it would see, in words and numbers
    caption : what it shows, in a line
    """

    name: str
    svg: str
    alt: str
    caption: str


def figures(results: Mapping[str, Any]) -> dict[str, Picture]:
    """The figures of a card in their order; none for a question without an answer.

    Parameters
    ----------
    results : mapping
        As in ``results.json``; nothing else is read.

    Examples
    --------
    >>> import auditlib as al
    >>> found = figures(al.audit("Women:80,40,800,30; Men:120,90,700,25").results)
    >>> list(found), found["chance"].svg.startswith("<svg")
    (['chance', 'prevalence'], True)
    """
    said, below = alts(results), captions(results)
    return {
        name: Picture(name, _svg(draw, results), said[name], below[name])
        for name, draw in drawn.DRAWN.items()
        if drawn.there(results, name)
    }


def _svg(draw: Callable[[Mapping[str, Any]], Figure], results: Mapping[str, Any]) -> str:
    with mpl.rc_context(), warnings.catch_warnings():
        # A name in another script: the SVG keeps it as text, and the reader's own fonts have the letters.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing|Matplotlib currently does not support", UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(style._RC)  # what style.use() sets, without changing how a notebook shows figures
        return compact(style.svg_text(draw(results)))


def compact(svg: str) -> str:
    """The SVG with a tenth of a point as its finest step, in paths and places.

    >>> compact('<path d="M 1.23456 7 \\nL 2 0.06 "/><text>1.23456</text>')
    '<path d="M1.2 7L2 0.1 "/><text>1.23456</text>'
    """
    svg = re.sub(r'(?<= )(?:d|x|y|x1|x2|y1|y2|transform)="[^"]*"', lambda found: _LONG.sub(_rounded, found[0]), svg)
    return re.sub(r'(?<= d=")[^"]*', lambda found: re.sub(r"\s*([A-Za-z])\s*", r"\1", found[0]), svg)


def _rounded(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 1) + 0.0:g}"
