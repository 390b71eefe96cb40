"""The slides: what each says is its notebook's; and the page in a browser, by keyboard, on paper, without script."""

import ast
import base64
import contextlib
import doctest
import io
import json
import re
import unicodedata
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urldefrag

import pytest

from tests.book.conftest import AXE, BUILD, ROOT
from tools import slides
from tools.slides import SlideError, entries, filled, make, plain

AT_TOP = "id => Math.abs(document.getElementById(id).getBoundingClientRect().top) < 2"
LISTED = entries((ROOT / "teach" / "slides.md").read_text(encoding="utf-8"))
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><path d="M0 0"/></svg>'
TITLE = "Gaps have intervals"
PROSE = "# One\n\n## Is λ here?\n\n```{note}\n## no heading\n```"


def shown(title=TITLE, figure="one-gaps", numbers="Gap {one-gap:+.1f} points.", note="Look & *see* `p < q`."):
    lines = [f"## {title}", f"% figure: {figure}\n% numbers: {numbers}", f"{{numref}}`{figure}`, in the chapter.", note]
    return "# Slides\n\n" + "\n\n".join(lines) + "\n"


@pytest.fixture
def book(tmp_path):
    """A book of one executed chapter with one figure."""

    def write(source=None, **options):
        (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: chapters/01-one\n")
        (tmp_path / "chapters").mkdir(exist_ok=True)
        figure = {"caption": "Two gaps, with 95% intervals (n = 7).", "name": "one-gaps"}
        image = {"alt": 'Two dots with intervals; the first, "A", lies left of zero.'}
        drawn = {"image/svg+xml": PICTURE} | options.get("data", {})
        glued = {"data": {f"{slides.RECORD}text/plain": "-2.04"}, "metadata": {"scrapbook": {"name": "one-gap"}}}
        cells = [
            {
                "cell_type": "markdown",
                "metadata": {},
                "source": "# One\n\n## Is λ here?\n\n```{note}\n## no heading\n```",
            },
            {
                "cell_type": "code",
                "metadata": {"mystnb": {"figure": figure, "image": image} | options.get("mystnb", {})},
                "source": "",
                "outputs": [glued, {"data": drawn, "metadata": {}}],
            },
        ]
        (tmp_path / "chapters" / "01-one.ipynb").write_text(json.dumps({"cells": cells}))
        (tmp_path / "slides.md").write_text(source or shown())
        return make(tmp_path / "slides.md", tmp_path, tmp_path)

    return write


class Deck(HTMLParser):
    """What a page of slides holds."""

    def __init__(self, page):
        super().__init__()
        self.slides, self.images, self.links, self.ids, self.tags = [], [], [], set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags.append(tag)
        self.ids |= {values["id"]} if "id" in values else set()
        if values.get("class") == "slide":
            self.slides.append(values["id"])
        if tag == "img":
            self.images.append(values)
        self.links += [values[name] for name in ("href", "src", "action", "poster") if values.get(name)]


def test_numbers_glued_into_a_caption_are_shown(book):
    caption = "A gap of {glue:text}`one-gap:+.1f` points, with 95% intervals (n = 7)."
    page = book(mystnb={"figure": {"caption": caption, "name": "one-gaps"}})
    assert "A gap of −2.0 points, with 95% intervals (n = 7)." in page
    with pytest.raises(SlideError, match="no number called 'two-gap'"):
        book(mystnb={"figure": {"caption": caption.replace("one-gap", "two-gap"), "name": "one-gaps"}})


def test_a_slide_says_what_its_notebook_says(book):
    page = book()
    deck = Deck(page)
    assert deck.slides == ["one-gaps"]
    assert deck.images[0]["alt"] == 'Two dots with intervals; the first, "A", lies left of zero.'
    assert base64.b64decode(deck.images[0]["src"].split(",")[1]).decode() == PICTURE
    assert deck.images[0]["style"] == "--ratio: 2.0000"
    assert "<p>Two gaps, with 95% intervals (n = 7).</p>" in page
    assert '<p class="numbers">Gap −2.0 points.</p>' in page
    assert "Look &amp; <em>see</em> <code>p &lt; q</code>." in page
    assert '<a href="../chapters/01-one.html#is-here">Chapter 1: Is λ here?</a>' in page
    assert TITLE in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": shown(figure="two-gaps")}, "no figure is called 'two-gaps'"),
        ({"source": shown(numbers="Gap {one-gab}.")}, "no number called 'one-gab'"),
        ({"source": shown(title="A gap of 2 points")}, "a number in a title is typed"),
        ({"source": shown(note="See {ref}`there`.")}, "alone"),
        ({"source": shown(note="")}, "then the note"),
        ({"source": shown().replace("% numbers", "% number")}, "needs one figure and one line of numbers"),
        ({"source": shown().replace("{numref}`one-gaps`", "The figure")}, "first a paragraph with"),
        ({"source": shown() + shown()}, "2 figures, 1 different"),
        ({"source": "# Slides\n"}, "0 figures"),
        ({"mystnb": {"image": {}}}, "has no alt"),
        ({"mystnb": {"figure": {"name": "one-gaps"}}}, "has no caption"),
        ({"data": {"image/svg+xml": ""}}, "has no picture"),
        ({"data": {"image/svg+xml": "<svg/>"}}, "has no viewBox"),
    ],
)
def test_what_is_missing_is_an_error(book, change, message):
    with pytest.raises(SlideError, match=re.escape(message)):
        book(**change)


