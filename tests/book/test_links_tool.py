"""The tool that lists links to other hosts and asks whether they answer, against a host of our own."""

import csv
import http.server
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from tests.book.conftest import ROOT
from tools import links
from tools.links import Answer, as_csv, as_markdown, ask, check, in_text, main, site_links, source_links


class Host(http.server.BaseHTTPRequestHandler):
    """/ok, /gone, /moved, /found, /slow, /private, /nohead (404 to a HEAD), /flaky (503 the first two times)."""

    seen: list[tuple[str, str]]
    at_once = most_at_once = 0

    def do_GET(self):
        type(self).at_once += 1
        type(self).most_at_once = max(self.most_at_once, self.at_once)
        self.seen.append((self.command, self.path))
        name = urlsplit(self.path).path.strip("/")
        status = {"ok": 200, "moved": 301, "found": 302, "private": 403, "slow": 200}.get(name, 404)
        if name == "nohead" and self.command == "GET":
            status = 200
        if name == "flaky":
            status = 503 if len(self.seen) < 3 else 200
        time.sleep(0.8 if name == "slow" else 0.01)
        type(self).at_once -= 1
        self.send_response(status)
        if status in (301, 302):
            self.send_header("Location", "/ok")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture
def host(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(Host, "seen", [], raising=False)
    monkeypatch.setattr(Host, "most_at_once", 0)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def quick(address):
    return ask(address, timeout=0.4, tries=2, pause=0.01)


@pytest.mark.parametrize(
    ("path", "state", "detail"),
    [
        ("ok", "answers", "200"),
        ("gone", "broken", "404"),
        ("moved", "moved", "/ok"),
        ("found", "answers", "200"),
        ("private", "refused", "403"),
        ("nohead", "answers", "200"),
        ("slow", "unreachable", "timed out"),
    ],
)
def test_each_kind_of_answer(host, path, state, detail):
    answer = quick(f"{host}/{path}")
    assert answer.state == state
    assert answer.detail.endswith(detail)


def test_the_page_is_asked_for_only_where_its_head_is_refused(host):
    quick(f"{host}/ok#part")
    assert Host.seen == [("HEAD", "/ok")]
    quick(f"{host}/nohead")
    assert Host.seen[1:] == [("HEAD", "/nohead"), ("GET", "/nohead")]


def test_what_may_be_an_accident_is_asked_again_and_what_is_none_is_not(host):
    assert quick(f"{host}/flaky").state == "answers"
    assert Host.seen == [("HEAD", "/flaky"), ("GET", "/flaky"), ("HEAD", "/flaky")]
    quick(f"{host}/gone")
    assert Host.seen[3:] == [("HEAD", "/gone"), ("GET", "/gone")]


def test_a_host_that_is_not_there_is_unreachable(host):
    port = int(host.rsplit(":", 1)[1])
    closed = next(one for one in range(port + 1, port + 50) if not _open(one))
    assert quick(f"http://127.0.0.1:{closed}/").state == "unreachable"


def _open(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def test_one_host_is_asked_one_at_a_time_with_pauses(host):
    found = {f"{host}/ok?{number}": ["a.html"] for number in range(4)} | {f"{host}/ok?1#part": ["b.html"]}
    start = time.monotonic()
    answers = check(found, pause=0.1, one=quick)
    assert time.monotonic() - start >= 0.3
    assert Host.most_at_once == 1
    assert len(Host.seen) == 4  # an anchor asks nothing new
    assert list(answers) == list(found)


def test_machines_forms_and_examples_are_not_asked():
    left = [
        "https://mybinder.org/v2/gh/a/b/main",
        "https://colab.research.google.com/github/a/b",
        "https://github.com/a/b/issues/new?title=c",
        "https://example.org/book",
    ]

    def never(address):
        raise AssertionError(address)

    assert set(check({address: ["a.html"] for address in left}, one=never).values()) == {Answer("not asked")}


@pytest.fixture
def built(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "index.html").write_text('<a href="intro.html">in</a> <a href="https://a.org/x|y">out</a>')
    (tmp_path / "chapters" / "01.html").write_text(
        '<img src="https://c.org/p.png"><a href="https://a.org/x|y"></a><a href="mailto:a@b.c">m</a>'
        '<a href="http://b.org/?q=1&amp;r=2">out</a><a href="https://a.org/x|y">again</a>'
    )
    return tmp_path


def test_links_of_a_site_stand_with_their_pages(built):
    assert site_links(built) == {
        "http://b.org/?q=1&r=2": ["chapters/01.html"],
        "https://a.org/x|y": ["chapters/01.html", "index.html"],
    }


def test_addresses_in_sources():
    assert in_text("x = 'https://a.org/b.'  # https://c.org/{name}") == ["https://a.org/b"]
    assert in_text("(see https://a.org/b_(c)_) <https://d.org/e>,") == ["https://a.org/b_(c)", "https://d.org/e"]
    assert in_text("doi     = {10.1016/0895-4356(90)90158-L},") == ["https://doi.org/10.1016/0895-4356(90)90158-L"]


def test_reports(built):
    found = site_links(built)
    answers = {"http://b.org/?q=1&r=2": Answer("answers", "200"), "https://a.org/x|y": Answer("broken", "404")}
    rows = list(csv.DictReader(as_csv(found, answers).splitlines()))
    assert [(row["page"], row["state"]) for row in rows] == [
        ("chapters/01.html", "answers"),
        ("chapters/01.html", "broken"),
        ("index.html", "broken"),
    ]
    report = as_markdown(found, answers)
    assert "2 addresses: 1 broken, 1 answers" in report
    assert "| https://a.org/x\\|y | broken: 404 | chapters/01.html, index.html |" in report
    assert "b.org" not in report
    assert "b.org" in as_markdown(found)


def test_the_command_succeeds_whatever_it_finds(host, tmp_path, capsys):
    (tmp_path / "index.html").write_text(f'<a href="{host}/gone">a</a><a href="{host}/ok">b</a>')
    report, table = tmp_path / "links.md", tmp_path / "links.csv"
    words = ["--site", str(tmp_path), "--check", "--pause", "0", "--timeout", "1"]
    assert main([*words, "--report", str(report), "--csv", str(table)]) == 0
    assert capsys.readouterr().out == report.read_text()
    assert "1 broken, 1 answers" in report.read_text()
    assert f"{host}/gone,index.html,broken,404" in table.read_text()


def test_the_command_lists_without_asking(built, capsys, monkeypatch):
    monkeypatch.setattr(links, "_once", None)
    assert main(["--site", str(built)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "link,page"


def test_a_folder_without_a_site_is_named(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--site", str(tmp_path)])
    assert "holds no built site" in capsys.readouterr().err


def test_the_sources_name_where_data_and_papers_are():
    found = source_links(ROOT)
    assert "references.bib" in found["https://doi.org/10.1097/EDE.0000000000001949"]
    assert "data/sources.toml" in found["https://archive.ics.uci.edu/static/public/891/data.csv"]
