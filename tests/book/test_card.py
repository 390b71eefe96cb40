"""The result card in a browser: alone, on paper, and as a part of a page in a theme."""

import io
import re

import pytest
from PIL import Image

from auditlib.card.page import fragment, page
from tests.book.conftest import AXE
from tests.unit.card_examples import AUDITS, pictures, results

MILLIMETRE = 96 / 25.4
CARDS = ["confusion", "undefined", "rows", "sites", "gap-age", "hostile", "long"]
AXE_RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
  .map(v => [v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 160))])"""
# The shades at the edges of scroll boxes would keep axe from judging the text over them.
UNSHADED = ".al-card .al-scroll { background-image: none !important }"
POINTS = """() => Array.from(document.querySelectorAll(".al-card *")).filter(e => e.getClientRects().length
  && Array.from(e.childNodes).some(n => n.nodeType === 3 && n.textContent.trim()))
  .map(e => [parseFloat(getComputedStyle(e).fontSize) * 0.75, e.textContent.slice(0, 40)])
  .sort((a, b) => a[0] - b[0])[0]"""
# Of the letters in figures the smallest, in points as shown.
LETTERS = """() => Math.min(...Array.from(document.images).filter(i => i.getClientRects().length).map(i => {
  const svg = atob(i.src.split(",")[1]), width = parseFloat(svg.match(/viewBox="0 0 ([\\d.]+)/)[1]);
  const sizes = Array.from(svg.matchAll(/font(?:-size)?: (?:[a-z]+ )*([\\d.]+)px/g)).map(found => parseFloat(found[1]));
  return 0.75 * Math.min(...sizes) * i.getBoundingClientRect().width / width;
}))"""
CUT = """() => Array.from(document.querySelectorAll(".al-scroll, .al-card td, .al-card th"))
  .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.slice(0, 60))"""


class Shown:
    """A page in a tab, with what the browser had to complain about, and all it asked for."""

    def __init__(self, browser, path, text, scheme="light", width=1280, **options):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}, **options)
        path.write_text(text, encoding="utf-8")
        self.tab, self.complaints, self.asked, self.close = context.new_page(), [], [], context.close
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.tab.on("request", lambda request: request.url.startswith("data:") or self.asked.append(request.url))
        self.tab.goto(path.as_uri(), wait_until="load")


@pytest.fixture
def show(browser, tmp_path):
    opened = []

    def open_(text, **options):
        opened.append(Shown(browser, tmp_path / "card.html", text, **options))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


def card(name):
    return page(results(name), pictures(name))


def axe(tab):
    if not AXE.exists():
        pytest.skip("axe-core is missing: run `make vendor`")
    tab.add_style_tag(content=UNSHADED)
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    return tab.evaluate(AXE_RUN)


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", CARDS)
def test_card(show, name, scheme, width):
    shown = show(
        card(name), scheme=scheme, width=width, bypass_csp=True
    )  # for axe; the page's own rule is tested below
    tab = shown.tab
    assert tab.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert tab.evaluate("() => document.querySelector('main').getBoundingClientRect().width") <= 1100
    assert tab.evaluate("() => Array.from(document.images).every(i => i.complete && i.naturalWidth > 300)")
    assert shown.complaints == []
    assert shown.asked == [tab.url]
    assert axe(tab) == []


@pytest.mark.parametrize("name", ["rows", "hostile"])
def test_the_policy_of_a_card_stops_nothing_of_its_own(show, name):
    shown = show(card(name))
    assert shown.tab.evaluate("() => Array.from(document.images).every(i => i.naturalWidth > 300)")
    assert shown.tab.evaluate("() => getComputedStyle(document.querySelector('.al-tiles')).display") == "grid"
    assert shown.complaints == []


@pytest.mark.parametrize("name", AUDITS)
def test_a_narrow_phone_does_not_scroll_sideways(show, name):
    tab = show(card(name), width=320).tab
    assert tab.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_have_the_colour_of_the_page(show, scheme):
    tab = show(card("rows"), scheme=scheme).tab
    corners = [
        Image.open(io.BytesIO(image.screenshot())).convert("RGB").getpixel((2, 2)) for image in tab.locator("img").all()
    ]
    assert set(corners) == {(255, 255, 255) if scheme == "light" else (18, 18, 18)}


def test_the_keyboard_reaches_what_scrolls(show):
    tab = show(card("sites"), width=375).tab
    wide = tab.evaluate(
        "() => Array.from(document.querySelectorAll('.al-scroll')).filter(e => e.scrollWidth > e.clientWidth)"
        ".map(e => e.getAttribute('aria-label'))"
    )
    assert len(wide) > 1
    reached = []
    for _ in range(tab.locator(".al-scroll").count()):
        tab.keyboard.press("Tab")
        label = tab.evaluate("() => document.activeElement.getAttribute('aria-label')")
        assert tab.evaluate("() => parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
        if label in wide:
            tab.keyboard.press("ArrowRight")
            tab.wait_for_function("() => document.activeElement.scrollLeft > 0")
        reached.append(label)
    assert set(wide) <= set(reached)


@pytest.mark.parametrize("name", AUDITS)
def test_a_card_prints_on_one_page(show, name):
    tab = show(card(name), scheme="dark").tab
    paper = tab.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    width, height = map(float, re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", paper).groups())
    assert (width, height) == (pytest.approx(595, abs=1), pytest.approx(842, abs=1))


@pytest.mark.parametrize("name", AUDITS)
def test_paper_has_room_and_its_letters_can_be_read(show, name):
    tab = show(card(name), scheme="dark").tab
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": round(190 * MILLIMETRE), "height": round(277 * MILLIMETRE)})
    assert tab.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert tab.evaluate(CUT) == []
    size, text = tab.evaluate(POINTS)
    assert size >= 6.49, text
    assert 6.5 <= tab.evaluate(LETTERS) < 20
    assert tab.evaluate("() => getComputedStyle(document.querySelector('h1')).color") == "rgb(29, 35, 43)"  # light ink


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_two_fragments_in_a_page_that_chooses_its_theme(show, theme):
    body = fragment(results("rows"), pictures("rows")) + fragment(results("rows"), pictures("rows"))
    start = (
        f'<!DOCTYPE html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8"><title>Book</title><style>'
    )
    start += (
        f"html {{ color-scheme: {theme} }} body {{ margin: 0 }}</style></head><body><main><h1>Book</h1><h2>Card</h2>"
    )
    shown = show(f"{start}{body}</main></body></html>", scheme="light" if theme == "dark" else "dark", width=700)
    tab = shown.tab
    paper = tab.evaluate("() => getComputedStyle(document.querySelector('.al-card')).backgroundColor")
    assert paper == ("rgb(18, 18, 18)" if theme == "dark" else "rgb(255, 255, 255)")
    corner = Image.open(io.BytesIO(tab.locator("img").first.screenshot())).convert("RGB").getpixel((2, 2))
    assert corner == ((18, 18, 18) if theme == "dark" else (255, 255, 255))
    assert tab.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert shown.complaints == []
    assert axe(tab) == []
