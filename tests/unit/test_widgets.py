import builtins
import gzip
import json
import re
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pytest

from auditlib.errors import AuditInputError
from auditlib.plots import style
from auditlib.widgets import MAX_FRAMES, explore

LIMIT = 300_000  # bytes, gzipped: what a page may weigh for one explorer


def draw(n, p=0.8):
    drawn, axes = plt.subplots()
    half = 1.96 * np.sqrt(p * (1 - p) / n)
    for position, colour in enumerate(style.GROUPS):
        axes.errorbar(position, p, yerr=half, fmt="o", color=colour, capsize=4)
    axes.set(ylim=(0, 1), title=f"n = {n}")
    return drawn


class Page(HTMLParser):
    """Tags with their attributes, and the text of the data script."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.data, self._in = [], "", None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in = tag if dict(attrs).get("type") == "application/json" else None

    def handle_data(self, data):
        self.data += data if self._in == "script" else ""

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def test_the_default_frame_stands_in_the_page():
    explorer = explore(draw, n=[10, 20, 40], default={"n": 20}, alt=lambda n: f"{n} patients")
    page = Page(explorer.html())
    (image,), (slider,) = page.all("img"), page.all("input")
    assert image["alt"] == "20 patients"
    assert image["src"] == explorer.frames[1].src
    assert slider["type"] == "range"
    assert (slider["max"], slider["value"], slider["aria-valuetext"]) == ("2", "1", "20")
    assert slider["name"] == slider["aria-label"] == "n"
    assert [alt for _, alt in json.loads(page.data)] == ["10 patients", "20 patients", "40 patients"]


def test_two_sliders_index_the_frames_the_first_slowest():
    explorer = explore(draw, n=[10, 20], p=[0.5, 0.7, 0.9], default={"n": 20, "p": 0.7}, alt="Rates.")
    page = Page(explorer.html())
    alts = [alt for _, alt in json.loads(page.data)]
    assert len(alts) == 6
    assert alts[1] == "Rates. n: 10; p: 0.7."
    assert page.all("img")[0]["alt"] == alts[4] == "Rates. n: 20; p: 0.7."
    assert [json.loads(slider["data-texts"]) for slider in page.all("input")] == [
        ["10", "20"],
        ["0.5", "0.7", "0.9"],
    ]


def test_the_value_has_room_for_the_longest():
    html = explore(draw, n=[10, 2000], alt="Rates.").html()
    assert '<output style="min-width:min(100%,4ch)">10</output>' in html  # the slider keeps its width


def test_everything_typed_is_escaped():
    evil = "</script><script>alert('\"&x')</script>"
    explorer = explore(draw, n=[10, 20], alt=evil, labels={"n": evil}, caption=evil)
    html = explorer.html()
    page = Page(html)
    assert html.count("<script") == html.count("</script>") == 2
    assert evil in page.all("img")[0]["alt"]
    assert page.all("input")[0]["aria-label"] == evil
    assert evil in json.loads(page.data)[1][1]
    odd = explore(lambda v: draw(10), v=[evil], alt="x")
    assert json.loads(Page(odd.html()).all("input")[0]["data-texts"]) == [evil]


def test_nothing_in_the_page_can_clash_with_another_explorer():
    html = explore(draw, n=[10, 20], alt="Rates.").html()
    assert not re.search(r"\sid=", re.sub(r"<script type.*?</script>", "", html, flags=re.DOTALL))


@pytest.mark.parametrize("sliders", [{"n": range(10, 31)}, {"n": range(10, 17), "p": np.linspace(0.2, 0.9, 7)}])
def test_the_largest_explorers_stay_light(sliders):
    explorer = explore(draw, alt="Rates of six groups.", **sliders)
    assert len(explorer.frames) == MAX_FRAMES[len(sliders)]
    assert len(gzip.compress(explorer.html().encode())) <= LIMIT


def test_figures_are_closed():
    plt.close("all")
    explore(draw, n=[10, 20], alt="Rates.")
    assert plt.get_fignums() == []


def test_the_bundle_holds_both_faces_and_the_live_one_moves():
    explorer = explore(draw, n=[10, 20], alt=lambda n: f"{n} <patients>")
    bundle = explorer._repr_mimebundle_()
    assert bundle["text/html"] == explorer.html()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    *sliders, picture = explorer._widget().children
    before = picture.value
    sliders[0].index = 1
    assert picture.value != before
    assert 'alt="20 &lt;patients&gt;"' in picture.value


def test_without_ipywidgets_the_html_stands_alone(monkeypatch):
    found = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "ipywidgets":
            raise ImportError(name)
        return found(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    bundle = explore(draw, n=[10], alt="Rates.")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "0 given"),
        ({"n": [1], "p": [1], "q": [1]}, "3 given"),
        ({"n": range(1, 23)}, "22 frames, at most 21"),
        ({"n": range(1, 9), "p": np.linspace(0.1, 0.9, 7)}, "56 frames, at most 49"),
        ({"n": []}, "sliders: n has no values"),
        ({"n": 5}, "sliders: n = 5; give the list"),
        ({"n": "abc"}, "sliders: n = 'abc'; give the list"),
        ({"n": None}, "sliders: n = None; give the list"),
        ({"n": [10], "alt": None}, "alt: None is no text"),
        ({"n": [10], "alt": 5}, "alt: 5 is no text"),
        ({"n": [10], "alt": lambda n: None}, "alt: None is no text"),
        ({"n": [10], "labels": {"n": 5}}, "labels: 5 is no text"),
        ({"n": [10], "caption": None}, "caption: None is no text"),
        ({"n": [10], "default": {"n": 11}}, "n=11 is not among"),
        ({"n": [10], "default": {"m": 10}}, r"\['m'\] name no slider"),
        ({"n": [10], "labels": {"m": "M"}}, r"\['m'\] name no slider"),
        ({"n": [10], "alt": "  "}, "alt: empty"),
        ({"n": [10], "alt": ""}, "alt: empty"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(AuditInputError, match=message):
        explore(draw, **{"alt": "Rates."} | arguments)


def test_a_drawing_that_returns_no_figure_is_named():
    with pytest.raises(AuditInputError, match="returned NoneType"):
        explore(lambda n: None, n=[1], alt="Rates.")


def test_values_may_be_an_iterator():
    explorer = explore(draw, n=(n for n in (10, 20)), alt="Rates.")
    assert [frame.alt for frame in explorer.frames] == ["Rates. n: 10.", "Rates. n: 20."]


def test_the_page_can_always_be_written():
    half = "half \ud800 a pair"
    explorer = explore(lambda n: draw(10), n=[half], alt=half, labels={"n": half}, caption=half)
    assert "half � a pair" in explorer.html().encode().decode()
