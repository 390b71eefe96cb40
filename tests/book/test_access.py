"""What readers need who see little, use no mouse, no script, no motion, or a narrow window."""

import re
from collections import Counter

import pytest

from auditlib.plots.style import PALETTE
from tests.book.conftest import CHAPTERS, PAGES
from tests.book.visiting import OPEN_ALL, Visit

WALKED = CHAPTERS[2]  # has all there is: folded code, sliders, answers, solutions, wide formulas
SMALLEST = 9.0  # CSS pixels of the smallest word in a figure on the narrowest screen
TEXT, MARK = 4.5, 3.0  # WCAG 2.2, 1.4.3 and 1.4.11
DRAWN_ONLY = {"paper", "grid"}  # a background, and lines that only help the eye: neither need be seen

# The element in focus: what it is, its place in the document, whether its focus shows and nothing lies over it.
FOCUSED = r"""async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  document.getAnimations().forEach(a => a.finish());
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  window.walked = window.walked || [];
  const last = window.walked.at(-1), style = getComputedStyle(e), box = e.getBoundingClientRect();
  const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const halo = / [2-9]px\b/.test(style.boxShadow) && !style.boxShadow.startsWith("rgba(0, 0, 0, 0)");
  const x = Math.min(Math.max(box.left + box.width / 2, 0), innerWidth - 1);
  const y = Math.min(Math.max(box.top + Math.min(box.height, 30) / 2, 0), innerHeight - 1);
  const top = document.elementFromPoint(x, y);
  const label = e.labels?.[0]?.textContent;
  const seen = {
    what: e.outerHTML.slice(0, 150), kind: e.matches(".toggle-button") ? "SOLUTION" : e.tagName,
    name: (e.getAttribute("aria-label") || label || e.textContent || e.title).trim(),
    again: window.walked.includes(e), shows: ring || halo, classes: e.className,
    before: Boolean(last && last.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING),
    covered: !(top && (e.contains(top) || top.contains(e))),
    place: e.matches("[href='#main-content']") ? "skip link" : e.closest(".bd-sidebar-primary") ? "navigation"
      : e.closest(".bd-header-article") ? "buttons" : e.closest(".prev-next-footer") ? "next"
      : e.closest("article") ? "text" : "contents",
  };
  window.walked.push(e);
  return seen;
}"""
MISSED = """() => [...document.querySelectorAll("a[href], button, input, summary, [tabindex]")].filter(
  e => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({visibilityProperty: true}) && !window.walked.includes(e)
).map(e => e.outerHTML.slice(0, 120))"""
UNFOLDED = """e => e.matches("summary") ? e.parentElement.open
  : !e.closest(".admonition").classList.contains("toggle-hidden")"""