def test_the_program_names_what_is_wrong(tmp_path, monkeypatch):
    (tmp_path / "slides.md").write_text(shown(figure="nobodys-figure"))
    options = [
        "--source",
        str(tmp_path / "slides.md"),
        "--executed",
        str(tmp_path),
        "--out",
        str(tmp_path / "out.html"),
    ]
    monkeypatch.setattr("sys.argv", ["slides.py", *options])
    with pytest.raises(SystemExit, match="nobodys-figure"):
        slides.main()
    assert not (tmp_path / "out.html").exists()


def test_examples_of_the_tool():
    assert doctest.testmod(slides).failed == 0
    assert plain("a `b*c` *d*").count("<em>") == 1
    assert filled("{n} of {share:.0%}", {"n": "1,728", "share": 0.5}) == "1,728 of 50%"


@pytest.fixture(scope="module")
def deck(tmp_path_factory):
    """The slides of the build, as a file of their own."""
    if not (BUILD / "executed" / "intro.ipynb").exists():
        pytest.skip("no build/executed: run `make site`")
    path = tmp_path_factory.mktemp("slides") / "slides.html"
    path.write_text(make(ROOT / "teach" / "slides.md", BUILD / "executed"), encoding="utf-8")
    return path


def test_as_many_slides_as_are_listed_each_with_words(deck):
    found = Deck(deck.read_text(encoding="utf-8"))
    assert 12 <= len(LISTED) <= 20
    assert found.slides == [entry.figure for entry in LISTED]
    assert len(found.images) == len(LISTED)
    assert all(len(image["alt"]) > 40 for image in found.images)
    assert {"main", "nav", "header", "footer", "h1"} <= set(found.tags)
    assert found.tags.count("h1") == 1
    assert found.tags.count("h2") == len(LISTED)


def test_each_slide_has_an_interval_and_a_number_or_says_why_not(deck):
    for part in re.findall(r"<figcaption>(.*?)</figcaption>", deck.read_text(encoding="utf-8"), re.DOTALL):
        words = unescape(re.sub("<[^>]+>", " ", part))
        assert re.search(r"interval|limits|Monte-Carlo errors|95% ranges|bands?\b", words), words
        assert re.search(r"\d", words), words


def test_the_numbers_of_invented_people_are_those_of_their_figure(deck):
    entry = next(entry for entry in LISTED if entry.figure == "prev-people")
    source = (ROOT / "chapters" / "07-prevalence-and-ppv.md").read_text(encoding="utf-8")
    cells = ast.literal_eval(re.search(r"^cells = (\{.*\})$", source, re.MULTILINE)[1])
    for at, who in enumerate(("men", "women")):
        tp, fn, fp, tn = (cells[name][at] for name in ("tp", "fn", "fp", "tn"))
        assert f"{tp} of {tp + fp} {who} ({tp / (tp + fp):.0%})" in entry.numbers
        assert f"{tp / (tp + fn):.0%} in both" in entry.numbers
        assert tp / (tp + fn) == tn / (tn + fp)


def test_the_slides_load_nothing(deck):
    page = deck.read_text(encoding="utf-8")
    for link in Deck(page).links:
        assert link.startswith(("data:image/svg+xml;base64,", "#", "../")), link[:80]
    code = re.sub(r'src="data:[^"]+"', "", page)
    assert not re.search(r"https?://|//\w+\.\w+/|@import|url\(", code)
    for image in Deck(page).images:
        svg = base64.b64decode(image["src"].split(",")[1]).decode()
        assert not re.search(r"(?:href|src)=\"(?!#)|url\((?!#)|<script|<image", svg)
    assert len(page.encode()) < 1_500_000


def test_the_slides_links_lead_into_the_site(deck, site):
    for link in Deck(deck.read_text(encoding="utf-8")).links:
        if link.startswith("../"):
            path, anchor = urldefrag(link[3:])
            target = (site / path).read_text(encoding="utf-8")
            assert not anchor or f'id="{anchor}"' in target, link


def test_the_site_has_the_slides_and_links_to_them(site):
    page = (site / "teach" / "slides.html").read_text(encoding="utf-8")
    assert 'href="../slides/slides.html"' in page
    made = Deck((site / "slides" / "slides.html").read_text(encoding="utf-8"))
    assert made.slides == [entry.figure for entry in LISTED]


@contextlib.contextmanager
def opened(browser, deck, **options):
    context = browser.new_context(**options)
    tab = context.new_page()
    asked, wrong = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
    tab.goto(deck.as_uri())
    yield tab
    context.close()
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]
    assert wrong == []


