"""What the tests of the book share: its pages, the built site, a server and a browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.browser import PROGRAMS, chromium, serve
from tools.chapters import ROOT, is_notebook, pages

BUILD = ROOT / "build"
SITE = BUILD / "site"
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
PAGES = pages(ROOT)
NOTEBOOKS = [page for page in PAGES if is_notebook(ROOT / f"{page}.md")]
CHAPTERS = [page for page in NOTEBOOKS if page.startswith("chapters/")]


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").exists():
        pytest.skip("no build/site: run `make site`")
    return SITE


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    with serve(site) as served:
        yield served


@pytest.fixture(scope="session")
def browser():
    pytest.importorskip("playwright.sync_api", reason="playwright is missing")
    if not any(map(shutil.which, PROGRAMS)):
        pytest.skip("no Chromium on this machine")
    if not (ROOT / "vendor" / "mathjax").is_dir():
        pytest.skip("maths is not self-hosted: run `make vendor`")
    with chromium() as started:
        yield started
