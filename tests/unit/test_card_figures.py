import copy
import json
import re
import warnings
import xml.etree.ElementTree as ET

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from auditlib.audits.names import labels
from auditlib.card import drawn
from auditlib.card.figures import compact, figures
from auditlib.card.readings import groups
from auditlib.plots import style
from tests.unit.card_examples import AUDITS, HOSTILE, pictures, results

MOST = 60_000  # bytes of a figure
ALL = ["chance", "prevalence", "thresholds", "choices"]


@pytest.fixture(autouse=True)
def house_style():
    with mpl.rc_context():
        style.use()
        yield
    plt.close("all")


def spans(ax, lw=3):
    """Ends of the intervals drawn along an axis, by the row on which they lie."""
    lines = [line for line in ax.lines if line.get_linewidth() == lw]
    return {float(line.get_ydata()[0]): tuple(map(float, line.get_xdata())) for line in lines}


def dots(ax, marker="o"):
    lines = [line for line in ax.lines if line.get_marker() == marker]
    return {float(line.get_ydata()[0]): float(line.get_xdata()[0]) for line in lines}


def limits(found, scale=100):
    return pytest.approx((scale * found["low"], scale * found["high"]))


def names_of(ax):
    return [text.get_text().replace(r"\$", "$") for text in ax.get_yticklabels()]


@pytest.mark.parametrize("name", AUDITS)
def test_each_question_with_an_answer_has_a_figure(name):
    held, found = results(name), pictures(name)
    asked = held["questions"]
    there = {"chance": True, "prevalence": asked["prevalence"]["raw"]["estimate"] is not None}
    there |= {each: asked[each]["available"] for each in ("thresholds", "choices")}
    there["benefit"] = held["benefit"] is not None
    assert list(found) == [each for each in [*ALL, "benefit"] if there[each]]
    assert all(picture.name == each for each, picture in found.items())


@pytest.mark.parametrize("name", AUDITS)
def test_figures_are_small_well_formed_and_load_nothing(name):
    for picture in pictures(name).values():
        assert len(picture.svg.encode()) <= MOST
        root = ET.fromstring(picture.svg)
        tags = {element.tag.rsplit("}", 1)[-1] for element in root.iter()}
        assert tags <= {"svg", "style", "defs", "g", "path", "text", "tspan", "use", "clipPath", "rect"}
        links = [value for element in root.iter() for key, value in element.attrib.items() if key.endswith("href")]
        assert all(value.startswith("#") for value in links)
        assert re.findall(r": #[0-9a-f]{3,6}\b", picture.svg[picture.svg.index("</style>") :]) == []


@pytest.mark.parametrize("name", AUDITS)
def test_alt_texts_say_the_numbers_and_captions_are_short(name):
    for picture in pictures(name).values():
        assert len(picture.alt) > 40
        assert re.search(r"\d|undefined", picture.alt)
        assert "None" not in picture.alt + picture.caption
        assert "nan" not in picture.alt + picture.caption
        assert len(picture.caption) <= 120


def test_alt_text_of_case_14():
    found = pictures("confusion")
    assert found["chance"].alt == (
        "Sensitivity by group, Women 72.7 (63.7–80.2)%, n = 110; Men 82.8 (75.8–88.0)%, n = 145. "
        "Gap −10.0 points (−20.5 to +0.2)."
    )
    assert found["prevalence"].alt.startswith("Gap in PPV as it is: +9.5 points (")


def test_the_same_results_give_the_same_bytes_whatever_the_reader_has_set():
    before = pictures("rows")
    read = json.loads(json.dumps(results("rows")))
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.grid": False, "svg.fonttype": "path"}):
        settings = dict(mpl.rcParams)
        assert figures(read) == before
        assert dict(mpl.rcParams) == settings
    assert plt.get_fignums() == []


def test_chance_draws_each_group_and_the_gap():
    held = results("rows")
    top, below = drawn.chance(held).axes
    names = groups(held)
    assert names[:2] == [held["comparison"]["a"], held["comparison"]["b"]]
    lines = {line["group"]: line["sensitivity"] for line in held["groups"]}
    assert names_of(top) == [f"{name} ({lines[name]['n']:,})" for name in names]
    assert spans(top) == {k: limits(lines[name]) for k, name in enumerate(names)}
    assert dots(top) == {k: pytest.approx(100 * lines[name]["estimate"]) for k, name in enumerate(names)}
    gap = held["questions"]["chance"]["gap"]
    assert spans(below) == {0: limits(gap)}
    assert dots(below) == {0: pytest.approx(100 * gap["estimate"])}


