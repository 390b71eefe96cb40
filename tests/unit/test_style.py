import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from auditlib.errors import AuditInputError
from auditlib.plots import style


@pytest.fixture(autouse=True)
def house_style():
    with mpl.rc_context():
        style.use()
        yield
    plt.close("all")


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a: str, b: str) -> float:
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [name for name in style.PALETTE if name not in ("paper", "grid")])
def test_what_is_drawn_is_legible_on_its_paper(name, scheme):
    paper = getattr(style.PALETTE["paper"], scheme)
    assert contrast(getattr(style.PALETTE[name], scheme), paper) >= 4.5


def test_every_palette_colour_is_unique_and_lower_case():
    for scheme in ("light", "dark"):
        colours = [getattr(colour, scheme) for colour in style.PALETTE.values()]
        assert len(set(colours)) == len(colours)
        assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)


def figure():
    drawn, axes = plt.subplots()
    for position, colour in enumerate(style.GROUPS):
        axes.errorbar(position, 0.5, yerr=0.1, fmt="o", color=colour, capsize=4)
    axes.axhline(0.5, color=style.REFERENCE)
    axes.fill_between([0, 1], 0.2, 0.3, color=style.GROUPS[0], alpha=0.3)
    axes.set_ylabel("Sensitivity <&> 1")
    return drawn


def test_all_colours_follow_the_page():
    text = style.svg_text(figure())
    body = text[text.index("</style>") :]
    assert re.findall(r": #[0-9a-f]{3,6}\b", body) == []
    for name in ("paper", "ink", "reference", "blue", "slate"):
        assert f"var(--{name})" in body


def test_a_region_has_an_edge_in_full_colour_that_follows_the_page():
    drawn, axes = plt.subplots()
    axes.fill_between([0, 1], 0.2, 0.3, **style.region(style.GROUPS[0], edge="--"))
    axes.axvspan(0.4, 0.6, **style.region(style.GROUPS[2], 0.15))
    text = style.svg_text(drawn)
    for name in ("blue", "green"):
        (found,) = set(re.findall(rf'style="([^"]*fill: var\(--{name}\)[^"]*)"', text))
        assert f"stroke: var(--{name})" in found
        assert "fill-opacity" in found
        assert "stroke-opacity" not in found
        assert ("stroke-dasharray" in found) == (name == "blue")


def test_the_svg_is_well_formed_text_with_nothing_from_outside():
    text = style.svg_text(figure())
    root = ET.fromstring(text)
    assert "Sensitivity <&> 1" in "".join(root.itertext())
    assert "<metadata" not in text
    assert "<script" not in text
    assert set(re.findall(r"https?://[^\s\"']+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_the_same_figure_gives_the_same_file():
    assert style.svg_text(figure()) == style.svg_text(figure())


def test_frames_of_one_size_give_files_of_one_size_unless_tight():
    sizes = set()
    for height in (1, 100_000):
        drawn, axes = plt.subplots()
        axes.plot([0, height])
        sizes.add(re.search(r'width="([^"]+)" height="([^"]+)"', style.svg_text(drawn)).groups())
    assert len(sizes) == 1


def test_more_groups_than_colours_is_said():
    with pytest.raises(AuditInputError, match="7 groups, but only 6 colours"):
        style.group_colours("abcdefg")


def test_only_colours_follow_the_page_not_what_is_written():
    drawn, axes = plt.subplots()
    axes.set_title('x: #0068b0 style="fill: #0068b0" <b>')
    root = ET.fromstring(style.svg_text(drawn))
    assert 'x: #0068b0 style="fill: #0068b0" <b>' in "".join(root.itertext())
