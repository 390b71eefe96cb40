"""What `auditlib check` finds: nothing in a sound folder, and each fault that is put in."""

import json
import os
import re
import shutil

import jsonschema
import pytest

import auditlib as al
from auditlib.card import sentences
from auditlib.card.checks import check_folder, load, schema
from auditlib.card.loads import policy_lacks, read
from auditlib.card.words import barred
from auditlib.command.check import parameters_of
from tests.unit.cards import CASE14, generated, refused, rows, run

NAMED = ["files", "json", "schema", "text", "follow-ups", "numbers", "counts", "card"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder with every part: two attributes, sites, treatment, capacity."""
    place = tmp_path_factory.mktemp("sound")
    frame = rows(600)
    found = al.audit(
        frame, label="died", score="risk", by=["sex", "ward"], site="hospital", lam=0.3, capacity=0.2, replicates=100
    )
    return found.write(place / "card")


@pytest.fixture
def folder(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "card")


def failed(folder):
    return {check.name: check.said for check in check_folder(folder, parameters_of) if not check.passed}


def change(folder, path, value):
    """The results with something else at a JSON pointer; ``...`` takes it away."""
    held = json.loads((folder / "results.json").read_bytes())
    *way, last = [int(part) if part.isdecimal() else part for part in path.split("/")[1:]]
    place = held
    for part in way:
        place = place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    (folder / "results.json").write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")


# -- sound folders ------------------------------------------------------------------------------------------------


def test_a_sound_folder_passes_and_says_so(folder, capsys):
    status, out, err = run(capsys, "check", folder)
    assert (status, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [["pass", name] for name in NAMED]
    report = json.loads((folder / "validation_report.json").read_bytes())
    assert report["passed"] is True
    assert [check["name"] for check in report["checks"]] == NAMED
    assert run(capsys, "check", folder, "--quiet")[:2] == (0, "")  # with the report beside


@pytest.mark.parametrize("seed", range(int(os.environ.get("AUDITLIB_CARDS", 10))))
def test_generated_audits_pass(tmp_path, seed):
    """AUDITLIB_CARDS=200 tries as many."""
    found = generated(seed)
    found.write(tmp_path / "card")
    assert failed(tmp_path / "card") == {}
    names = sentences.names_of(found.results)
    for said in (found.results["headline"], *found.results["tiles"], *found.results["caveats"]):
        assert barred(said["text"], names) == []


# -- faults -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "where"),
    [("result_card.html", "card"), ("counts.csv", "counts"), ("counts-2.csv", "counts"), ("summary.md", "text")],
)
def test_a_file_that_is_missing_or_empty(folder, name, where):
    (folder / name).unlink()
    found = failed(folder)
    assert where in found
    assert "files" in found or name == "counts-2.csv"
    (folder / name).write_bytes(b"")
    assert where in failed(folder)


@pytest.mark.parametrize("name", ["notes.txt", ".auditlib-0123456789abcdef", "figures/more.png"])
def test_a_file_too_many(folder, name):
    (folder / name).write_bytes(b"x")
    assert name.partition("/")[0] in failed(folder)["files"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read as JSON"),
        ('{"a": NaN}', "holds NaN, which is not JSON"),
        ('{"a": -Infinity}', "holds -Infinity, which is not JSON"),
        ('{"a": 1, "a": 2}', "a name twice"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("\udcff", "cannot be read as JSON"),
    ],
)
def test_what_is_no_json(folder, text, said):
    (folder / "results.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    found = failed(folder)
    assert said in found["json"]
    assert set(found) == set(NAMED) - {"files"}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("/made", ..., "'made' is a required property"),
        ("/schema", "auditlib-results 2", "'auditlib-results 1' was expected"),
        ("/more", 1, "'more' was unexpected"),
        ("/groups/0/tp", -1, "$.groups[0].tp"),
        ("/groups/0/tp", 1.5, "$.groups[0].tp"),
        ("/groups/0/ppv/estimate", "high", "$.groups[0].ppv.estimate"),
        ("/questions/thresholds/points/0/more", 1, "$.questions.thresholds"),
        ("/verdicts/0/verdict", "maybe", "$.verdicts[0].verdict"),
        ("/tiles/3", ..., "$.tiles"),
        ("/input/sha256", "abc", "$.input.sha256"),
        ("/follow_ups/2", ..., "$.follow_ups"),
    ],
)
def test_what_the_schema_does_not_allow(folder, path, value, said):
    change(folder, path, value)
    assert said in failed(folder)["schema"]


@pytest.mark.parametrize(
    ("path", "value", "where", "said"),
    [
        ("/headline/text", "Unfair.", "text", "headline says 'Unfair'"),
        ("/tiles/0/text", "The gap of {gap} points.", "text", "tile 1 has an unfilled {gap}"),
        ("/tiles/1/text", "The gap in", "text", "tile 2 is no whole sentence"),
        ("/caveats/0/text", "x" * 300 + ".", "text", "caveat 1 has 301 letters, more than 300"),
        ("/headline/text", "x" * 240 + ".", "text", "headline has 241 letters, more than 240"),
        ("/tiles/0/numbers/0/text", "+99.9", "numbers", "but /questions/chance/gap/estimate is another number"),
        ("/tiles/0/numbers/0/pointer", "/nowhere", "numbers", "nothing at '/nowhere'"),
        ("/questions/chance/gap/estimate", 0.5, "numbers", "is another number"),
        ("/questions/chance/gap/estimate", 0.5, "counts", "for the gap's estimate, the results 0.5"),
        ("/questions/chance/gap/low", None, "counts", "for the gap's low, the results None"),
        ("/groups/0/tp", 0, "counts", "the results have other counts"),
        ("/groups/3/fn", 0, "counts", "counts-2.csv has"),
        ("/threshold/value", 0.123, "counts", "no edge at the threshold 0.123"),
        ("/follow_ups/0/parameters", {"colour": "red"}, "follow-ups", "changes 'colour', which is no option"),
        ("/follow_ups/0/command", "rm -rf x", "follow-ups", "it calls 'rm'"),
        ("/follow_ups/0/command", "auditlib audit a.csv --colour red", "follow-ups", "unknown option --colour"),
        ("/follow_ups/0/command", "auditlib audit a.csv --level 2", "follow-ups", "cannot be run"),
        ("/follow_ups/0/command", "auditlib audit a.csv", "follow-ups", "does not say"),
        ("/follow_ups/0/command", "auditlib audit 'a.csv", "follow-ups", "No closing quotation"),
        ("/follow_ups/0/command", "al.audit(…, colour=3)", "follow-ups", "does not say"),
        ("/follow_ups/0/command", "al.quit()", "follow-ups", "no call of al.audit"),
    ],
)
def test_sentences_and_numbers_that_are_changed(folder, path, value, where, said):
    change(folder, path, value)
    assert said in failed(folder)[where]


@pytest.mark.parametrize("more", ["99", "−99.5%", "٣", "1,000", "x9"])
def test_a_number_that_stands_nowhere_in_the_results(folder, more):
    change(folder, "/headline/text", load(folder)["headline"]["text"] + f" And {more} more.")
    assert failed(folder)["numbers"] == f"headline says {more!r}, which is no number of its own"


def test_a_number_is_looked_for_as_a_whole(folder):
    """10 does not stand in 10.5 or in 110."""
    held = json.loads((folder / "results.json").read_bytes())
    people = held["input"]["people"]
    number = {"text": str(people), "pointer": "/input/people", "form": "count"}
    for text, fault in (
        (f"There are {people}.", False),
        (f"There are {people}.5.", True),
        (f"There are 1{people}.", True),
    ):
        held["tiles"][0] |= {"text": text, "numbers": [number]}
        assert bool(list(sentences.number_faults(held))) == fault


@pytest.mark.parametrize("name", ["5", "ward 12", "−3.3", "10", "+2.2", "{gap}", "”", "“10”", "10 people"])
def test_digits_in_names_are_no_numbers(name):
    """Also where a number of the sentence is the same: 8 of 10 and 7 of 10 with the outcome were flagged."""
    found = al.audit(f"{name}:8,1,9,2; other:7,2,8,3", replicates=100).results
    assert "10" in [number["text"] for number in found["headline"]["numbers"]]
    assert list(sentences.number_faults(found)) == []
    assert list(sentences.text_faults(found)) == []


def test_counts_that_were_edited(folder):
    path = folder / "counts.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-2] + "9\n", encoding="utf-8")
    assert "edited" in failed(folder)["counts"]


def test_counts_of_another_audit(folder, tmp_path):
    al.audit(rows(600, seed=1), label="died", score="risk", by=["sex", "ward"], site="hospital", lam=0.3, capacity=0.2,
             replicates=100, threshold=json.loads((folder / "results.json").read_bytes())["threshold"]["value"],
             ).write(tmp_path / "other")  # fmt: skip
    shutil.copy(tmp_path / "other" / "counts.csv", folder / "counts.csv")
    assert "for the gap's" in failed(folder)["counts"] or "other counts" in failed(folder)["counts"]


def test_a_summary_too_long_or_of_other_results(folder):
    path = folder / "summary.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "x" * 6_000, encoding="utf-8")
    assert "more than 6,000" in failed(folder)["text"]
    path.write_text(text.replace("Gap in", "Difference of"), encoding="utf-8")
    assert "the summary lacks" in failed(folder)["text"]


# -- the page -----------------------------------------------------------------------------------------------------

LOADS = [
    '<script src="https://x.org/a.js"></script>', "<script>alert(1)</script>", '<img src="https://x.org/a.png" alt="">',
    '<img src="//x.org/a.png">', '<img src=" HTTPS://x.org">', '<link rel="stylesheet" href="a.css">',
    '<iframe srcdoc="x"></iframe>', '<a href="javascript:alert(1)">x</a>', '<p onclick="x()">', '<base href="https://x.org">',
    '<style>@import "a.css";</style>', "<style>p{background:url(https://x.org/a)}</style>",
    "<p style=\"background:url('a.png')\">", '<meta http-equiv="refresh" content="0;url=https://x.org">',
    '<form action="x"></form>', '<object data="a.swf"></object>', '<video poster="a.png"></video>',
    '<img srcset="a.png 2x">', '<svg><image href="https://x.org/a.png"/></svg>',
    '<svg><use xlink:href="a.svg#b"/></svg>',
    "<a href=\"java\nscript:alert(1)\">x</a>", '<svg><foreignObject></foreignObject></svg>',
    '<a href="data:text/html,x">x</a>', '<iframe src="data:text/html,x"></iframe>',
]  # fmt: skip


@pytest.mark.parametrize("text", LOADS)
def test_what_a_page_would_load(folder, text):
    path = folder / "result_card.html"
    whole = path.read_text(encoding="utf-8")
    assert read(text).loads
    path.write_text(whole.replace("</main>", text + "</main>"), encoding="utf-8")
    assert "would load or run" in failed(folder)["card"]


@pytest.mark.parametrize(
    "text",
    ['<a href="#top">x</a>', '<img src="data:image/svg+xml,x">',
     "<style>p{background:url(data:image/png;base64,x)}</style>",
     '<p title="url(https://x.org)">https://x.org</p>', "<p>&lt;script&gt;</p>", '<svg><use href="#a"/></svg>'],
)  # fmt: skip
def test_what_a_page_may_hold(text):
    assert read(text).loads == []


def test_a_card_without_policy_figures_or_headline(folder):
    path = folder / "result_card.html"
    whole = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"<meta http-equiv[^>]*>", "", whole), encoding="utf-8")
    assert "policy lacks default-src 'none'" in failed(folder)["card"]
    path.write_text(re.sub(r"<img\b[^>]*>", "", whole, count=1), encoding="utf-8")
    assert "is not the one in the card" in failed(folder)["card"]
    path.write_text(re.sub(r"(<h1\b[^>]*>).*?</h1>", r"\1Another</h1>", whole, flags=re.DOTALL), encoding="utf-8")
    assert "is not the headline" in failed(folder)["card"]
    path.write_text(whole, encoding="utf-8")
    name = next((folder / "figures").glob("*.svg"))
    name.write_text("<svg><script/></svg>", encoding="utf-8")
    assert "would load or run <script>" in failed(folder)["card"]


def test_policies():
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    assert policy_lacks(read(f'<meta http-equiv="Content-Security-Policy" content="{policy}">')) is None
    open_ = policy.replace("'none'", "*")
    assert policy_lacks(read(f'<meta http-equiv="Content-Security-Policy" content="{open_}">')) == "default-src 'none'"


# -- the command --------------------------------------------------------------------------------------------------


def test_status_1_says_what_fails(folder, capsys):
    change(folder, "/headline/text", "A fair model.")
    status, out, err = run(capsys, "check", folder, "--quiet")
    assert (status, err) == (1, "")
    assert out.startswith("FAIL  text")
    assert json.loads((folder / "validation_report.json").read_bytes())["passed"] is False


def test_status_2_when_there_is_nothing_to_check(tmp_path, capsys):
    assert "is not a folder" in refused(capsys, "check", tmp_path / "none")
    assert "holds no results.json" in refused(capsys, "check", tmp_path)
    assert "name one folder" in refused(capsys, "check")
    assert "name one folder" in refused(capsys, "check", "a", "b")
    (tmp_path / "file").write_text("x")
    assert "is not a folder" in refused(capsys, "check", tmp_path / "file")
    refused(capsys, "check", "a\0b")


def test_a_report_is_whole_or_not_there(folder, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    status, _, err = run(capsys, "check", folder)
    assert (status, err.count("No space left on device")) == (2, 1)
    assert not (folder / "validation_report.json").exists()
    assert not list(folder.glob(".auditlib-*"))


# -- the schema ---------------------------------------------------------------------------------------------------


def objects(part, where=()):
    """Every object of a schema that lists properties."""
    if isinstance(part, dict):
        if "properties" in part and part.get("type") == "object" and "additionalProperties" in part:
            yield where, part
        for name, value in part.items():
            yield from objects(value, (*where, name))
    elif isinstance(part, list):
        for place, value in enumerate(part):
            yield from objects(value, (*where, place))


def test_the_schema_is_one_and_strict():
    held = schema()
    jsonschema.Draft202012Validator.check_schema(held)
    found = list(objects(held))
    assert len(found) > 25
    for where, part in found:
        assert part["additionalProperties"] is False or where[:2] == ("$defs", "specification"), where


def test_every_field_is_described():
    for where, part in objects(schema()):
        for name, field in part["properties"].items():
            assert len(field.get("description", "")) > 3, (*where, name)


def test_the_schema_lists_what_there_is(sound):
    """Every field that may be there is there, but for those of other kinds of input."""
    held = load(sound)
    assert set(held) == set(schema()["properties"])
    for name, part in schema()["$defs"].items():
        if name in ("benefit", "capacity", "sites"):
            assert set(held[name]) == set(part["properties"])
    assert set(held["options"]) == set(schema()["properties"]["options"]["properties"])


def test_python_and_typed_commands_alike(tmp_path, capsys):
    al.audit(CASE14, replicates=100).write(tmp_path / "a")
    run(capsys, "audit", "--confusion", CASE14, "--replicates", "100", "--out", tmp_path / "b", "--quiet")
    python, typed = load(tmp_path / "a"), load(tmp_path / "b")
    for line, other in zip(python.pop("follow_ups"), typed.pop("follow_ups"), strict=True):
        assert line["command"].startswith("al.audit(…, ")
        assert other["command"].startswith("auditlib audit --confusion ")
        assert line["parameters"] == other["parameters"]
    assert python == typed
