"""What `auditlib check` finds: nothing in a sound folder, and each fault that is put in."""

import base64
import json
import os
import re
import shutil

import jsonschema
import pytest

import auditlib as al
from auditlib.audits import told
from auditlib.card import checks, rendered, sentences
from auditlib.card.checks import check_folder, load, schema
from auditlib.card.figures import figures
from auditlib.card.folder import as_json
from auditlib.card.loads import POLICY, policy_lacks, read
from auditlib.card.page import page
from auditlib.card.summary import summary
from auditlib.card.words import barred
from auditlib.command.check import parameters_of
from auditlib.command.main import main
from tests.unit.cards import CASE14, generated, refused, rows, run

SENTENCES = ("headline", "tiles", "caveats", "follow_ups")
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


@pytest.fixture(autouse=True, scope="module")
def drawn_once():
    """Figures take a second to draw, and counts half of one to audit; the same results give the same."""
    known = {}
    real = checks.recounted

    def recounted(folder, results):
        tables = [path.read_bytes() for path in sorted(folder.glob("counts*.csv"))]
        key = as_json({name: part for name, part in results.items() if name not in SENTENCES}), *tables
        if key not in known:
            known[key] = list(real(folder, results))
        return iter(known[key])

    def once(results):
        key = as_json({name: part for name, part in results.items() if name not in SENTENCES})
        if key not in known:
            known[key] = figures(results)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendered, "figures", once)
        patch.setattr(checks, "recounted", recounted)
        yield


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


def lie(folder, path, value):
    """The same, with sentences, figures, summary and card made to go with it."""
    change(folder, path, value)
    results = load(folder)
    commands = [line["command"] for line in results["follow_ups"]]
    told(results)
    for line, command in zip(results["follow_ups"], commands, strict=True):
        line["command"] = command
    pictures = figures(results)
    text = {"results.json": as_json(results), "result_card.html": page(results, pictures)}
    text["summary.md"] = summary(results)
    for name, svg in text.items() | {(f"figures/{name}.svg", picture.svg) for name, picture in pictures.items()}:
        (folder / name).write_bytes(svg.encode())


def edit(folder, name, change):
    path = folder / name
    text = path.read_text(encoding="utf-8")
    new = change(text)
    assert new != text
    path.write_bytes(new.encode())


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
        ("/benefit/groups/0/gain", ..., "'gain' is a required property"),
        ("/benefit/groups/0/gain/low", "less", "$.benefit.groups[0].gain.low"),
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
        ("/questions/chance/gap/estimate", 0.5, "counts", "for /questions/chance/gap/estimate, the results 0.5"),
        ("/questions/chance/gap/low", None, "counts", "for /questions/chance/gap/low, the results null"),
        ("/groups/0/tp", 0, "counts", "for /groups/0/tp, the results 0"),
        ("/groups/3/fn", 0, "counts", "for /groups/3/fn, the results 0"),
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
    assert re.search(
        "the counts (have no edge|give .* for /)|of which the results say nothing", failed(folder)["counts"]
    )


def test_a_summary_too_long_or_of_other_results(folder):
    path = folder / "summary.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "x" * 6_000, encoding="utf-8")
    assert "more than 6,000" in failed(folder)["text"]
    path.write_text(text.replace("Gap in", "Difference of"), encoding="utf-8")
    assert "the summary lacks" in failed(folder)["text"]


