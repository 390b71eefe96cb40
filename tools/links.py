"""List the book's links to other hosts, and ask whether they still answer.

    python tools/links.py                    CSV: every external link of build/site and the pages it stands on
    python tools/links.py --sources          the same from the sources, where nothing is built
    python tools/links.py --format markdown  a table to read
    python tools/links.py --check            ask each address; a report in Markdown

Addresses are asked politely: the head first and the page only where a host refuses that, one at a time for each host
with a pause between, a few hosts at once, again where the answer may be an accident. A host that answers 401, 403 or
429 keeps programs out, which says nothing about its page: that is "refused", not "broken". "Moved" is an address that
leads on for good; a DOI, which leads on as it should, answers. The exit status is 0 whatever is found, because another
host's bad day is no fault of the book. Only Python's own library is needed.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urldefrag, urlsplit

ROOT = Path(__file__).resolve().parent.parent
AGENT = "auditlib-book-links (+https://github.com/is-that-gap-real/is-that-gap-real)"
SOURCES = ("*.md", "*.bib", "*.cff", "_config.yml", "chapters/*.md", "reference/*.md", "teach/**/*.md", "data/*.toml",
           "auditlib/**/*.py")  # fmt: skip
# Not asked: to open the first is to start a machine, the next are forms to fill in, the last stand in examples.
LEFT = re.compile(r"https://(mybinder\.org/v2/|colab\.research\.google\.com/github/|github\.com/[^?]+/issues/new\?)"
                  r"|https?://example\.(org|com)\b")  # fmt: skip
REFUSALS, PASSING = {401, 403, 429, 999}, {408, 425, 429, 500, 502, 503, 504}
FOR_GOOD = {301, 308}  # redirects that ask us to change the link; a DOI leads on with 302
ORDER = ["broken", "unreachable", "moved", "refused", "not asked", "answers"]


@dataclass(frozen=True)
class Answer:
    """What came of asking one address: a word of ORDER, and the status or what went wrong."""

    state: str
    detail: str = ""


class _Links(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for key, value in attrs if tag in ("a", "area") and key == "href" and value]


class _Hops(urllib.request.HTTPRedirectHandler):
    """Follow redirects and remember their codes."""

    def __init__(self) -> None:
        self.codes: list[int] = []

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        self.codes.append(code)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def site_links(site: Path) -> dict[str, list[str]]:
    """Return the addresses that the pages of a built site link to, each with its pages."""
    pages = sorted(site.rglob("*.html"))
    return _collect((path.relative_to(site).as_posix(), _Links(path.read_text("utf-8")).found) for path in pages)


def source_links(root: Path) -> dict[str, list[str]]:
    """Return the addresses in the texts, the bibliography (its DOIs, too) and the package, each with its files."""
    paths = sorted({path for pattern in SOURCES for path in root.glob(pattern)})
    return _collect((path.relative_to(root).as_posix(), in_text(path.read_text("utf-8"))) for path in paths)


def in_text(text: str) -> list[str]:
    """Return the addresses in Markdown, TOML, YAML, Python or BibTeX.

    >>> in_text("See [it](https://a.org/x_(y)), <https://b.org/z>. doi = {10.1000/1(2)3}")
    ['https://a.org/x_(y)', 'https://b.org/z', 'https://doi.org/10.1000/1(2)3']
    """
    found = []
    for address in re.findall(r"https?://[^\s<>\"'`\\\]|]+", text):
        while address[-1] in ".,;:*_" or (address[-1] == ")" and address.count(")") > address.count("(")):
            address = address[:-1]
        if not re.search(r"[{}$]", address):  # a pattern to be filled in
            found.append(address)
    return found + [f"https://doi.org/{doi}" for doi in re.findall(r"\bdoi\s*=\s*[{\"]\s*(10\.[^}\"]+?)\s*[}\"]", text)]


def _collect(found: Iterable[tuple[str, list[str]]]) -> dict[str, list[str]]:
    links: dict[str, list[str]] = {}
    for page, addresses in found:
        for address in addresses:
            if urlsplit(address).scheme in ("http", "https") and page not in links.setdefault(address, []):
                links[address].append(page)
    return dict(sorted(links.items()))


def ask(address: str, *, timeout: float = 20, tries: int = 3, pause: float = 2) -> Answer:
    """Ask for one address, again after a growing pause where the answer may be an accident."""
    answer = Answer("unreachable")
    for attempt in range(tries):
        if attempt:
            time.sleep(pause * attempt)
        answer = _once(address, "HEAD", timeout)
        # Some hosts answer a HEAD with 404 or nothing, though the page is there.
        if answer.state not in ("answers", "moved"):
            answer = _once(address, "GET", timeout)
        passing = answer.state == "unreachable" or answer.detail in map(str, PASSING)
        if not passing:
            break
    return answer


def _once(address: str, method: str, timeout: float) -> Answer:
    asked = quote(urldefrag(address)[0], safe="%/:=&?~#+!$,;'@()*[]")
    request = urllib.request.Request(asked, method=method, headers={"User-Agent": AGENT, "Accept": "*/*"})
    hops = _Hops()
    try:
        with urllib.request.build_opener(hops).open(request, timeout=timeout) as response:
            if hops.codes and hops.codes[0] in FOR_GOOD:
                return Answer("moved", response.url)
            return Answer("answers", str(response.status))
    except urllib.error.HTTPError as error:
        error.close()
        return Answer("refused" if error.code in REFUSALS else "broken", str(error.code))
    except (OSError, ValueError) as error:  # no such host, no connection, no answer in time, no web address
        reason = getattr(error, "reason", None) or error
        return Answer("unreachable", str(reason) or type(error).__name__)
    except Exception as error:  # what else a host may send, such as half an answer: reported, never the report's end
        return Answer("unreachable", type(error).__name__)


def check(
    links: Mapping[str, list[str]], *, hosts: int = 4, pause: float = 1, one: Callable[[str], Answer] = ask
) -> dict[str, Answer]:
    """Ask all addresses, each host one at a time with `pause` seconds between, `hosts` hosts at once."""
    answers = {address: Answer("not asked") for address in links if LEFT.match(address)}
    by_host: dict[str, dict[str, list[str]]] = {}
    for address in links:
        if address not in answers:  # anchors of one page are one question
            by_host.setdefault(urlsplit(address).netloc, {}).setdefault(urldefrag(address)[0], []).append(address)

    def visit(host: str) -> None:
        for number, (page, addresses) in enumerate(by_host[host].items()):
            if number:
                time.sleep(pause)
            answers.update(dict.fromkeys(addresses, one(page)))

    with ThreadPoolExecutor(hosts) as pool:
        list(pool.map(visit, by_host))
    return {address: answers[address] for address in links}


def as_csv(links: Mapping[str, list[str]], answers: Mapping[str, Answer] | None = None) -> str:
    """Return one line a link and page, with what came of asking where that was done."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["link", "page", *(["state", "detail"] if answers else [])])
    for address, pages in links.items():
        said = [answers[address].state, answers[address].detail] if answers else []
        writer.writerows([address, page, *said] for page in pages)
    return out.getvalue()


