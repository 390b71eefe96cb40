"""A built site, served as GitHub Pages does, and a browser to open it in: what tools and tests of the site share."""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Without these Chromium asks its maker's servers for updates and cannot run as root in a container.
FLAGS = "--no-sandbox --disable-quic --disable-background-networking --disable-component-update --disable-sync"
PROGRAMS = ["chromium", "chromium-browser", "google-chrome"]
# What a web server compresses; fonts and pictures of pixels are compressed already.
TEXT = {".html", ".css", ".js", ".json", ".svg", ".txt", ".xml", ".map", ".ipynb", ".md"}


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Sends text compressed, as every browser asks for it."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.is_dir() or not path.exists() or path.suffix not in TEXT:
            super().do_GET()
            return
        body = _packed(path, path.stat().st_mtime_ns)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the page was left before all had come
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@functools.cache
def _packed(path: Path, _changed: int) -> bytes:
    return gzip.compress(path.read_bytes(), compresslevel=6, mtime=0)


@contextlib.contextmanager
def serve(site: Path) -> Iterator[str]:
    """Serve the folder and give its address."""
    handler = functools.partial(_Handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Start the machine's Chromium; say so where there is none."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise SystemExit("no Chromium on this machine")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=FLAGS.split())
        yield started
        started.close()


def settle(tab: Any) -> None:
    """Wait until all has come and the maths is set."""
    tab.wait_for_load_state("networkidle")
    if tab.locator(".math").count():
        tab.wait_for_function("() => window.MathJax?.startup?.promise")
        tab.evaluate("() => MathJax.startup.promise")
        tab.wait_for_load_state("networkidle")
    tab.evaluate("() => document.fonts.ready.then(() => true)")