def test_those_compared_come_first_of_at_most_eight():
    held = copy.deepcopy(results("many"))
    held["comparison"] |= {"a": "Region 24", "b": "Region 17"}
    texts = names_of(drawn.chance(held).axes[0])
    assert [text.split(" (")[0] for text in texts] == ["Region 24", "Region 17", *(f"Region {k:02d}" for k in range(6))]
    assert "17 more groups are in results.json" in figures(held)["chance"].caption


def test_what_is_undefined_is_written_and_not_drawn():
    held = results("undefined")
    top, below = drawn.chance(held).axes
    assert [text.get_text() for text in top.texts] == ["undefined"]
    assert list(spans(top)) == [1]
    assert [text.get_text() for text in below.texts] == ["undefined"]
    assert not spans(below)
    assert "A undefined" in pictures("undefined")["chance"].alt
    ax = drawn.prevalence(held).axes[0]
    assert not spans(ax)  # 5 are flagged in a group: no interval of the gap as it is
    assert [text.get_text() for text in ax.texts] == ["undefined"] * 3


def test_prevalence_draws_both_gaps_and_the_parts():
    found = results("confusion")["questions"]["prevalence"]
    ax = drawn.prevalence(results("confusion")).axes[0]
    assert spans(ax) == {0: limits(found["raw"]), 3: limits(found["standardized"])}
    parts = dots(ax, "D")
    assert parts == {1: pytest.approx(100 * found["split"]["prevalence"]),
                     2: pytest.approx(100 * found["split"]["performance"])}  # fmt: skip
    assert sum(parts.values()) == pytest.approx(100 * found["raw"]["estimate"])


def test_thresholds_draw_interval_band_choice_and_alternatives():
    held = results("rows")
    found = held["questions"]["thresholds"]
    ax = drawn.along(held).axes[0]
    (gap,) = [line for line in ax.lines if line.get_label() == "gap"]
    assert gap.get_xdata() == pytest.approx([line["threshold"] for line in found["points"]])
    assert gap.get_ydata() == pytest.approx([line["estimate"] for line in found["points"]])
    filled = {each.get_label(): each.get_paths()[0].vertices for each in ax.collections}
    for label, low, high in (
        ("interval at one threshold", "low", "high"),
        ("band for the whole curve", "band_low", "band_high"),
    ):
        assert filled[label][:, 1].min() == pytest.approx(min(line[low] for line in found["points"]))
        assert filled[label][:, 1].max() == pytest.approx(max(line[high] for line in found["points"]))
    (shaded,) = ax.patches
    assert (shaded.get_x(), shaded.get_x() + shaded.get_width()) == pytest.approx(tuple(found["range"]))
    upright = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert upright == [held["threshold"]["value"]]


@pytest.mark.parametrize("name", ["gap-age", "sites"])
def test_choices_draw_every_interval_by_its_side(name):
    found = results(name)["questions"]["choices"]
    ax = drawn.choices(results(name)).axes[0]
    shown = {}
    for line in ax.lines:
        ends = np.asarray(line.get_ydata(), float).reshape(-1, 3) if len(line.get_ydata()) % 3 == 0 else None
        if line.get_alpha() == 0.7 and ends is not None:
            shown[line.get_color()] = ends
    rows = [row for row in found["rows"] if row["estimate"] is not None]
    sides = {style.GROUPS[0]: lambda row: row["low"] > 0, style.GROUPS[1]: lambda row: row["high"] < 0}
    sides[style.MUTED] = lambda row: row["low"] <= 0 <= row["high"]
    for colour, on in sides.items():
        expected = np.array([(100 * row["low"], 100 * row["high"]) for row in rows if on(row)]).reshape(-1, 2)
        got = shown.get(colour, np.empty((0, 3)))[:, :2]
        assert len(got) == len(expected)
        assert np.sort(got, axis=0) == pytest.approx(np.sort(expected, axis=0))
    (estimate,) = [line for line in ax.lines if line.get_label() == "estimate"]
    assert estimate.get_ydata() == pytest.approx(sorted(100 * row["estimate"] for row in rows))


