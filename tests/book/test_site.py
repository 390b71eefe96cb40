"""The site in a browser, every page, light and dark, desktop and phone; chapters join by standing in the toc."""

import io

import pytest
from PIL import Image

from tests.book.conftest import AXE, CHAPTERS, NOTEBOOKS, PAGES, ROOT
from tests.book.visiting import OPEN_ALL, Visit

# Text that still shows TeX after MathJax has run.
RAW_MATHS = r"""() => Array.from(document.querySelectorAll(".math"))
  .filter(m => !m.querySelector("mjx-container") || m.querySelector("mjx-merror")).map(m => m.textContent)"""
AXE_RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
  .map(v => [v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 160))])"""
# The shades at the edges of scroll boxes would keep axe from judging the text over them.
UNSHADED = ".bd-content * { background-image: none !important }"
# Of what is wider than its box, and scrolls, the text of what has no shade where more lies.
NO_CUE = """() => Array.from(document.querySelectorAll("article *")).filter(e => {
  const style = getComputedStyle(e), scrolls = ["auto", "scroll"].includes(style.overflowX);
  return scrolls && e.scrollWidth > e.clientWidth + 1 && !style.backgroundAttachment.includes("local");
}).map(e => e.outerHTML.slice(0, 120))"""
PICTURE = "box => [box.querySelector('img').src, box.querySelector('img').alt]"


@pytest.fixture
def visit(browser, address):
    visits = []

    def open_(page, **options):
        visits.append(Visit(browser, address, page, **options))
        return visits[-1]

    yield open_
    for visited in visits:
        visited.close()


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", [*PAGES, "search", "genindex"])
def test_page(visit, page, scheme, width):
    if not AXE.exists():
        pytest.skip("axe-core is missing: run `make vendor`")
    visited = visit(f"{page}.html", scheme=scheme, width=width)
    tab = visited.tab
    if tab.locator(".math").count():
        tab.wait_for_function("() => window.MathJax?.startup?.promise")
        tab.evaluate("() => MathJax.startup.promise")
        assert tab.locator("mjx-container").count() > 0
    assert tab.evaluate(RAW_MATHS) == []
    tab.evaluate(OPEN_ALL)
    assert tab.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert visited.complaints == []  # before axe, which fetches style sheets from where they are not
    assert tab.evaluate(NO_CUE) == []
    tab.add_style_tag(content=UNSHADED)
    tab.add_script_tag(path=AXE)
    assert tab.evaluate(AXE_RUN) == []


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_every_slider_moves_by_keyboard(visit, page):
    visited = visit(f"{page}.html")
    explorers = visited.tab.locator(".al-explorer")
    assert explorers.count() > 0 or page not in CHAPTERS
    for number in range(explorers.count()):
        explorer = explorers.nth(number)
        others = [explorers.nth(i).evaluate(PICTURE) for i in range(explorers.count()) if i != number]
        for slider in explorer.locator("input").all():
            before, said = explorer.evaluate(PICTURE), slider.get_attribute("aria-valuetext")
            at_end = slider.input_value() == slider.get_attribute("max")
            slider.focus()
            visited.tab.keyboard.press("ArrowLeft" if at_end else "ArrowRight")
            after = explorer.evaluate(PICTURE)
            assert before[0] != after[0], "the picture"
            assert before[1] != after[1], "its alt text"
            assert slider.get_attribute("aria-valuetext") != said
            assert explorer.evaluate("box => box.querySelector('img').decode().then(() => true)")
        assert others == [explorers.nth(i).evaluate(PICTURE) for i in range(explorers.count()) if i != number]
    assert visited.complaints == []


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_without_javascript_the_default_picture_stands(visit, page):
    tab = visit(f"{page}.html", java_script_enabled=False).tab
    for explorer in tab.locator(".al-explorer").all():
        assert explorer.locator("img").get_attribute("src").startswith("data:image/svg+xml")
        assert explorer.locator("img").bounding_box()["width"] > 300
        assert explorer.locator("input").first.is_disabled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_follow_the_page(visit, scheme):
    """Of each picture a corner pixel: it is the page's background, also where the reader chose against the system."""
    tab = visit(f"{CHAPTERS[0]}.html", scheme="light" if scheme == "dark" else "dark").tab
    tab.evaluate(f"() => {{ document.documentElement.dataset.theme = '{scheme}' }}")
    pictures = [image for image in tab.locator("article img").all() if image.is_visible()]
    assert len(pictures) > 1
    for picture in pictures:
        corner = Image.open(io.BytesIO(picture.screenshot())).convert("L").getpixel((3, 3))
        assert corner > 240 if scheme == "light" else corner < 30


def test_search_finds_a_chapter(visit):
    tab = visit("search.html?q=sensitivity").tab
    tab.wait_for_selector("#search-results li a")
    assert tab.locator("#search-results li a").count() > 0


def test_self_hosted_files_are_no_sources_of_ours():
    assert not [path for path in (ROOT / "_static").rglob("*") if path.stat().st_size > 100_000]