# Of each figure on the page the size in CSS pixels of its smallest word, as shown.
SMALLEST_WORD = """async () => {
  const found = [];
  for (const image of document.querySelectorAll("article img")) {
    const host = document.createElement("div"), text = await (await fetch(image.src)).text();
    host.style.cssText = "position: absolute; visibility: hidden";
    host.innerHTML = text.slice(text.indexOf("<svg"));
    document.body.append(host);
    const svg = host.querySelector("svg");
    svg.setAttribute("width", image.getBoundingClientRect().width);
    svg.removeAttribute("height");
    const words = [...svg.querySelectorAll("text, tspan")]
      .filter(word => word.textContent.trim() && !word.querySelector("tspan"));
    found.push(Math.min(...words.map(word => {
      const m = word.getScreenCTM();
      return parseFloat(getComputedStyle(word).fontSize) * Math.sqrt(Math.abs(m.a * m.d - m.b * m.c));
    })));
    host.remove();
  }
  return found;
}"""
STRUCTURE = """() => {
  const all = s => [...document.querySelectorAll(s)], seen = e => e.checkVisibility();
  const levels = all("h1, h2, h3, h4, h5, h6").filter(seen).map(h => Number(h.tagName[1]));
  return {
    lang: document.documentElement.lang, main: all("main").length, h1: all("h1").length,
    skipped: levels.filter((level, i) => level > (levels[i - 1] || 0) + 1),
    unnamed: all("nav").filter(seen)
      .filter(n => !n.ariaLabel && !document.getElementById(n.getAttribute("aria-labelledby"))).map(n => n.className),
    alone: all("article figure").filter(f => !f.closest(".al-card") && !f.querySelector("figcaption")).length,
    outside: all("article img").filter(i => !i.closest("figure")).length,
    wordless: all("img").filter(i => !i.hasAttribute("alt")).length,
    silent: all("mjx-container").filter(m => !m.querySelector("mjx-assistive-mml > math")
      || m.closest("[aria-hidden='true']") || m.querySelector("mjx-assistive-mml[aria-hidden='true']")).length,
  };
}"""
SOUND = {"lang": "en", "main": 1, "h1": 1, "skipped": [], "unnamed": [], "alone": 0, "outside": 0, "wordless": 0}
# What scrolls by itself, without a name, a role or a way in for the keyboard.
UNREACHED = """() => [...document.querySelectorAll("article *")].filter(e => {
  const scrolls = ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1;
  return scrolls && !(e.tabIndex === 0 && e.getAttribute("role") && e.ariaLabel);
}).map(e => e.outerHTML.slice(0, 150))"""
SIDEWAYS = "() => document.documentElement.scrollWidth - innerWidth"
# WCAG 1.4.12: a reader may set these, and nothing may be lost.
SPACED = """* { letter-spacing: 0.12em !important; line-height: 1.5 !important; word-spacing: 0.16em !important }
p { margin-bottom: 2em !important }"""
CUT = """() => [...document.querySelectorAll("article *")].filter(e => {
  const style = getComputedStyle(e), hidden = side => ["hidden", "clip"].includes(style["overflow" + side]);
  const shown = e.clientHeight > 2 && e.checkVisibility() && !e.closest("mjx-container, svg, .sr-only, div.math");
  const formula = e.matches("span.math") && e.querySelector("mjx-math")?.getBoundingClientRect();
  if (formula) return hidden("X") && formula.width > e.getBoundingClientRect().width + 1;
  return shown && ((hidden("X") && e.scrollWidth > e.clientWidth + 1)
    || (hidden("Y") && style.overflowX === "hidden" && e.scrollHeight > e.clientHeight + 1));
}).map(e => e.outerHTML.slice(0, 150))"""


@pytest.fixture
def visit(browser, address):
    visits = []

    def open_(page, **options):
        visits.append(Visit(browser, address, f"{page}.html", **options))
        return visits[-1].settle()

    yield open_
    for visited in visits:
        visited.close()


def walk(tab):
    """Press Tab until the page ends, unfolding whatever can be; what was reached, in that order."""
    stops = []
    for _ in range(600):
        tab.keyboard.press("Tab")
        stop = tab.evaluate(FOCUSED)
        if stop is None:
            return stops
        assert not stop["again"], f"a trap: {stop['what']}"
        stops.append(stop)
        if stop["kind"] in ("SUMMARY", "SOLUTION"):
            tab.keyboard.press("Enter" if len(stops) % 2 else "Space")
            assert tab.evaluate_handle("() => document.activeElement").evaluate(UNFOLDED), stop["what"]
            tab.wait_for_timeout(120)
            tab.wait_for_function(f"() => ({UNREACHED})().length === 0")
    raise AssertionError("the page has no end")


def test_a_chapter_by_keyboard_alone(visit):
    tab = visit(WALKED, reduced_motion="reduce")
    stops = walk(tab)
    assert tab.evaluate(MISSED) == []
    assert [stop["what"] for stop in stops if not stop["shows"]] == []
    assert [stop["what"] for stop in stops if stop["covered"]] == []
    assert [stop["what"] for stop in stops if not stop["name"]] == []
    assert [stop["what"] for stop in stops if stop["before"]] == []
    places = list(dict.fromkeys(stop["place"] for stop in stops))
    assert places == ["skip link", "navigation", "buttons", "text", "next", "contents"]
    kinds = Counter(stop["kind"] for stop in stops)
    assert kinds["SUMMARY"] == tab.locator("article summary").count() > 5
    assert kinds["SOLUTION"] == tab.locator("article .toggle-button").count() > 2
    assert kinds["INPUT"] == tab.locator("article input").count() > 0
    assert [stop["name"] for stop in stops if stop["place"] == "buttons"][1:3] == [
        "Launch interactive content",
        "Source repositories",
    ]


def test_back_from_the_end_by_keyboard(visit):
    tab = visit(CHAPTERS[0], reduced_motion="reduce")
    tab.locator(".prev-next-footer a").last.focus()
    tab.evaluate(FOCUSED)
    for _ in range(40):
        tab.keyboard.press("Shift+Tab")
        assert not tab.evaluate(FOCUSED)["again"]


