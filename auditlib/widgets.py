"""One explorer that works with and without a kernel.

`explore` draws a figure for every position of one or two sliders and displays one bundle: widgets for a live
notebook, and plain HTML (a range input, an image, a few lines of script) for the static page, which needs
no library, no other host and no kernel.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import matplotlib.pyplot as plt
import numpy as np
from jinja2 import Environment
from markupsafe import Markup
from matplotlib.figure import Figure

from auditlib.errors import AuditInputError
from auditlib.plots.style import legible, svg_text

MAX_FRAMES = {1: 21, 2: 49}  # by number of sliders: what fits in 300 kB and draws in 10 s

_HTML = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)


@dataclass(frozen=True)
class _Slider:
    name: str
    label: str
    texts: tuple[str, ...]  # one a position
    start: int


@dataclass(frozen=True)
class _Frame:
    svg: str
    alt: str

    @property
    def src(self) -> str:
        return "data:image/svg+xml;charset=utf-8," + quote(self.svg, safe="")


@dataclass(frozen=True)
class Explorer:
    """The frames of an explorer and its two faces; displays itself at the end of a cell."""

    sliders: tuple[_Slider, ...]
    frames: tuple[_Frame, ...]  # in the order of itertools.product over the positions
    caption: str

    def html(self) -> str:
        """Return the explorer as HTML that needs no kernel: everything typed by a user is escaped."""
        return _PAGE.render(
            sliders=self.sliders,
            caption=self.caption,
            first=self.frames[self._index([slider.start for slider in self.sliders])],
            frames=[[frame.svg, frame.alt] for frame in self.frames],
            script=_SCRIPT,
        )

    def _index(self, positions: Sequence[int]) -> int:
        index = 0
        for slider, position in zip(self.sliders, positions, strict=True):
            index = index * len(slider.texts) + position
        return index

    def _widget(self) -> Any:
        """Return the ipywidgets face, or None where ipywidgets is missing."""
        try:
            import ipywidgets as widgets
        except ImportError:
            return None
        inputs = [
            widgets.SelectionSlider(
                options=[(text, position) for position, text in enumerate(slider.texts)],
                value=slider.start,
                description=slider.label,
                style={"description_width": "initial"},
                layout={"width": "100%", "max_width": "36rem"},
            )
            for slider in self.sliders
        ]
        picture = widgets.HTML()

        def show(_change: object = None) -> None:
            frame = self.frames[self._index([entry.value for entry in inputs])]
            picture.value = _PICTURE.render(frame=frame, caption=self.caption)

        for entry in inputs:
            entry.observe(show, names="value")
        show()
        return widgets.VBox([*inputs, picture])

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": "Explorer", "text/html": self.html()}
        widget = self._widget()
        if widget is not None:
            live = widget._repr_mimebundle_()
            bundle |= {key: value for key, value in live.items() if key not in bundle}
        return bundle


def explore(
    draw: Callable[..., Figure],
    *,
    alt: str | Callable[..., str],
    default: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    caption: str = "",
    **sliders: Sequence[Any],
) -> Explorer:
    """Draw a figure for every slider position and return the explorer that shows them.

    Parameters
    ----------
    draw : callable
        Takes one value a slider, by name, and returns a matplotlib Figure.
    alt : str or callable
        What the picture says, in words. A callable takes the same values as `draw`; a string has them added.
    default : mapping, optional
        The value each slider starts at; the first one where unsaid.
    labels : mapping, optional
        What each slider is called on the page; its name where unsaid.
    caption : str
        Stands under the picture.
    **sliders : sequence
        The values of each slider, in order: one slider of at most 21 values, or two with at most 49 frames.

    Raises
    ------
    AuditInputError
        No slider or more than two, one without values, too many frames, a default that is no value of its slider,
        an alt that is empty or no text.

    Examples
    --------
    >>> def draw(n):
    ...     figure = Figure(figsize=(2, 1))
    ...     _ = figure.text(0.5, 0.5, f"n = {n}")
    ...     return figure
    >>> explorer = explore(draw, n=[10, 20], alt=lambda n: f"{n} patients", labels={"n": "Patients"})
    >>> [frame.alt for frame in explorer.frames]
    ['10 patients', '20 patients']
    >>> 'aria-label="Patients"' in explorer.html()
    True
    """
    positions = {name: _positions(name, given) for name, given in sliders.items()}
    made, below = _sliders(positions, default or {}, labels or {}), _words("caption", caption)
    frames = []
    for values in itertools.product(*positions.values()):
        chosen = dict(zip(positions, values, strict=True))
        frames.append(_Frame(svg=_draw(draw, chosen), alt=_alt(alt, made, chosen)))
    return Explorer(sliders=made, frames=tuple(frames), caption=below)


def _positions(name: str, given: Any) -> list[Any]:
    if isinstance(given, str | bytes) or not np.iterable(given):
        raise AuditInputError(f"sliders: {name} = {given!r}; give the list of its values")
    values = list(given)
    if not values:
        raise AuditInputError(f"sliders: {name} has no values; give at least one")
    return values


def _words(name: str, text: Any) -> str:
    if not isinstance(text, str):
        raise AuditInputError(f"{name}: {text!r} is no text")
    return legible(text)


def _sliders(
    sliders: Mapping[str, list[Any]], default: Mapping[str, Any], labels: Mapping[str, str]
) -> tuple[_Slider, ...]:
    if len(sliders) not in MAX_FRAMES:
        raise AuditInputError(f"sliders: {len(sliders)} given; an explorer has one or two")
    unknown = sorted((set(default) | set(labels)) - set(sliders))
    if unknown:
        raise AuditInputError(f"default, labels: {unknown} name no slider; the sliders are {list(sliders)}")
    frames, most = 1, MAX_FRAMES[len(sliders)]
    made = []
    for name, values in sliders.items():
        start = default.get(name, values[0])
        if start not in values:
            raise AuditInputError(f"default: {name}={start!r} is not among its {len(values)} values {values}")
        texts = tuple(_text(value) for value in values)
        made.append(_Slider(name, _words("labels", labels.get(name, name)), texts, values.index(start)))
        frames *= len(values)
    if frames > most:
        raise AuditInputError(f"sliders: {frames} frames, at most {most} with {len(made)} slider(s); give fewer values")
    return tuple(made)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else legible(value)


def _draw(draw: Callable[..., Figure], chosen: dict[str, Any]) -> str:
    figure = draw(**chosen)
    if not isinstance(figure, Figure):
        raise AuditInputError(f"draw: returned {type(figure).__name__}; return the matplotlib Figure")
    try:
        return svg_text(figure)
    finally:
        plt.close(figure)  # else the notebook shows every frame once more below the cell


def _alt(alt: str | Callable[..., str], sliders: Sequence[_Slider], chosen: Mapping[str, Any]) -> str:
    text = _words("alt", alt(**chosen) if callable(alt) else alt)
    if text.strip() and not callable(alt):
        values = "; ".join(f"{slider.label}: {_text(chosen[slider.name])}" for slider in sliders)
        text = f"{text} {values}."
    if not text.strip():
        raise AuditInputError(f"alt: empty for {dict(chosen)}; say in words what the picture shows")
    return text


_PICTURE = _HTML.from_string(
    """\
