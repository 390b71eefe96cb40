"""The picture of questions and methods: all of it is drawn, fits its boxes, and says what the page says in words."""

import re
from pathlib import Path

import jupytext
import matplotlib.pyplot as plt
import pytest
from matplotlib.patches import FancyBboxPatch

import auditlib as al
from auditlib.errors import AuditInputError
from auditlib.plots import guide, style
from auditlib.plots.guide import STAGES, Stage, Step

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "reference" / "which-method.md").read_text(encoding="utf-8")
STEPS = [step for stage in STAGES for step in stage.steps]
SMALL = [Stage("Scores", (Step("Where?", "Curve"), Step("Who?", "Frontier"))), Stage("Sites", (Step("Do they?", "κ"),))]


@pytest.fixture
def drawn():
    made = []

    def draw(*stages):
        made.append(guide.paths(*stages))
        return made[-1]

    with plt.rc_context():
        style.use()
        yield draw
    for figure in made:
        plt.close(figure)


def plain(text):
    """Text on one line, with straight quotation marks and one blank between words."""
    return " ".join(text.replace("’", "'").split())


def test_every_question_stands_over_its_method_and_stages_stand_below_each_other(drawn):
    ax = drawn(SMALL).axes[0]
    at = {text.get_text(): text.get_position() for text in ax.texts if text.get_text()}
    assert list(at) == ["Scores", "Where?", "Curve", "Who?", "Frontier", "Sites", "Do they?", "κ"]
    heights = [y for _, y in at.values()]
    assert heights == sorted(set(heights))
    for question, method in (("Where?", "Curve"), ("Who?", "Frontier"), ("Do they?", "κ")):
        assert at[question][0] < at[method][0]
    assert ax.yaxis_inverted()


def test_an_arrow_leads_to_each_method_and_from_each_stage_to_the_next(drawn):
    ax = drawn(SMALL).axes[0]
    arrows = [text for text in ax.texts if not text.get_text()]
    level = [arrow for arrow in arrows if arrow.xy[1] == arrow.xyann[1]]
    down = [arrow for arrow in arrows if arrow.xy[0] == arrow.xyann[0]]
    assert (len(level), len(down), len(arrows)) == (3, 1, 4)
    assert all(arrow.xy[0] > arrow.xyann[0] for arrow in level)
    assert down[0].xy[1] > down[0].xyann[1]


def test_every_text_fits_and_none_touches_a_box_that_is_not_its_own(drawn):
    figure = drawn()
    ax = figure.axes[0]
    figure.canvas.draw()
    boxes = [patch.get_window_extent() for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    texts = {text.get_text(): text.get_window_extent() for text in ax.texts if text.get_text()}
    held = [name for stage in STAGES for name in (stage.data, *(step.method for step in stage.steps))]
    assert len(held) == len(boxes)
    for name, box in zip(held, boxes, strict=True):
        assert box.x0 < texts[name].x0 < texts[name].x1 < box.x1, name
        assert box.y0 < texts[name].y0 < texts[name].y1 < box.y1, name
    for step in STEPS:
        question = texts[step.question]
        assert 0 < question.x0 < question.x1 < figure.bbox.width, step.question
        assert not any(question.overlaps(box) for box in boxes), step.question
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
    assert min(edge for box in boxes for edge in (box.x0, box.y0)) > 0
    assert all(box.x1 < figure.bbox.width and box.y1 < figure.bbox.height for box in boxes)


def test_the_picture_follows_the_page_in_light_and_dark(drawn):
    text = style.svg_text(drawn())
    assert set(re.findall(r"#[0-9a-f]{6}", re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL))) == set()


def test_stages_that_cannot_be_drawn():
    for stages in ([], [Stage("Scores", ())]):
        with pytest.raises(AuditInputError, match="at least one is needed, and a step in each"):
            guide.paths(stages)
    for text in ("one\ntwo", " "):
        with pytest.raises(AuditInputError, match="is not one line of text"):
            guide.paths([Stage("Scores", (Step(text, "Curve"),))])


