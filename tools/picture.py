"""Draw the pictures of _static/ from the committed tables: ``python tools/picture.py``.

The README's figure, the preview that stands beside a shared link, and the favicon for what shows no SVG.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from auditlib import studies
from auditlib.plots import gaps, style

STATIC = Path(__file__).resolve().parent.parent / "_static"
PICTURE = STATIC / "gaps.svg"
SOCIAL = STATIC / "social.png"
ICON = STATIC / "apple-touch-icon.png"
DPI = 100
TITLE = "Is that gap real?"
SUBTITLE = "Eight gaps in sensitivity between two groups, with 95% intervals"


def picture() -> str:
    """The README's figure as text, the same for the same tables."""
    style.use()
    return style.svg_text(gaps.reproduction(studies.gap_table()).figure, tight=True)


def preview(table: pd.DataFrame) -> Figure:
    """The title and the gaps of ``studies.gap_table`` on 1200 × 630 pixels, legible at a third of that.

    It stays in light colours: what shows it is not one of our pages.
    """
    style.use()
    figure = plt.figure(figsize=(12, 6.3), dpi=DPI)
    figure.set_layout_engine("constrained", rect=(0.025, 0.02, 0.95, 0.76))
    ax = figure.add_subplot()
    gaps.forest(_rows(table), label="", ax=ax)
    ax.set_yticks(range(len(table))[::-1], gaps.names(table))
    ax.tick_params(axis="y", labelsize=17, length=0)
    ax.tick_params(axis="x", labelsize=16)
    for line in ax.lines:
        line.set_markersize(11)
    ax.collections[0].set_linewidth(5)
    figure.text(0.03, 0.925, TITLE, size=44, weight="bold", va="center")
    figure.text(0.03, 0.825, SUBTITLE, size=21, color=style.MUTED, va="center")
    return figure


def _rows(table: pd.DataFrame) -> pd.DataFrame:
    limits = {"estimate": table["gap"], "low": table["newcombe_low"], "high": table["newcombe_high"]}
    return pd.DataFrame({"name": gaps.names(table), **limits})


def icon(svg: str) -> Figure:
    """The favicon's lines and circles in light colours, on 180 × 180 pixels.

    Paths are made of ``M``, ``h`` and ``v`` alone; colours that follow the page are ink.
    """
    figure = plt.figure(figsize=(1.8, 1.8), dpi=DPI, facecolor=style.PAPER, layout="none")
    ax = figure.add_axes((0.06, 0.06, 0.88, 0.88), xlim=(0, 32), ylim=(32, 0))
    ax.set_axis_off()
    unit = 0.88 * 1.8 * 72 / 32  # points in one unit of the drawing
    for drawn in re.findall(r"<path[^>]*>", svg):
        colour = (re.search(r'stroke="(#\w+)"', drawn) or ["", style.INK])[1]
        width = float(re.search(r'stroke-width="([\d.]+)"', drawn)[1])  # type: ignore[index]
        for xs, ys in _strokes(re.search(r' d="([^"]+)"', drawn)[1]):  # type: ignore[index]
            ax.plot(xs, ys, color=colour, lw=width * unit, solid_capstyle="round")
    for x, y, radius, colour in re.findall(r'<circle cx="(\S+)" cy="(\S+)" r="(\S+)" fill="(\S+)"', svg):
        ax.plot(float(x), float(y), "o", ms=2 * float(radius) * unit, mew=0, color=colour)
    return figure


def _strokes(path: str) -> list[tuple[list[float], list[float]]]:
    """The straight strokes of a path.

    >>> _strokes("M10 6v16M6.5 6h7")
    [([10.0, 10.0], [6.0, 22.0]), ([6.5, 13.5], [6.0, 6.0])]
    """
    strokes = []
    for x, y, way, length in re.findall(r"M([\d.]+) ([\d.]+)([hv])([\d.]+)", path):
        across, down = (float(length), 0.0) if way == "h" else (0.0, float(length))
        strokes.append(([float(x), float(x) + across], [float(y), float(y) + down]))
    return strokes


def png(figure: Figure) -> bytes:
    """The figure as PNG of 64 colours, a third of the bytes, without the name and version of what drew it."""
    drawn, packed = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI)
    plt.close(figure)
    Image.open(drawn).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(packed, "PNG", optimize=True)
    return packed.getvalue()


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    SOCIAL.write_bytes(png(preview(studies.gap_table(replicates=10))))  # its intervals are not resampled
    ICON.write_bytes(png(icon((STATIC / "favicon.svg").read_text(encoding="utf-8"))))
