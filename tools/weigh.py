"""Weigh the site's pages: what a first visit with an empty cache transfers, compressed as GitHub Pages sends it.

python -m tools.weigh [--site build/site] [--out benchmarks/weight.csv]
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tools.browser import chromium, serve, settle
from tools.chapters import ROOT, pages

PLAIN, WITH_EXPLORERS = 1300, 2000  # kB a page may transfer
SCROLL = "() => window.scrollTo(0, document.body.scrollHeight)"


@dataclass(frozen=True)
class Weight:
    """What one page transfers: kilobytes (1000 bytes, headers included) in so many requests."""

    page: str
    kb: float
    requests: int
    explorers: int

    @property
    def limit(self) -> int:
        """The most it may transfer, in kB."""
        return WITH_EXPLORERS if self.explorers else PLAIN


def weigh(browser: Any, address: str, page: str) -> Weight:
    """Open the page with an empty cache, scroll to its end and add up what has come."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    tab = context.new_page()
    came: list[float] = []
    network = context.new_cdp_session(tab)
    network.on("Network.loadingFinished", lambda event: came.append(event["encodedDataLength"]))
    network.send("Network.enable")
    if not tab.goto(f"{address}/{page}.html").ok:
        raise FileNotFoundError(f"the site has no page {page}: build it anew")
    settle(tab)
    tab.evaluate(SCROLL)
    tab.wait_for_load_state("networkidle")
    found = Weight(page, round(sum(came) / 1000, 1), len(came), tab.locator(".al-explorer").count())
    context.close()
    return found


def weights(browser: Any, address: str) -> list[Weight]:
    """Weigh every page of the table of contents."""
    return [weigh(browser, address, page) for page in pages(ROOT)]


def write(found: list[Weight], out: Path) -> None:
    """Save the table."""
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(found[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, found))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "weight.csv")
    options = parser.parse_args()
    with serve(options.site) as address, chromium() as browser:
        found = weights(browser, address)
    write(found, options.out)
    for weight in found:
        print(f"{weight.page:<42}{weight.kb:8.0f} kB{weight.requests:5} requests  {weight.explorers} explorers")
    heaviest = max(found, key=lambda weight: weight.kb)
    print(f"median {median(weight.kb for weight in found):.0f} kB, most {heaviest.kb:.0f} kB ({heaviest.page})")
    return int(any(weight.kb > weight.limit for weight in found))


if __name__ == "__main__":
    sys.exit(main())