def test_arrow_keys_walk_through_the_slides(browser, deck):
    names = [entry.figure for entry in LISTED]
    with opened(browser, deck, viewport={"width": 1280, "height": 800}, reduced_motion="reduce") as tab:
        focused = "document.activeElement.id"
        walked = [
            ("ArrowRight", 0),
            ("ArrowDown", 1),
            ("PageDown", 2),
            ("ArrowLeft", 1),
            ("End", -1),
            ("ArrowRight", -1),
        ]
        for key, at in [*walked, ("Home", 0), ("ArrowLeft", 0)]:
            tab.keyboard.press(key)
            assert tab.evaluate(focused) == names[at], key
            tab.wait_for_function(
                "id => Math.abs(document.getElementById(id).getBoundingClientRect().top) < 2", arg=names[at]
            )
        tab.keyboard.press("n")
        assert tab.locator("details[open]").count() == len(names)
        tab.keyboard.press("N")
        assert tab.locator("details[open]").count() == 0


def test_no_fast_click_is_lost(browser, deck):
    with opened(browser, deck, viewport={"width": 1280, "height": 720}, reduced_motion="no-preference") as tab:
        tab.keyboard.press("Home")
        for _ in range(5):
            tab.keyboard.press("ArrowRight")
        assert tab.evaluate("document.activeElement.id") == LISTED[5].figure
        assert tab.evaluate(AT_TOP, LISTED[5].figure)


def test_a_slide_fills_a_projector_and_no_more(browser, deck):
    with opened(browser, deck, viewport={"width": 1280, "height": 720}) as tab:
        assert set(tab.locator(".slide").evaluate_all("all => all.map(one => one.offsetHeight)")) == {720}
        size = "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
        numbers, captions = (
            tab.locator(which).evaluate_all(size) for which in (".numbers", "figcaption > p:first-child")
        )
        assert min(numbers) > 24 > max(captions)  # the number is the evidence
        assert min(captions) > 19


def test_h_hides_caption_and_number_on_the_screen_until_pressed_again(browser, deck):
    with opened(browser, deck) as tab:
        for key, seen in (("h", False), ("H", True)):
            tab.keyboard.press(key)
            assert tab.locator(".numbers").first.is_visible() == seen
            assert tab.locator("figcaption a").first.is_visible() == seen
            assert tab.locator("figure img").first.is_visible()
        tab.keyboard.press("h")
        tab.emulate_media(media="print")
        assert tab.locator(".numbers").first.is_visible()


def test_a_choice_of_slides_opens_alone_and_in_its_order(browser, deck):
    seen = "all => all.map(one => one.id)"
    with opened(browser, deck) as tab:
        for asked, numbers in (
            ("3,1,11", [3, 1, 11]),
            ("2,2,99,x", [2]),
            ("99", range(1, len(LISTED) + 1)),
        ):
            tab.goto(f"{deck.as_uri()}?show={asked}")
            names = [LISTED[number - 1].figure for number in numbers]
            assert tab.locator(".slide").evaluate_all(seen) == names
            assert tab.locator("nav a").evaluate_all("all => all.map(one => one.hash.slice(1))") == names
            assert tab.locator(".count").first.text_content() == f"{numbers[0]} of {len(LISTED)}"
            tab.keyboard.press("End")
            assert tab.evaluate("document.activeElement.id") == names[-1]


def test_the_skip_link_comes_first(browser, deck):
    with opened(browser, deck) as tab:
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.className") == "skip"
        tab.keyboard.press("Enter")
        assert tab.evaluate("location.hash") == "#slides"


@pytest.mark.parametrize("width", [320, 375, 1280, 1920])
def test_slides_fit_without_javascript_too(browser, deck, width):
    with opened(browser, deck, viewport={"width": width, "height": 800}, java_script_enabled=width > 320) as tab:
        wide = "document.documentElement.scrollWidth"
        assert width == 320 or tab.evaluate(wide) <= width
        boxes = [image.bounding_box() for image in tab.locator("figure img").all()]
        assert len(boxes) == len(LISTED)
        assert all(box["width"] > 150 and box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
        tab.locator("summary").first.click()
        assert tab.locator("details p").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_slides_are_accessible(browser, deck, scheme, width):
    if not AXE.exists():
        pytest.skip("axe-core is missing: run `make vendor`")
    with opened(browser, deck, color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True) as tab:
        tab.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        tab.add_script_tag(path=AXE)
        found = tab.evaluate("async () => (await axe.run()).violations.map(v => [v.id, v.nodes.map(n => n.html)])")
        assert found == []


@pytest.mark.parametrize("notes", [False, True])
def test_each_slide_prints_on_one_page_with_its_note_where_notes_are_shown(browser, deck, notes):
    pypdf = pytest.importorskip("pypdf", reason="pypdf is missing")
    with opened(browser, deck) as tab:
        if notes:
            tab.keyboard.press("n")
        made = pypdf.PdfReader(io.BytesIO(tab.pdf(prefer_css_page_size=True)))
    assert len(made.pages) == len(LISTED)
    for page, entry in zip(made.pages, LISTED, strict=True):
        printed = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", page.extract_text()))  # no ligatures
        assert entry.title.split()[0] in printed
        last = entry.note[-1].splitlines()[-1]
        assert ("Speaker's note" in printed) == (last in printed) == notes
