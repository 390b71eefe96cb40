"""What a first visit transfers, compressed as the published site is."""

from statistics import median

import pytest

from tests.book.conftest import CHAPTERS, PAGES
from tools.browser import serve
from tools.weigh import PLAIN, WITH_EXPLORERS, Weight, weigh, write


@pytest.fixture(scope="module")
def packed(site):
    with serve(site) as address:
        yield address


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_light(browser, packed, page):
    found = weigh(browser, packed, page)
    assert found.requests > 20
    assert 100 < found.kb <= found.limit
    assert page not in CHAPTERS or found.limit == WITH_EXPLORERS


def test_compressed_as_sent(browser, packed, site):
    """A page's weight lies far below the bytes of its files, which a server without compression would send."""
    page = CHAPTERS[1]
    raw = (site / f"{page}.html").stat().st_size + (site / "vendor" / "mathjax" / "tex-chtml-full.js").stat().st_size
    assert weigh(browser, packed, page).kb < raw / 1000 / 2


def test_the_limits_and_the_table(tmp_path):
    weights = [Weight("one", 10.5, 3, 0), Weight("two", 20.0, 4, 2)]
    assert [weight.limit for weight in weights] == [PLAIN, WITH_EXPLORERS] == [1300, 2000]
    write(weights, tmp_path / "weight.csv")
    assert (tmp_path / "weight.csv").read_text("utf-8").splitlines() == [
        "page,kb,requests,explorers",
        "one,10.5,3,0",
        "two,20.0,4,2",
    ]
    assert median(weight.kb for weight in weights) == 15.25