def test_the_alt_text_tells_the_whole_picture():
    figures = [cell.metadata["mystnb"] for cell in jupytext.reads(PAGE, "md:myst").cells if "mystnb" in cell.metadata]
    alt = plain(figures[0]["image"]["alt"]).lower()
    assert [stage.data for stage in STAGES if plain(stage.data).lower() not in alt] == []
    assert [text for step in STEPS for text in step if plain(text).lower().split(": chapter")[0] not in alt] == []


def test_every_method_of_the_picture_stands_in_the_list_with_a_link_to_its_chapter():
    chapters = {path.stem[:2]: path.stem for path in (ROOT / "chapters").glob("*.md")}
    items = dict(re.findall(r"^- \*\*(.*?)\*\*(.*?)(?=^- \*\*|^#)", PAGE, re.DOTALL | re.MULTILINE))
    for step in STEPS:
        question = plain(step.question).split("?")[0].split(":")[0]
        found = [text for title, text in items.items() if title.startswith(question)]
        number = int(re.search(r"chapter (\d+)$", plain(step.method))[1])
        assert len(found) == 1, question
        assert f"</chapters/{chapters[f'{number:02}']}>" in found[0], question


def test_every_function_that_the_page_names_exists():
    assert [name for name in re.findall(r"`al\.(\w+)", PAGE) if not hasattr(al, name)] == []
    assert "`al.audit" in PAGE


def test_the_numbers_typed_on_the_page_are_in_the_order_that_it_names():
    """And `n` of the result, by which a reader is to check the order, is the number of people with the outcome."""
    (text,) = re.findall(r'`al\.parse_confusion\("([^"]+)"\)`, in the order TP, FP, TN, FN', PAGE)
    found = al.rate_interval(al.parse_confusion(text))
    assert found.n.to_series().to_dict() == {"Women": 80 + 30, "Men": 120 + 25}
    assert found.estimate.round(3).to_series().to_dict() == {"Women": 0.727, "Men": 0.828}


def test_gaps_of_two_sites_come_from_one_table_as_the_page_says():
    """One call gives the gap of each site, and `.sel` takes one; the page's formula then gives their difference."""
    assert "√((d₁ − l₁)² + (u₂ − d₂)²) and up by √((u₁ − d₁)² + (d₂ − l₂)²)" in PAGE
    hospitals = {"hospital": ["one", "two"], "sex": ["F", "M"]}
    table = al.confusion(
        tp=[[60, 80], [68, 70]], fn=[[40, 20], [32, 30]], fp=[[9, 9], [9, 9]], tn=[[91, 91], [91, 91]], **hospitals
    )
    both = al.gap_interval(table, "M", "F")
    one, two = both.sel(hospital="one"), both.sel(hospital="two")
    alone = al.gap_interval(table.sel(hospital="one", drop=True), "M", "F")
    assert [float(one[name]) for name in ("estimate", "low", "high")] == [
        float(alone[name]) for name in ("estimate", "low", "high")
    ]
    change = float(one.estimate - two.estimate)
    down = float(((one.estimate - one.low) ** 2 + (two.high - two.estimate) ** 2) ** 0.5)
    up = float(((one.high - one.estimate) ** 2 + (two.estimate - two.low) ** 2) ** 0.5)
    # Apart, one interval excludes zero and the other does not; the difference is what tells.
    assert float(one.low) > 0 > float(two.low)
    # Beside it the normal approximation, ± 1.96 √Σ p(1 − p)/n, at these rates within half a point.
    normal = 1.96 * sum(p * (1 - p) / 100 for p in (0.6, 0.8, 0.68, 0.7)) ** 0.5
    assert (change, down, up) == pytest.approx((0.18, normal, normal), abs=0.005)