# -- results that the counts contradict ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/verdicts/0/value", 0.99), ("/verdicts/0/vfr", 0.001), ("/verdicts/6/vfr", 0.001),
        ("/verdicts/7/p_pass", 0.5), ("/verdicts/13/verdict", "undefined"),
        ("/verdicts/0/limit", 0.5), ("/verdicts/1/undefined", 0.5), ("/verdicts/1/bound", 0.5),
        ("/verdicts/9/replication_flip", 0.4999), ("/verdicts/3/dominant", "tie"),
        ("/benefit/gap/estimate", 0.2), ("/benefit/groups/0/snb/low", -0.2),
        ("/benefit/groups/0/gain/estimate", 0.2), ("/benefit/groups/1/gain/high", 0.2), ("/benefit/groups/0/gain/n", 7),
        ("/benefit/tipping/form", "never"),
        ("/capacity/gap/high", 0.9), ("/capacity/flagged", 0.1), ("/capacity/groups/1/snb/estimate", 0.5),
        ("/attributes/1/spread/high", 0.9), ("/questions/chance/gap/n_a", 7),
        ("/groups/0/n", 999), ("/groups/1/small", True), ("/groups/0/sensitivity/estimate", 0.5),
        ("/groups/2/ppv/low", 0.01),
        ("/questions/prevalence/raw/estimate", 0.4), ("/questions/prevalence/standardized/high", 0.7),
        ("/questions/prevalence/split/prevalence", 0.3), ("/questions/prevalence/target", 0.1),
        ("/questions/prevalence/target_rule", "given"),
        ("/questions/thresholds/points/5/estimate", 0.3), ("/questions/thresholds/points/5/band_low", -0.9),
        ("/questions/thresholds/points/5/n_a", 8), ("/questions/thresholds/points/5/flagged", 0.5),
        ("/questions/thresholds/points/5", ...), ("/questions/thresholds/same_side", 1),
        ("/questions/thresholds/excluding", 3), ("/questions/thresholds/multiplier", 2.1),
        ("/questions/choices/rows/0/estimate", 0.3), ("/questions/choices/above", 3),
        ("/questions/choices/share_below", 0.2), ("/sites/metrics/0/raw", 0.123), ("/sites/metrics/1/passed", 0.123),
        ("/sites/sites", 3), ("/options/seed", 7), ("/options/replicates", 200), ("/options/level", 0.9),
        ("/options/lam", 0.2), ("/options/limits", {"SPD": 0.5}), ("/options/error", 0.5), ("/input/rows", 601),
        ("/input/prevalence", 0.6), ("/input/small_cells", 0),
        ("/input/label", "left"), ("/input/unit", "patient"), ("/input/positive", "2"), ("/threshold/rule", "given"),
        ("/threshold/flagged", 0.5), ("/comparison/rule", "named"), ("/kind", "estimator"), ("/kind", "counts"),
        ("/published", {"estimate": 0.1, "low": 0.0, "high": 0.2, "source": "x", "groups": ["a", "b"],
                        "same_question": True, "difference": 0.1}),
    ],
)  # fmt: skip
def test_results_that_the_counts_contradict(folder, path, value):
    change(folder, path, value)
    results = load(folder)
    if not jsonschema.Draft202012Validator(schema()).is_valid(results):
        assert "no sound results" in failed(folder)["counts"]
        return
    found = list(checks.recounted(folder, results))
    if path.startswith("/options"):  # another question, whose answers differ
        assert any("the counts give " in fault for fault in found)
    else:
        assert any(f" {path}" in fault or f" {path.rpartition('/')[0]}" in fault for fault in found)


def test_a_verdict_turned_round(folder):
    verdict = load(folder)["verdicts"][0]["verdict"]
    change(folder, "/verdicts/0/verdict", "pass" if verdict == "fail" else "fail")
    assert f"the counts give '{verdict}' for /verdicts/0/verdict" in failed(folder)["counts"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/questions/prevalence/raw", {"estimate": 0.4, "low": 0.3, "high": 0.5}),
        ("/questions/chance/gap", {"estimate": 0.4, "low": 0.3, "high": 0.5}),
        ("/verdicts/0", {"value": 1.0, "verdict": "pass", "dominant": "pass", "p_pass": 1.0, "vfr": 0.0}),
        ("/groups/0", {"tp": 7}),
        ("/input", {"small_cells": 0}),
        ("/input", {"prevalence": 0.01}),
        ("/benefit/gap", {"estimate": 0.01, "low": 0.005, "high": 0.02}),
    ],
)
def test_a_lie_that_all_files_but_the_counts_tell(folder, path, value):
    held = sentences.at(load(folder), path)
    lie(folder, path, {**held, **value})
    assert set(failed(folder)) == {"counts"}


def test_a_change_that_changes_nothing_passes(folder):
    lie(folder, "/input/name", "preds.csv")
    assert failed(folder) == {}


@pytest.mark.parametrize("attribute", ["sex", "age"])
def test_results_of_a_cohort(tmp_path, attribute):
    """The specifications and the paper's gap are in the package."""
    place = al.audit_gap("cdc_diabetes", attribute, replicates=100).write(tmp_path / "a")
    assert failed(place) == {}
    held = load(place)
    lie(place, "/published", {**held["published"], "estimate": 0.5})
    assert "for /published/estimate, the results 0.5" in failed(place)["counts"]
    if attribute == "age":
        rows_ = [{**line, "estimate": 0.4, "low": 0.3, "high": 0.5} for line in held["questions"]["choices"]["rows"]]
        lie(place, "/questions/choices/rows", rows_)
        assert "/questions/choices/rows/0/estimate" in failed(place)["counts"]