def test_the_skip_link_leads_to_the_text(visit):
    tab = visit(CHAPTERS[0], reduced_motion="reduce")
    tab.keyboard.press("Tab")
    tab.wait_for_function(
        "() => document.activeElement.getBoundingClientRect().top >= 0", timeout=5_000
    )  # it slides in
    box = tab.locator(":focus").bounding_box()
    assert box["x"] >= 0
    tab.keyboard.press("Enter")
    assert tab.evaluate("() => location.hash") == "#main-content"
    tab.keyboard.press("Tab")
    assert tab.evaluate("() => Boolean(document.activeElement.closest('main'))")


def test_launch_and_theme_by_keyboard(visit):
    tab = visit(CHAPTERS[0])
    launch = tab.get_by_role("button", name="Launch interactive content")
    launch.focus()
    tab.keyboard.press("Enter")
    links = tab.locator(".dropdown-launch-buttons a")
    assert [" ".join(link.inner_text().split()) for link in links.all()] == ["Binder", "Colab"]
    assert all(link.is_visible() for link in links.all())
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("() => document.activeElement.href").startswith("https://mybinder.org")
    tab.keyboard.press("Escape")
    assert not links.first.is_visible()
    theme = tab.locator(".theme-switch-button:visible").first
    theme.focus()
    modes = []
    for _ in range(3):
        tab.keyboard.press("Enter")
        tab.wait_for_timeout(50)
        modes.append(tab.evaluate("() => document.documentElement.dataset.mode"))
    assert sorted(modes) == ["auto", "dark", "light"]


@pytest.mark.parametrize("side", ["primary", "secondary"])
def test_the_side_bars_of_a_phone_by_keyboard(visit, side):
    tab = visit(CHAPTERS[0], width=375, reduced_motion="reduce")
    bar = tab.locator(f"dialog#pst-{side}-sidebar-modal")
    button = tab.locator(f".{side}-toggle:visible")
    assert button.count() == 1
    button.focus()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    assert bar.evaluate("bar => bar.open && bar.contains(document.activeElement)")
    assert bar.locator("a:visible").count() > 5
    tab.keyboard.press("Escape")
    tab.wait_for_timeout(100)
    assert not bar.evaluate("bar => bar.open")
    assert button.evaluate("button => button === document.activeElement")


def test_the_navigation_of_a_desk_folds(visit):
    tab = visit(CHAPTERS[0], reduced_motion="reduce")
    link = tab.locator("#pst-primary-sidebar nav a").first
    assert link.is_visible()
    tab.locator(".primary-toggle:visible").focus()
    for state in ("hidden", "visible"):
        tab.keyboard.press("Enter")
        link.wait_for(state=state, timeout=5000)


def test_arrow_keys_scroll_a_wide_table(visit):
    tab = visit(CHAPTERS[1], width=320)
    tab.evaluate(OPEN_ALL)
    box = tab.locator("[role=region][aria-label^=Table]").first
    box.focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_timeout(300)
    assert box.evaluate("box => box.scrollLeft") > 0


def luminance(colour):
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """From 1 (the same) to 21 (black on white).

    >>> contrast("#ffffff", "#000000")
    21.0
    """
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_stand_out_from_the_page(visit, scheme):
    tab = visit(CHAPTERS[0], scheme=scheme)
    page = tab.evaluate("() => getComputedStyle(document.querySelector('.bd-content')).getPropertyValue('--al-behind')")
    painted = tab.evaluate("() => getComputedStyle(document.body).backgroundColor")
    behind = "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", painted)[:3])
    assert page.strip()
    for paper in {behind, getattr(PALETTE["paper"], scheme)}:
        ratios = {name: contrast(getattr(colour, scheme), paper) for name, colour in PALETTE.items()}
        # Every colour may carry words, so that each has to reach what words need, which is more than marks do.
        assert {name: ratio for name, ratio in ratios.items() if name not in DRAWN_ONLY and ratio < TEXT} == {}


def test_figures_use_the_palette_alone(site):
    pictures = list((site / "_images").glob("*.svg"))
    assert len(pictures) > 50
    for path in pictures:
        drawn = re.sub(r"<style>.*?</style>", "", path.read_text("utf-8"), count=1, flags=re.DOTALL)
        assert not re.findall(r"(?:fill|stroke):\s*(?:#|rgb)[^;\"]*", drawn), path.name
        for words in re.findall(r"<text[^>]*>", drawn):
            assert "opacity" not in words, path.name
            assert "var(--grid)" not in words, path.name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_buttons_and_focus_stand_out(visit, scheme):
    tab = visit(CHAPTERS[0], scheme=scheme, reduced_motion="reduce")
    hexed = "c => '#' + c.match(/\\d+/g).slice(0, 3).map(n => Number(n).toString(16).padStart(2, '0')).join('')"
    page = tab.evaluate(f"() => ({hexed})(getComputedStyle(document.body).backgroundColor)")
    buttons = tab.locator(".bd-header-article button:visible").all()
    assert len(buttons) >= 4
    for button in buttons:
        assert contrast(button.evaluate(f"b => ({hexed})(getComputedStyle(b).color)"), page) >= MARK
        button.focus()
        ring = tab.evaluate(f"() => ({hexed})(getComputedStyle(document.activeElement).outlineColor)")
        assert contrast(ring, page) >= MARK


