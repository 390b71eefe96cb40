"""The course kit: plans whose minutes add up, outcomes that are the chapters' own, an assignment with its key."""

import os
import re
import subprocess
import time
import tomllib
from functools import cache

import jupytext
import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

import auditlib as al
from tests.book.conftest import BUILD, CHAPTERS, NOTEBOOKS, PAGES, ROOT
from tools.slides import entries

TAUGHT = ["intro", *CHAPTERS]
GUIDE, ASSIGNMENT, SLIDES = (f"teach/{name}" for name in ("guide", "assignment", "slides"))
CRITERIA = ["numbers", "uncertainty", "words", "reader", "findings", "limits", "language"]
KEY = ROOT / "teach" / "solution" / "assignment.md"
STUDENTS = pd.read_csv(KEY.with_name("students.csv"), index_col="student")
CLAIMS = [column for column in STUDENTS if re.match(r"\d: ", column)]


@cache
def text(page):
    return (ROOT / f"{page}.md").read_text(encoding="utf-8")


def below(source, title):
    """The text below a heading, up to the next of its own or a higher level."""
    marks, rest = re.search(rf"^(#+) {re.escape(title)}[^\n]*\n(.*)\Z", source, re.MULTILINE | re.DOTALL).groups()
    return re.split(rf"^#{{1,{len(marks)}}} ", rest, flags=re.MULTILINE)[0]