def test_why_a_question_has_no_answer_may_hold_digits(tmp_path):
    """The book's specifications have 95% intervals, so none are beside those of 90%."""
    place = al.audit_gap("cdc_diabetes", "age", level=0.9, replicates=100).write(tmp_path / "a")
    assert "95%" in load(place)["tiles"][3]["text"]
    assert failed(place) == {}
    lie(place, "/questions/choices/why", "No specification of 12 has a gap.")
    assert "for /questions/choices/why, the results 'No specification of 12" in failed(place)["counts"]


@pytest.mark.parametrize("counted", ["patients", "counts", "one threshold", "top20", "limits", "named"])
def test_other_ways_in_pass(tmp_path, counted):
    frame, asked = rows(500, seed=3), {"label": "died", "score": "risk", "by": ["sex", "ward"]}
    counts = al.count(frame, **asked)
    found = {
        "patients": lambda: al.audit(frame, **asked, cluster="patient", site="hospital", replicates=100),
        "counts": lambda: al.audit(counts, replicates=100),
        "one threshold": lambda: al.audit(counts.cut(0.3), replicates=100),
        "top20": lambda: al.audit(frame, **asked, threshold="top20", replicates=100, multiverse=False),
        "limits": lambda: al.audit(frame, **asked, limits={"DI": 0.5}, lam={"F": 0.2, "M": 0.3}, replicates=100),
        "named": lambda: al.audit(
            frame, **(asked | {"by": "ward"}), group_a="c", target_prevalence=0.1, replicates=100
        ),
    }[counted]()
    assert failed(found.write(tmp_path / "a")) == {}


# -- files that are not what the results give ---------------------------------------------------------------------

JUDGED = "<p>This model is unfair and biased.</p>"
CARDS = {
    "digits": lambda text: re.sub(r"(?s)(?<=</h1>).*?(?=<img)", lambda found: re.sub(r"\d", "7", found[0]), text),
    "a sentence more": lambda text: text.replace("</main>", JUDGED + "</main>"),
    "another title": lambda text: re.sub("<title>.*?</title>", "<title>No gap</title>", text),
    "another alt": lambda text: re.sub(' alt="[^"]*"', ' alt="Nothing to see"', text),
    "a hidden headline": lambda text: re.sub("<h1[^>]*>", "<h2>All is well</h2><h1 hidden>", text),
    "headline and images": lambda text: re.sub(
        "(?s)<body>.*</body>", lambda found: "".join(re.findall("(?s)<h1.*?</h1>|<img[^>]*>", found[0])), text
    ),
    "a space more": lambda text: text.replace("</main>", " </main>"),
    "a line more": lambda text: text + "\n",
    "other line ends": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("name", CARDS)
def test_a_card_that_the_results_do_not_give(folder, name):
    edit(folder, "result_card.html", CARDS[name])
    found = failed(folder)
    assert set(found) == {"card"}
    assert re.search(r"result_card.html, line \d+: .*, where the results give ", found["card"])


def test_the_first_line_that_differs_is_named(folder):
    edit(folder, "result_card.html", lambda text: text.replace("<html lang", "<html LANG"))
    assert failed(folder)["card"] == (
        """result_card.html, line 2: '<html LANG="en">', where the results give '<html lang="en">'"""
    )


@pytest.mark.parametrize("which", ["all", "one"])
def test_figures_missing_from_folder_and_card(folder, which):
    names = ["chance.svg", "prevalence.svg", "thresholds.svg", "choices.svg", "benefit.svg"]
    assert {path.name for path in (folder / "figures").iterdir()} == set(names)
    names = names[: 1 if which == "one" else None]
    for name in names:
        svg = (folder / "figures" / name).read_bytes()
        (folder / "figures" / name).unlink()
        source = "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
        edit(folder, "result_card.html", lambda text, source=source: re.sub(
            f'<img src="{re.escape(source)}"[^>]*>', "", text))  # fmt: skip
    found = failed(folder)
    assert f"figures/{names[0]} is missing" in found["files"]
    assert "card" in found


def exchanged(folder):
    one, other = (folder / "figures" / f"{name}.svg" for name in ("chance", "prevalence"))
    held = one.read_bytes(), other.read_bytes()
    one.write_bytes(held[1])
    other.write_bytes(held[0])
    return [base64.b64encode(svg).decode() for svg in held]


def test_figures_exchanged(folder):
    first, second = exchanged(folder)
    assert "figures/chance.svg, line 1: " in failed(folder)["card"]
    edit(folder, "result_card.html", lambda text: text.replace(first, "@").replace(second, first).replace("@", second))
    found = failed(folder)["card"]
    assert "figures/chance.svg, line 1: " in found
    assert "drawn with matplotlib" in found


def test_a_figure_that_is_another(folder):
    edit(folder, "figures/chance.svg", lambda text: text.replace("Sensitivity, %", "Specificity, %"))
    assert "figures/chance.svg, line " in failed(folder)["card"]


def test_a_figure_too_many(folder):
    shutil.copy(folder / "figures" / "chance.svg", folder / "figures" / "more.svg")
    assert failed(folder)["files"] == "'figures/more.svg' does not belong here"


def test_a_sentence_more_in_the_summary(folder):
    edit(folder, "summary.md", lambda text: text + "The true gap is +88.8 points.\n")
    found = failed(folder)
    assert set(found) == {"text"}
    assert "'The true gap is +88.8 points.', where the results give ''" in found["text"]


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        ("/headline/rule", "survives", "text"), ("/headline/text", "There is no gap.", "text"),
        ("/tiles/0/question", "Is all well?", "text"), ("/caveats/0", ..., "text"),
        ("/caveats/0/text", "Nothing to know.", "text"), ("/follow_ups/0/why/text", "Why not?", "follow-ups"),
        ("/follow_ups/0/parameters", {"level": 0.9}, "follow-ups"),
    ],
)  # fmt: skip
def test_sentences_that_the_numbers_do_not_give(folder, path, value, where):
    change(folder, path, value)
    assert f"for {'/'.join(path.split('/')[:2])}" in failed(folder)[where]


