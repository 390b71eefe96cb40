"""The house style: one palette in a light and a dark variant, and figures as SVG that follow the page.

A figure is drawn once, in the light colours. `svg_text` then turns each palette colour of the SVG into a CSS
variable with a light and a dark value, so that one file serves both: inside an ``<img>`` an SVG follows the
``color-scheme`` of the page around it. The background is part of the palette, so ink and paper always match,
also where a viewer follows the system instead of the page.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import xarray as xr
from cycler import cycler
from matplotlib.figure import Figure

from auditlib.errors import AuditInputError
from auditlib.plots import checks


class Colour(NamedTuple):
    """One palette entry: what stands on a light page and what on a dark one."""

    light: str
    dark: str


# Told apart under the common colour-vision deficiencies; at least 4.5:1 against both papers.
PALETTE: dict[str, Colour] = {
    "paper": Colour("#ffffff", "#121212"),
    "ink": Colour("#1d232b", "#d5dbe2"),
    "muted": Colour("#59636e", "#9aa6b2"),
    "grid": Colour("#dde2e7", "#323a44"),
    "reference": Colour("#444c56", "#b9c3cd"),
    "blue": Colour("#0068b0", "#56b4e9"),
    "vermilion": Colour("#bf4408", "#f28c4a"),
    "green": Colour("#00795a", "#2fc49a"),
    "purple": Colour("#964a91", "#d99ad4"),
    "ochre": Colour("#866300", "#e3b93c"),
    "slate": Colour("#4e5a78", "#a6b4d0"),
}
PAPER, INK, MUTED, GRID, REFERENCE = (PALETTE[name].light for name in ("paper", "ink", "muted", "grid", "reference"))
GROUPS = tuple(PALETTE[name].light for name in ("blue", "vermilion", "green", "purple", "ochre", "slate"))

# Pure black comes from the defaults of matplotlib and seaborn: it is ink on our pages.
_VARIABLE = {colour.light: name for name, colour in PALETTE.items()} | {"#000000": "ink"}

WIDTH = 5.0  # inches; a phone shows it at about 0.7, where 11 pt is still legible

_RC: Any = {
    "figure.figsize": (5.6, 3.7),  # inches; a phone shows it at about 0.6, where 12 pt is still legible
    "figure.facecolor": PAPER,
    "figure.constrained_layout.use": True,
    "savefig.facecolor": PAPER,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "legend.fontsize": 11,
    "axes.facecolor": PAPER,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=GROUPS),
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.framealpha": 0.9,  # over lines and grid
    "legend.facecolor": PAPER,
    "legend.edgecolor": PAPER,
    "lines.linewidth": 2,
    "svg.fonttype": "none",  # text stays text: it can be selected, searched and scaled
    "svg.hashsalt": "auditlib",  # the same figure gives the same file
}


def use() -> None:
    """Switch the house style on; in a notebook, show figures as SVG that follows the page's colours.

    Examples
    --------
    >>> use()
    >>> mpl.rcParams["svg.fonttype"]
    'none'
    """
    mpl.rcParams.update(_RC)
    _show_figures_as_svg()


def group_colours(levels: Iterable[str]) -> dict[str, str]:
    """Give each group its colour, in the order of `levels`.

    Raises
    ------
    AuditInputError
        For more groups than there are colours that can be told apart.

    Examples
    --------
    >>> group_colours(["Male", "Female"])
    {'Male': '#0068b0', 'Female': '#bf4408'}
    """
    names = list(levels)
    if len(names) > len(GROUPS):
        raise AuditInputError(
            f"levels: {len(names)} groups, but only {len(GROUPS)} colours can be told apart; "
            "use one colour and position, or small panels"
        )
    return dict(zip(names, GROUPS, strict=False))


def legible(text: object) -> str:
    """`text` with a mark in place of what no SVG or HTML file may hold (control characters, half a surrogate pair).

    Examples
    --------
    >>> legible("ward\\x001")
    'ward�1'
    """
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", str(text))


def plain(text: object) -> str:
    """The name of a group or a series as matplotlib text: two dollar signs are not the ends of a formula.

    Examples
    --------
    >>> print(plain("$10k-$20k"))
    \\$10k-\\$20k
    """
    return legible(text).replace("$", r"\$")


def region(colour: str, strength: float = 0.2, edge: str = "-") -> dict[str, Any]:
    """Options of ``fill_between`` or ``axvspan``: a tint, and an edge in the full colour.

    A tint alone is hard to see on either paper, and which of two is the stronger changes with the page; an edge has the
    contrast of the palette, and its stroke tells regions apart on both.

    Parameters
    ----------
    colour : str
        Of the palette.
    strength : float
        How opaque the tint is.
    edge : str
        Stroke of the edge, such as "-" or "--".

    Examples
    --------
    >>> region(GROUPS[0], edge="--")
    {'facecolor': ('#0068b0', 0.2), 'edgecolor': '#0068b0', 'lw': 0.9, 'ls': '--'}
    """
    return {"facecolor": (colour, strength), "edgecolor": colour, "lw": 0.9, "ls": edge}


def check_over(found: xr.Dataset, dim: str, names: Iterable[str]) -> None:
    """Raise AuditInputError unless each of `names` lies over `dim` alone.

    Examples
    --------
    >>> check_over(xr.Dataset({"n": ("sex", [3, 4])}), "sex", ["n"])
    """
    checks.over(found, [dim], names)


def svg_text(figure: Figure, *, tight: bool = False) -> str:
    """Return the figure as one SVG string whose colours follow the page, the same for the same figure.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    tight : bool
        Cut the file to what is drawn. Left off, all figures of one size give files of one size.

    Examples
    --------
    >>> figure = Figure(figsize=(2, 1))
    >>> _ = figure.text(0.5, 0.5, "sensitivity")
    >>> text = svg_text(figure)
    >>> text.startswith("<svg"), "prefers-color-scheme" in text, ">sensitivity</text>" in text
    (True, True, True)
    >>> text == svg_text(figure)
    True
    """
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "auditlib"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, bbox_inches="tight" if tight else None)
    text = buffer.getvalue()
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r"<[^<>]*>", lambda tag: re.sub(r"(?<=: )#[0-9a-f]{6}\b", _as_variable, tag[0]), text)
    return re.sub(r"<svg\b[^>]*>", lambda opening: opening[0] + _STYLE, text, count=1)


def _as_variable(match: re.Match[str]) -> str:
    name = _VARIABLE.get(match[0])
    return f"var(--{name})" if name else match[0]


def _variables(scheme: str) -> str:
    return ";".join(f"--{name}:{getattr(colour, scheme)}" for name, colour in PALETTE.items())


# Matplotlib leaves the fill out where it is black, hence the inherited one.
_STYLE = (
    f"<style>svg{{{_variables('light')};fill:var(--ink)}}"
    f"@media (prefers-color-scheme:dark){{svg{{{_variables('dark')}}}}}</style>"
)


def _show_figures_as_svg() -> None:
    try:
        from IPython.core.getipython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # no notebook software here
        return
    shell = get_ipython()
    if shell is None or shell.display_formatter is None:
        return
    plt.get_backend()  # the backend sets its own formats when it loads: let it, then replace them
    set_matplotlib_formats("svg")
    shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, partial(svg_text, tight=True))
