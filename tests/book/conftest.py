"""What the tests of the book share: its pages, the built site, a server and a browser."""

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.chapters import ROOT, is_notebook, pages

BUILD = ROOT / "build"
SITE = BUILD / "site"
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
PAGES = pages(ROOT)
NOTEBOOKS = [page for page in PAGES if is_notebook(ROOT / f"{page}.md")]
CHAPTERS = [page for page in NOTEBOOKS if page.startswith("chapters/")]
# Without these Chromium asks its maker's servers for updates and cannot run as root in a container.
FLAGS = "--no-sandbox --disable-quic --disable-background-networking --disable-component-update --disable-sync"


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").exists():
        pytest.skip("no build/site: run `make site`")
    return SITE


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing")
    program = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    if program is None:
        pytest.skip("no Chromium on this machine")
    if not (ROOT / "vendor" / "mathjax").is_dir():
        pytest.skip("maths is not self-hosted: run `make vendor`")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=FLAGS.split())
        yield started
        started.close()