<figure class="al-picture" style="margin:0">
<img src="{{ frame.src }}" alt="{{ frame.alt }}" style="max-width:100%;height:auto">
{% if caption %}<figcaption>{{ caption }}</figcaption>
{% endif %}
</figure>"""
)

# The script finds its explorer as the element before it, so two on one page share nothing. The frames stand
# in the page as JSON and become addresses only when shown.
_SCRIPT = Markup("""\
(function (box) {
  var frames = JSON.parse(box.querySelector("script").textContent);
  var inputs = Array.from(box.querySelectorAll("input")), image = box.querySelector("img");
  function show() {
    var index = 0;
    inputs.forEach(function (input) {
      var texts = JSON.parse(input.dataset.texts);
      index = index * texts.length + Number(input.value);
      input.setAttribute("aria-valuetext", texts[input.value]);
      input.closest("p").querySelector("output").textContent = texts[input.value];
    });
    image.alt = frames[index][1];
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(frames[index][0]);
  }
  inputs.forEach(function (input) { input.disabled = false; input.addEventListener("input", show); });
})(document.currentScript.previousElementSibling);""")

_PAGE = _HTML.from_string(
    """\
<div class="al-explorer" role="group" aria-label="{{ caption or sliders[0].label }}">
{% for slider in sliders %}
<p class="al-slider"><label>{{ slider.label }}
<input type="range" name="{{ slider.name }}" aria-label="{{ slider.label }}" min="0" \
max="{{ slider.texts | length - 1 }}" step="1" value="{{ slider.start }}" \
aria-valuetext="{{ slider.texts[slider.start] }}" data-texts='{{ slider.texts | tojson }}' \
autocomplete="off" disabled></label>
<output style="min-width:min(100%,{{ slider.texts | map('length') | max }}ch)">\
{{ slider.texts[slider.start] }}</output></p>
{% endfor %}
<noscript>The slider needs JavaScript; the picture shows its starting value.</noscript>
<figure class="al-picture">
<img src="{{ first.src }}" alt="{{ first.alt }}" style="max-width:100%;height:auto">
{% if caption %}<figcaption>{{ caption }}</figcaption>
{% endif %}
</figure>
<script type="application/json">{{ frames | tojson }}</script>
</div>
<script>{{ script }}</script>"""
)