def test_results_of_another_version(folder, capsys):
    """What it would have drawn and worded cannot be told; that is said, and the rest is checked."""
    lie(folder, "/auditlib", "0.0.1")
    edit(folder, "result_card.html", CARDS["a sentence more"])
    assert failed(folder) == {}
    status, out, _ = run(capsys, "check", folder)
    assert status == 0
    assert "written by auditlib 0.0.1, and this is " in out
    assert "were not made again" in out
    assert run(capsys, "check", folder, "--quiet")[:2] == (0, out.splitlines(keepends=True)[-1])
    change(folder, "/benefit/gap/estimate", 0.5)
    edit(
        folder, "result_card.html", lambda text: re.sub("(<h1[^>]*>).*?</h1>", r"\1Another</h1>", text, flags=re.DOTALL)
    )
    assert set(failed(folder)) == {"counts", "card"}


# -- follow-ups of another input ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """A folder that the command line wrote."""
    place = tmp_path_factory.mktemp("typed")
    rows(400).to_csv(place / "preds.csv", index=False)
    words = ["audit", place / "preds.csv", "--label", "died", "--score", "risk", "--by", "sex", "--by", "ward"]
    words += ["--site", "hospital", "--replicates", "100", "--out", place / "card", "--quiet"]
    assert main([str(word) for word in words]) == 0
    return place / "card"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("preds.csv", "other.csv", "FILE = 'other.csv', and the input was 'preds.csv'"),
        ("preds.csv", "preds.csv more.csv", "FILE = 'preds.csv + more.csv'"),
        ("--label died", "--label left", "label = 'left', and the input has 'died'"),
        ("--score risk", "--score age", "score = 'age', and the input has 'risk'"),
        ("--site hospital", "--site ward", "site = 'ward', and the input has 'hospital'"),
        ("--by sex --by ward", "--by sex --by race", "by = ['sex', 'race'], and the attributes were ['sex', 'ward']"),
        ("--replicates 100", "--replicates 100 --cluster patient", "cluster = 'patient', and the input has 'None'"),
        ("--replicates 100", "--replicates 100 --seed 7", "seed = 7, and the audit was asked 42"),
        ("--replicates 100", "--replicates 100 --lam 0.5", "lam = 0.5, and the audit was asked None"),
    ],
)
def test_a_follow_up_of_another_input(typed, tmp_path, old, new, said):
    place = shutil.copytree(typed, tmp_path / "card")
    assert failed(place) == {}
    commands = [line["command"] for line in load(place)["follow_ups"]]
    number = next(n for n, command in enumerate(commands) if old in command and "--lam" not in command)
    change(place, f"/follow_ups/{number}/command", commands[number].replace(old, new))
    assert said in failed(place)["follow-ups"]