@pytest.mark.parametrize("page", [*PAGES, "search", "genindex"])
def test_the_narrowest_page(visit, page):
    """320 CSS pixels: 1280 at 400% (WCAG 1.4.10). What is wider scrolls in a box that says what it is."""
    tab = visit(page, width=320)
    tab.evaluate(OPEN_ALL)
    tab.wait_for_timeout(150)
    assert tab.evaluate(SIDEWAYS) <= 0
    assert tab.evaluate(UNREACHED) == []
    structure = tab.evaluate(STRUCTURE)
    assert structure.pop("silent") == 0
    assert structure == SOUND
    assert [size for size in tab.evaluate(SMALLEST_WORD) if size < SMALLEST] == []
    tab.add_style_tag(content=SPACED)
    tab.wait_for_function(f"() => ({UNREACHED})().length + ({CUT})().length === 0", timeout=10_000)
    assert tab.evaluate(SIDEWAYS) <= 0


def test_titles_are_unique(site):
    titles = Counter(
        re.search(r"<title>(.*?)</title>", (site / f"{page}.html").read_text("utf-8"))[1] for page in PAGES
    )
    assert max(titles.values()) == 1
    assert all(titles)


def test_without_javascript_a_chapter_reads(browser, address):
    visited = Visit(browser, address, f"{WALKED}.html", java_script_enabled=False)
    tab = visited.tab
    pictures = tab.locator("article .cell_output img")
    assert pictures.count() > 5
    for picture in pictures.all():
        if picture.evaluate("image => !image.closest('details, .toggle')"):
            assert picture.bounding_box()["width"] > 300
    assert tab.locator("article table").first.is_visible()
    answer = tab.locator("article details.sd-dropdown").first
    assert not answer.locator("p").last.is_visible()
    answer.locator("summary").click()
    assert answer.locator("p").last.is_visible()
    assert tab.locator("article .solution p").last.is_visible()
    visited.close()


def test_without_motion(visit):
    tab = visit(CHAPTERS[0], reduced_motion="reduce")
    moving = """() => [...document.querySelectorAll("*")].filter(e => {
      const style = getComputedStyle(e), lasts = [style.transitionDuration, style.animationDuration].join(", ");
      return lasts.split(", ").some(time => parseFloat(time) > 0.01) || style.scrollBehavior === "smooth";
    }).map(e => e.outerHTML.slice(0, 100))"""
    assert tab.evaluate(moving) == []


def test_in_forced_colours(visit):
    tab = visit(WALKED, forced_colors="active", width=375)
    assert tab.evaluate("() => matchMedia('(forced-colors: active)').matches")
    slider = tab.locator("article input[type=range]").first
    slider.focus()
    tab.keyboard.press("ArrowRight")
    ring = slider.evaluate("e => [getComputedStyle(e).outlineStyle, parseFloat(getComputedStyle(e).outlineWidth)]")
    assert ring == ["solid", 3]
    assert slider.bounding_box()["width"] > 100
    assert tab.evaluate(
        "() => getComputedStyle(document.querySelector('.bd-content .highlight > pre')).backgroundImage"
    ) == ("none")


def test_on_paper_answers_are_unfolded_and_code_is_not(visit):
    tab = visit(WALKED, scheme="dark")
    folded = "() => document.querySelectorAll('article details:not([open])').length"
    before = tab.evaluate(folded)
    tab.emulate_media(media="print")
    tab.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("article details.sd-dropdown p").last.is_visible()
    assert tab.locator("article .solution p").last.is_visible()
    assert not tab.locator("article details.above-input").first.is_visible()
    assert not tab.locator(".bd-sidebar-primary").first.is_visible()
    assert tab.locator("h1:visible").count() == 1
    assert tab.evaluate("() => document.documentElement.dataset.theme") == "light"
    tab.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(folded) == before > 5
    assert tab.evaluate("() => document.documentElement.dataset.theme") == "dark"