def as_markdown(links: Mapping[str, list[str]], answers: Mapping[str, Answer] | None = None) -> str:
    """Return a table for people; of checked links, those that answer are only counted."""
    lines = ["# Links to other hosts", "", f"{len(links)} addresses", ""]
    shown = list(links)
    if answers is not None:
        counts = Counter(answer.state for answer in answers.values())
        lines[2] += ": " + (", ".join(f"{counts[state]} {state}" for state in ORDER if counts[state]) or "none")
        shown = sorted((a for a in links if answers[a].state != "answers"), key=lambda a: ORDER.index(answers[a].state))
    if shown:
        columns = ["address", "state", "on"] if answers else ["address", "on"]
        lines += ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for address in shown:
        pages = ", ".join(links[address][:5]) + (f" and {len(links[address]) - 5} more" if links[address][5:] else "")
        said = [f"{answers[address].state}: {answers[address].detail}".removesuffix(": ")] if answers else []
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in (address, *said, pages)) + " |")
    return "\n".join(lines) + "\n"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", type=Path, default=ROOT / "build" / "site", help="a built site (default: build/site)")
    parser.add_argument("--sources", action="store_true", help="read the sources instead")
    parser.add_argument("--format", choices=["csv", "markdown"], help="default: csv; with --check markdown")
    parser.add_argument("--check", action="store_true", help="ask each address")
    parser.add_argument("--timeout", type=float, default=20, help="seconds to wait for an answer")
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--pause", type=float, default=1, help="seconds between two questions to one host")
    parser.add_argument("--report", type=Path, help="write the Markdown here, too")
    parser.add_argument("--csv", type=Path, help="write the CSV here, too")
    options = parser.parse_args(words)
    if not options.sources and not (options.site / "index.html").exists():
        parser.error(f"{options.site} holds no built site: run `make book`, or ask with --sources")
    links = source_links(ROOT) if options.sources else site_links(options.site)

    def one(address: str) -> Answer:
        return ask(address, timeout=options.timeout, tries=options.tries, pause=2 * options.pause)

    answers = check(links, pause=options.pause, one=one) if options.check else None
    forms = {"csv": as_csv(links, answers), "markdown": as_markdown(links, answers)}
    for path, form in ((options.report, "markdown"), (options.csv, "csv")):
        if path:
            path.write_text(forms[form], encoding="utf-8")
    print(forms[options.format or ("markdown" if options.check else "csv")], end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