def test_a_follow_up_of_other_matrices(tmp_path, capsys):
    run(capsys, "audit", "--confusion", CASE14, "--replicates", "100", "--out", tmp_path / "a", "--quiet")
    command = load(tmp_path / "a")["follow_ups"][0]["command"]
    assert failed(tmp_path / "a") == {}
    change(tmp_path / "a", "/follow_ups/0/command", command.replace("80,40", "90,30"))
    assert "other matrices than those of 'Women'" in failed(tmp_path / "a")["follow-ups"]


def test_a_follow_up_of_another_cohort(tmp_path):
    place = al.audit_gap("cdc_diabetes", "sex", replicates=100).write(tmp_path / "a")
    command = load(place)["follow_ups"][0]["command"]
    change(place, "/follow_ups/0/command", command.replace("cdc_diabetes", "diabetes130"))
    assert "dataset = 'diabetes130', and it was 'cdc_diabetes'" in failed(place)["follow-ups"]


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
    r"<style>p{background:\75rl(//x.org)}</style>", r"<style>p{background:u\72 l(//x.org)}</style>",
    r"<style>@\69mport '//x.org';</style>", r'<p style="background:\75rl(//x.org)">', r'<rect fill="\75rl(//x.org)"/>',
    '<style>p{content:"\n} q{background:\\75rl(//x.org)} p{content:"x"}</style>',
    "<style>p{background:image-set('//x.org' 1x)}</style>", "<svg><style>&#92;75rl(//x.org)</style></svg>",
    "<!--><script>x()</script>-->", "<!-- a comment -->", "<![CDATA[ > <script>x()</script>]]>",
    "<?xml-stylesheet href=a?>", "<svg><style><img src=x onerror=x()></style></svg>",
    '<svg><a><set attributeName="href" to="javascript:x()"/></a></svg>',
    '<svg><image><animate attributeName="href" values="//x.org"/></image></svg>', "<noscript><p></noscript>",
    '<math><mtext></mtext></math>', "<template><p></template>", "<xmp></xmp>",
    '<img src="//x.org" src="data:image/svg+xml,x">',
    '<svg xmlns:x="http://www.w3.org/1999/xlink"><image x:href="//x.org"/></svg>',
    '<x:script xmlns:x="http://www.w3.org/2000/svg">x()</x:script>',
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
     '<p title="url(https://x.org)">https://x.org</p>', "<p>&lt;script&gt;</p>", '<svg><use href="#a"/></svg>',
     r'<img alt="a\b" src="data:image/svg+xml,x">', r"<style>p{content:'\2014'} /* a\b */</style>",
     "<!DOCTYPE html><p>"],
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


SAID = "; ".join(POLICY)


def meta(policy):
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        (meta(SAID), None),
        ("<!DOCTYPE html>\n<html><head><meta charset='utf-8'>" + meta(SAID) + "</head><p>", None),
        (meta(SAID + "; base-uri 'none'; form-action 'none'"), None),
        (meta(SAID.replace("'none'", "*")), "default-src 'none'"),
        (meta("img-src *; " + SAID), "strictness: it says 'img-src *'"),
        (meta(SAID + "; img-src data:"), "singleness: something in it is said twice"),
        (meta(SAID) * 2, "singleness: something in it is said twice"),
        (meta(SAID + "; script-src 'self'"), "strictness: it says \"script-src 'self'\""),
        ("<p>" + meta(SAID), "its place before <p>"),
        ("<head>text" + meta(SAID), "its place before <text>"),
        ("</br>" + meta(SAID), "its place before </br>"),
        ("<meta charset='utf-8' http-equiv='refresh' content='0;//x.org'>" + meta(SAID), None),
        ("<head><style>p{}</style>" + meta(SAID), "its place before <style>"),
    ],
)
def test_policies(text, lacks):
    page = read(text)
    assert policy_lacks(page) == lacks
    assert bool(page.loads) == ("refresh" in text)


@pytest.mark.parametrize("policy", ["end", "img"])
def test_a_card_whose_policy_is_moved_or_opened(folder, policy):
    def moved(text):
        found = re.search("<meta http-equiv[^>]*>", text)[0]
        return text.replace(found, "").replace("</main>", found + "</main>")

    changes = {"end": moved, "img": lambda text: text.replace("img-src data:", "img-src *; img-src data:")}
    edit(folder, "result_card.html", changes[policy])
    assert "the card's policy lacks " in failed(folder)["card"]


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