@pytest.mark.parametrize("name", AUDITS)
def test_neither_zero_nor_an_end_lies_on_the_frame(name):
    """All that is drawn along an axis lies a twentieth of it inside."""
    held, seen = results(name), 0
    for draw in (drawn.chance, drawn.prevalence, drawn.choices, drawn.benefit):
        if not drawn.there(held, draw.__name__):
            continue
        for ax in draw(held).axes:
            if draw is drawn.choices and not spans(ax):
                continue  # a curve of many has them upright
            low, high = ax.get_xlim()
            room = 0.05 * (high - low)
            drawn_at = [*spans(ax).values(), *((x, x) for x in (*dots(ax).values(), *dots(ax, "|").values()))]
            drawn_at += [(0.0, 0.0) for line in ax.lines if line.get_linestyle() == "--"]
            for ends in drawn_at:
                assert low + room <= min(ends) <= max(ends) <= high - room
                seen += 1
    assert seen > 3


def test_few_choices_have_their_names():
    found = results("rows")["questions"]["choices"]
    ax = drawn.choices(results("rows")).axes[0]
    rows = sorted(found["rows"], key=lambda row: row["estimate"])
    assert 1 < len(rows) <= 12
    assert "as in use" in names_of(ax)
    assert len(set(names_of(ax))) == len(rows)
    assert spans(ax) == {k: limits(row) for k, row in enumerate(rows)}
    assert drawn.called({"people": "x", "cut": 0.1}, {"axes": {"people": [], "cut": []},
                        "default": {"people": "y", "cut": 0.1}}) == "x"  # fmt: skip


def test_benefit_draws_each_group_and_nobody_treated():
    found = results("benefit")["benefit"]
    ax = drawn.benefit(results("benefit")).axes[0]
    held = {line["group"]: line for line in found["groups"]}
    names = groups(results("benefit"))
    assert spans(ax) == {k: limits(held[name]["snb"], 10_000) for k, name in enumerate(names)}
    assert dots(ax, "|") == {k: pytest.approx(10_000 * held[name]["untreated"]) for k, name in enumerate(names)}


@pytest.mark.parametrize("name", ["hostile", "long"])
def test_names_stay_text_and_apart(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # letters that matplotlib's font lacks
        found = figures(results(name))
    assert found == pictures(name)
    texts = ["".join(element.itertext()) for element in ET.fromstring(found["chance"].svg).iter() if
             element.tag.endswith("}text")]  # fmt: skip
    held = labels(groups(results(name)), drawn.SHORT)
    shown = [text for text in texts if any(text.startswith(f"{label} (") for label in held.values())]
    assert len(set(shown)) == 8
    if name == "hostile":
        assert any(text.startswith("$a$ and $b$") for text in shown)
        assert any(text.startswith("😀🏥 emoji") for text in shown)
        assert any(text.startswith("x�y�abc") for text in shown)
        assert not any(letter in found["chance"].svg for letter in "\x01\u202e")


def test_labels_keep_names_apart():
    alike = ["Ward " + "a" * 300 + "1", "Ward " + "a" * 300 + "2", "Ward " + "a" * 300]
    for width in (10, 18, 40):
        found = labels(alike, width)
        assert len(set(found.values())) == 3
        assert all(len(text) <= width for text in found.values())
    middle = ["a" * 50 + str(k) + "b" * 50 for k in range(12)]
    assert len(set(labels(middle, 12).values())) == 12
    assert len(set(labels(["a\x01", "a\x02", "a  b", "a b", "", " "], 10).values())) == 6
    assert labels(HOSTILE, 200)[HOSTILE[0]] == HOSTILE[0]


def test_compact_moves_nothing_by_more_than_a_twentieth_of_a_point():
    raw = "".join(f"L {x:.6f} {y:.6f} \n" for x, y in np.random.default_rng(1).uniform(-400, 400, (200, 2)))
    short = compact(f'<path d="M 0 0 \n{raw}"/>')
    numbers = [np.array(re.findall(r"-?\d+\.?\d*", text), float) for text in (f"M 0 0 {raw}", short)]
    assert np.abs(numbers[0] - numbers[1]).max() <= 0.05 + 1e-9
    assert len(short) < 0.7 * len(raw)