def rows(source):
    """The cells of a Markdown table's rows, without its head."""
    lines = [line for line in source.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def outcomes(page):
    bullets = re.findall(r"^- (.+)$", below(text(page), "What you will be able to do"), re.MULTILINE)
    return [re.sub(r"\$(\w)\$", r"*\1*", bullet) for bullet in bullets]  # a table sets a letter as text


def exercises(page):
    return re.findall(r"\{exercise-start\}\n:label: (\S+)", text(page))


@cache
def promised():
    """The guide's tables of outcomes by page: pairs of an outcome and where to show it."""
    _, *parts = re.split(r"^\*\*\{doc\}`/(.+?)`\*\*$", below(text(GUIDE), "Outcomes, chapters"), flags=re.MULTILINE)
    return {page: rows(table) for page, table in zip(parts[::2], parts[1::2], strict=True)}


def headings(page):
    prose = "\n".join(cell.source for cell in jupytext.read(ROOT / f"{page}.md").cells if cell.cell_type == "markdown")
    return [title.strip() for title in re.findall(r"^#+ (.+)$", prose, re.MULTILINE)]


# The guide


def test_outcomes_are_the_chapters_own():
    assert list(promised()) == TAUGHT
    for page in TAUGHT:
        assert [outcome for outcome, _ in promised()[page]] == outcomes(page)
    assert sum(map(len, promised().values())) > 70


def test_every_exercise_has_an_outcome_and_every_outcome_something_to_show():
    places = [place for table in promised().values() for _, place in table]
    named = set(re.findall(r"\{ref\}`([\w-]+-ex\d+)`", " ".join(places)))
    assert named == {label for page in TAUGHT for label in exercises(page)}
    assert all(re.search(r"\{(?:ref|numref)\}`|\bQ\d", place) for place in places)


@pytest.mark.parametrize("page", TAUGHT)
def test_questions_named_stand_in_the_chapter(page):
    asked = set(re.findall(r"^\*\*(\d+)\. ", below(text(page), "Check yourself"), re.MULTILINE))
    assert set(re.findall(r"\bQ(\d+)", " ".join(place for _, place in promised()[page]))) <= asked


def test_reading_times_are_the_chapters_own():
    stated = {page: re.search(r"^\| time \| (\d+) minutes", text(page), re.MULTILINE)[1] for page in TAUGHT}
    table = {re.search(r"`/(.+)`", page)[1]: minutes for page, minutes in rows(below(text(GUIDE), "In one page"))}
    assert table == stated


def test_minutes_of_each_plan_add_up():
    parts = re.split(r"^(#{2,3} .*)$", text(GUIDE), flags=re.MULTILINE)[1:]
    timed = {
        head: sum(int(row[0]) for row in rows(body))
        for head, body in zip(parts[::2], parts[1::2], strict=True)
        if "| min |" in body
    }
    assert len(timed) == 10
    for head, minutes in timed.items():
        assert f"({minutes} minutes)" in head
    sessions = [head for head in timed if head.startswith("### Session ")]
    assert f"({len(sessions)} sessions of {timed[sessions[0]]} minutes)" in text(GUIDE)
    assert len({timed[head] for head in sessions}) == 1


def shown(source):
    """The numbers of the slides that a plan names."""
    return [int(number) for number in re.findall(r"\d+", re.sub(r"<[^>]*>|chapter \d+", "", source))]


def test_slides_named_show_the_figures_of_their_plan():
    deck = [entry.figure for entry in entries(text(SLIDES))]
    for plan in ("Plan 1", "Plan 3"):
        section = below(text(GUIDE), plan)
        address, said = re.search(r"Slides, in this order:\*\* <a href=\"\S+show=(\S+)\">(.+?)</a>", section).groups()
        assert shown(address) == shown(said)
        named = [name for name in re.findall(r"\{numref\}`([\w-]+)`", section) if name in deck]
        assert [deck[number - 1] for number in shown(said)] == [
            *(["intro-rates"] if plan == "Plan 3" else []),  # the vote on eight numbers
            *named,
        ]


def test_every_figure_of_a_session_that_has_a_slide_is_listed_with_it():
    deck = [entry.figure for entry in entries(text(SLIDES))]
    listed = dict(rows(below(text(GUIDE), "Plan 2").split("### Session 1")[0]))
    assert list(listed) == [str(number) for number in range(1, 9)]
    assert [at for said in listed.values() for at in shown(said)] == list(range(1, len(deck) + 1))
    for number, said in listed.items():
        named = set(re.findall(r"\{numref\}`([\w-]+)`", below(text(GUIDE), f"Session {number}")))
        here = re.split(r"; (?:then|with)", said)[0]
        extra = {"intro-rates"} if number == "1" else set()  # the vote on eight numbers
        assert {deck[at - 1] for at in shown(here)} == (named & set(deck)) | extra


def test_homework_ends_at_a_heading_of_its_chapter():
    ends = re.findall(r"^\*Read before:\* (.+)$", text(GUIDE), re.MULTILINE)
    found = [pair for line in ends for pair in re.findall(r"chapter (\d+) to(?: the end of)? \"([^\"]+)\"", line)]
    assert len(ends) == 8
    assert len(found) >= 6
    for number, title in found:
        assert title in headings(next(page for page in CHAPTERS if page.startswith(f"chapters/{int(number):02}")))


@pytest.fixture(scope="module")
def hospital():
    """The table of the introduction's own cell."""
    cells = [cell.source for cell in jupytext.read(ROOT / "intro.md").cells if cell.cell_type == "code"]
    made = {"al": al}
    exec(next(cell for cell in cells if cell.startswith("table = al.confusion(")), made)
    return made["table"]


def test_the_numbers_for_the_board_are_the_introductions(hospital):
    plan = below(text(GUIDE), "Plan 1")
    for group in ("Women", "Men"):
        tp, fp, fn, tn = (int(hospital.sel(group=group)[cell]) for cell in ("tp", "fp", "fn", "tn"))
        assert f"of {tp + fn} {group.lower()} who were readmitted {tp} were flagged and {fn} were not" in plan
        assert f"of {fp + tn} others {fp} were and {tn} were not" in plan
        assert f"{group.lower()} {tp}/{tp + fn} = {tp / (tp + fn):.1%}" in plan


def test_one_step_of_the_slider_parts_overlap_from_the_gap(hospital):
    """What misunderstanding 1 and the first slide's note say."""
    assert "one step to the right" in below(text(GUIDE), "Misunderstandings")
    assert "one step to the right" in text(SLIDES)
    steps = [float(step) for step in re.search(r"times=\[(.+?)\]", text("intro"))[1].split(",")]
    low = []
    for times in (1, steps[steps.index(1) + 1]):
        table = (hospital * times).round().astype(int)
        rates = al.rate_interval(table)
        assert float(rates.high.sel(group="Women")) > float(rates.low.sel(group="Men"))
        low.append(float(al.gap_interval(table, "Men", "Women").low))
    assert low[0] < 0 < low[1]
    assert low == pytest.approx([-0.0017255, 0.0070412], abs=5e-7)


def test_the_key_has_links_that_lead_to_its_files():
    linked = re.findall(r"\]\(https://github\.com/[\w-]+/[\w-]+/blob/main/(\S+?)\)", text(GUIDE))
    assert set(linked) == {"teach/solution/assignment.md", "teach/solution/students.csv"}
    assert all((ROOT / path).is_file() for path in linked)


def test_misunderstandings_lead_somewhere():
    items = re.split(r"^\d+\. ", below(text(GUIDE), "Misunderstandings"), flags=re.MULTILINE)[1:]
    assert len(items) >= 12
    for item in items:
        assert item.startswith('**"')
        assert re.search(r"\{(?:numref|ref|doc)\}`", item)
    named = " ".join(re.findall(r"misunderstandings ([\d, and]+)", text(GUIDE)))
    last = max(map(int, re.findall(r"\d+", named)))
    assert last <= len(items)


@pytest.mark.parametrize("page", [GUIDE, ASSIGNMENT, SLIDES])
def test_every_link_of_the_kit_resolves(page):
    source = text(page)
    everywhere = "\n".join(map(text, PAGES))
    labels = set(re.findall(r"^\(([\w-]+)\)=$|^:label: (\S+)$", everywhere, re.MULTILINE))
    labels = {name for pair in labels for name in pair}
    figures = set(re.findall(r"^    name: (\S+)$", everywhere, re.MULTILINE))
    linked = re.findall(r"\{(doc|ref|numref)\}`(?:[^`<]*<)?([^`<>]+)>?`", source)
    assert len(linked) >= 4
    for role, target in linked:
        known = {"doc": {f"/{name}" for name in PAGES}, "ref": labels, "numref": figures}[role]
        assert target in known, f"{role} {target}"


def test_sections_that_the_guide_quotes_exist():
    quoted = re.findall(r"\{doc\}`(?:[^`<]*<)?/([^`<>]+)>?`, (\"[^\"]+\"(?: and \"[^\"]+\")*)", text(GUIDE))
    assert len(quoted) > 40
    for page, titles in quoted:
        for title in re.findall(r"\"([^\"]+)\"", titles):
            assert title in headings(page), f"{page}: {title}"


def test_offline_commands_leave_the_books_package_out_and_build_it_as_asked(tmp_path):
    section = below(text(GUIDE), "Without a network")
    commands = "\n".join(re.findall(r"```\{code-block\} sh\n(.*?)```", section, re.DOTALL))
    first = next(line for line in commands.splitlines() if line.startswith("grep"))
    (tmp_path / "requirements.txt").write_text((ROOT / "requirements.txt").read_text())
    subprocess.run(first, shell=True, check=True, cwd=tmp_path)
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    assert (tmp_path / "wheels.txt").read_text().splitlines() == [line for line in lines if line != "-e ."]
    assert "-e ." in lines
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert commands.count(f'"{needed[0]}"') == 3
    assert "--no-index" in commands


# The assignment


def marks(source):
    return [int(n) for n in re.findall(r"^##+ Task \d: .*\((\d+) marks\)$", source, re.MULTILINE)]


def most(source, title):
    """The points of a rubric's rows when all is full."""
    return {row[0]: int(row[1]) for row in rows(source.split(title)[1].split("\n\n**")[0].split("\n\nPoints")[0])}


def test_marks_add_up_and_the_rubric_gives_as_many():
    source = text(ASSIGNMENT)
    table = rows(below(source, "Marks").split("###")[0])
    assert [int(points) for _, points in table[:-1]] == marks(source)
    assert sum(marks(source)) == int(table[-1][1].strip("*")) == 100
    first = most(source, "Points in task 1:\n")
    others = most(source, "Points in each of tasks 2 to 7:\n")
    report = most(source, "### Rubric for the report\n")
    assert [sum(first.values()), *[sum(others.values())] * 6, sum(report.values())] == marks(source)
    for criterion in [*others, *report]:
        assert f"**{criterion.capitalize()}**\n: *Full*: " in source


def test_rubrics_levels_fall():
    for row in rows(text(ASSIGNMENT).split("### Rubric for tasks")[1]):
        if len(row) == 4 and row[1].isdigit():
            full, partly, no = map(int, row[1:])
            assert full > partly > no == 0


def test_no_cell_of_the_hand_out_prints_the_truth():
    """Whoever reads the cells has it; the page says so."""
    assert "whoever reads them has the true rates" in text(ASSIGNMENT)
    cells = [cell.source for cell in jupytext.read(ROOT / f"{ASSIGNMENT}.md").cells if cell.cell_type == "code"]
    assert not any(".truth(" in cell or "print" in cell for cell in cells)
    made = BUILD / "executed" / f"{ASSIGNMENT}.ipynb"
    if made.exists():
        outputs = [cell.get("outputs", []) for cell in nbformat.read(made, as_version=4).cells]
        assert sum(map(len, outputs)) == 1  # the first visits


def test_the_key_makes_the_visits_that_the_hand_out_makes():
    made = re.compile(r"^(?:COHORT = |def a_year)", re.MULTILINE)
    cells = [
        [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code" and made.search(cell.source)]
        for path in (ROOT / f"{ASSIGNMENT}.md", KEY)
    ]
    assert len(cells[0]) == 2
    assert cells[0] == cells[1]


@pytest.fixture(scope="module")
def solved():
    """The solution, executed for another student than that of the page, and the seconds that took."""
    notebook = jupytext.read(KEY)
    start = time.monotonic()
    environment = os.environ | {"STUDENT": "2026"}
    NotebookClient(notebook, timeout=120).execute(cwd=str(KEY.parent), env=environment)
    return notebook, time.monotonic() - start


def said(notebook):
    """All that the cells of a notebook show, as text."""
    data = [o.get("data", {}) for cell in notebook.cells for o in cell.get("outputs", [])]
    return "\n".join(one.get("text/markdown", one.get("text/plain", "")) for one in data)


def test_the_solution_runs(solved):
    notebook, seconds = solved
    assert seconds < 60
    assert not [o for cell in notebook.cells for o in cell.get("outputs", []) if o.get("name") == "stderr"]
    assert "nan" not in said(notebook).lower()
    assert said(notebook).count("in truth") >= 3


def test_the_solution_gives_the_marks_of_the_assignment():
    source = KEY.read_text(encoding="utf-8")
    assert marks(source) == marks(text(ASSIGNMENT))
    for number, total in enumerate(marks(source), 1):
        section = below(source, f"Task {number}: ")
        line = " ".join(re.findall(r"\*\*((?:Numbers|Reader)\b.*)", section)).lower()
        assert sum(map(int, re.findall(rf"\b(?:{'|'.join(CRITERIA)}) (\d+)", line))) == total


def test_the_key_says_which_conclusions_hold_for_all_students(solved):
    found = re.findall(r"^(\d: .+?) {2,}(\d+) +(\d+)$", said(solved[0]), re.MULTILINE)
    held = {claim: (int(few), int(many)) for claim, few, many in found}
    assert list(held) == CLAIMS
    for claim, (few, many) in held.items():  # the first twenty, made anew, are those of the table
        assert (few, many) == (STUDENTS[claim].head(20).sum(), STUDENTS[claim].sum()), claim
    always = {claim for claim, (_, many) in held.items() if many == 200}
    assert {claim[0] for claim in always} >= {"2", "3", "6"}
    assert len(always) >= 7
    assert any(few == 20 and many < 200 for few, many in held.values())  # twenty do not show it


def test_the_table_of_students_is_what_the_key_says(solved):
    assert STUDENTS.index.tolist() == list(range(1, 201))
    assert set(STUDENTS[CLAIMS].to_numpy().ravel()) == {0, 1}
    assert (STUDENTS["2: interval of the gap below zero"] == (STUDENTS["high"] < 0)).all()
    assert (STUDENTS["7: EOpp is a fail"] == (STUDENTS["estimate"].abs() > 0.10)).all()
    true_gap = -0.1588  # sensitivities .606 and .765
    covered = int(((STUDENTS["low"] <= true_gap) & (true_gap <= STUDENTS["high"])).sum())
    assert 180 <= covered <= 199  # 95%, give or take three standard errors
    assert f"{covered} of the intervals contain the true −15.9" in said(solved[0])
    lowest, highest = (f"{100 * gap:+.1f}".replace("-", "−") for gap in STUDENTS["estimate"].agg(["min", "max"]))
    assert f"from {lowest} to {highest} points over the 200" in said(solved[0])


def test_the_largest_span_is_luck_and_the_key_says_so(solved):
    """In the simulator clinics and visits make nothing of the gap; the threshold does."""
    spans = re.search(r"In truth the spans are ([\d.]+) .*?, ([\d.]+) .*?, ([\d.]+) ", said(solved[0])).groups()
    assert spans == ("1.7", "0.0", "0.3")
    assert STUDENTS["5: clinics have the largest span"].mean() > 0.5
    assert STUDENTS["5: threshold has it, as in truth"].mean() < 0.5


def test_the_report_has_what_the_rubric_asks_for(solved):
    report = said(solved[0]).split("**Dr Lindqvist")[1].split("holds in")[0]
    for asked in (
        "The difference, ",
        "were they as common in both",
        "Over all thresholds",
        "ways to do the sum",
        "network's rule, ",
    ):
        assert asked in report
    assert "sparing" in report  # who gains
    assert "In a year look at" in report
    sizes = re.findall(r"(?:About|takes about) ([\d,]+) visits", report)
    assert len(sizes) == 2
    assert sizes[0] == sizes[1]
    assert "25% to 52%" in report


def test_the_solution_is_not_in_the_site(site):
    assert not any("solution" in page for page in PAGES)
    files = [path for path in site.rglob("*") if path.is_file()]
    assert not [path for path in files if "solution" in path.relative_to(site).parts]
    passages = ["The assignment, solved", "What varies by seed", "def row_of", "def ppv_gaps", "def snb_gaps"]
    assert all(passage in KEY.read_text(encoding="utf-8") for passage in passages)
    readable = [path for path in files if path.suffix in {".html", ".js", ".txt", ".md", ".ipynb", ".json", ".xml"}]
    assert len(readable) > 20
    for path in readable:
        content = path.read_text(encoding="utf-8", errors="replace")
        assert not [passage for passage in passages if passage in content], path
    index = site / "searchindex.js"
    assert "teach/solution" not in index.read_text(encoding="utf-8")


def test_the_kit_stands_in_the_table_of_contents():
    assert {GUIDE, ASSIGNMENT, SLIDES} <= set(PAGES)
    assert ASSIGNMENT in NOTEBOOKS
