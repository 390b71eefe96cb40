"""``auditlib audit`` and ``auditlib gap`` from the words typed to the folder written."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import auditlib as al
from auditlib import studies
from auditlib.command import texts
from auditlib.studies.comparisons import COMPARISONS
from tests.unit.cards import CASE14, NAMES, refused, rows, run

QUICK = ("--replicates", "100", "--quiet")


def results(folder):
    return json.loads((Path(folder) / "results.json").read_bytes())


@pytest.fixture
def preds(tmp_path):
    path = tmp_path / "preds.csv"
    rows(600).to_csv(path, index=False)
    return path


def asked(path, *words):
    return ["audit", path, "--label", "died", "--score", "risk", "--by", "sex", *words]


# -- rows ---------------------------------------------------------------------------------------------------------


def test_rows_are_audited_as_the_function_does(preds, tmp_path, capsys):
    out = tmp_path / "card"
    words = ["--by", "ward", "--site", "hospital", "--cluster", "patient", "--threshold", "0.3", "--lam", "F=0.2,M=0.4"]
    words += [
        "--capacity",
        "0.2",
        "--limits",
        "DI=0.9",
        "--level",
        "0.9",
        "--group-a",
        "M",
        "--bins",
        "100",
        "--seed",
        "7",
    ]
    status, said, _ = run(capsys, *asked(preds, *words, "--out", out, *QUICK))
    assert status == 0
    expected = al.audit(
        rows(600), label="died", score="risk", by=["sex", "ward"], site="hospital", cluster="patient", threshold=0.3,
        lam={"F": 0.2, "M": 0.4}, capacity=0.2, limits={"DI": 0.9}, level=0.9, group_a="M", bins=100, seed=7,
        replicates=100,
    )  # fmt: skip
    found, held = results(out), dict(expected.results)
    for name in (
        "options",
        "threshold",
        "comparison",
        "groups",
        "questions",
        "benefit",
        "capacity",
        "verdicts",
        "sites",
    ):
        assert found[name] == held[name], name
    assert found["headline"] == held["headline"]
    assert found["input"]["name"] == "preds.csv"
    assert said.splitlines()[0] == held["headline"]["text"]


def test_what_is_printed(preds, tmp_path, capsys):
    status, said, err = run(capsys, *asked(preds, "--out", tmp_path / "card", "--replicates", "100"))
    held = results(tmp_path / "card")
    lines = said.splitlines()
    assert lines[0] == held["headline"]["text"]
    assert f"Written to {tmp_path / 'card'}" in said
    commands = [line.strip() for line in lines if line.startswith("  auditlib ")]
    assert commands == [line["command"] for line in held["follow_ups"]]
    assert len(commands) == 3
    progress = [f"reading {preds}", "counting 600 rows", "100 replicates", f"writing {tmp_path / 'card'}"]
    assert [line.removesuffix(" …") for line in err.splitlines()[:4]] == progress
    assert f"note: {held['input']['small_cells']} lines of counts.csv hold fewer than 5 people: who knows" in err
    assert status == 0


def test_columns_by_the_options_that_name_them(preds, tmp_path, capsys):
    out = ["--out", tmp_path / "card", "--quiet"]
    start = f"auditlib: error: {str(preds)!r}: "
    columns = "the columns are: 'died', 'risk', 'sex', 'ward', 'hospital', 'patient'."
    found = refused(capsys, *asked(preds, "--site", "hosp", *out))
    assert found == f"{start}site='hosp' is not a column (did you mean 'hospital'?); {columns}"
    found = refused(capsys, *asked(preds, "--cluster", "pat", "--by", "wards", *out))
    assert found == f"{start}by='wards', cluster='pat' are not columns (did you mean 'ward', 'patient'?); {columns}"
    found = refused(capsys, *asked(preds, "--site", "sex", *out))
    assert found == "auditlib: error: column 'sex' is used twice (by and site); name another column for one of them."
    found = refused(capsys, "audit", preds, "--label", "risk", "--score", "died", "--by", "sex", *out)
    assert "they look swapped; write label='died' and score='risk' (--label, --score)." in found
    assert "positive" not in found
    assert not (tmp_path / "card").exists()


def test_quiet_is_quiet(tmp_path, capsys):
    status, said, err = run(capsys, "audit", "--confusion", CASE14, "--out", tmp_path / "card", "--quiet")
    assert (status, err) == (0, "")
    assert said


def test_follow_ups_run_when_pasted(preds, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(capsys, *asked("preds.csv", "--by", "ward", "--group-a", "M", "--lam", "F=0.2,M=0.3", *QUICK))
    for number, line in enumerate(results("audit-card")["follow_ups"], start=2):
        program, *words = shlex.split(line["command"])
        assert program == "auditlib"
        assert run(capsys, *words)[0] == 0
        found = results(f"audit-card-{number}")
        for name, value in line["parameters"].items():
            if name == "by":
                assert list(found["input"]["groups"]) == value
            else:
                assert found["options"][name] == value
        assert run(capsys, "check", f"audit-card-{number}")[0] == 0


@pytest.mark.parametrize("place", range(0, len(NAMES), 7))
def test_odd_names_from_a_file_to_its_check(tmp_path, capsys, monkeypatch, place):
    first, second = NAMES[place], NAMES[(place + 5) % len(NAMES)]
    column = f"{NAMES[(place + 3) % len(NAMES)]} column"
    frame = rows(300, groups=(first, second)).rename(columns={"sex": column})
    path = tmp_path / "-odd name's.csv"
    frame.to_csv(path, index=False)
    monkeypatch.chdir(tmp_path)
    words = ["audit", f"./{path.name}", "--label", "died", "--score", "risk", f"--by={column}", f"--group-a={second}"]
    status, _, err = run(capsys, *words, "--out", "card", "--encoding", "utf-8", *QUICK)
    assert status == 0, err
    held = results("card")
    assert held["comparison"]["a"] == second
    status, said, _ = run(capsys, "check", "card")
    assert status == 0, said
    words = shlex.split(held["follow_ups"][0]["command"])
    assert run(capsys, *words[1:])[0] == 0


def test_positive_delimiter_encoding_and_missing(tmp_path, capsys):
    frame = rows(200).assign(
        died=lambda f: f["died"].map({1: "ja", 0: "nein"}), sex=lambda f: f["sex"].replace("M", "Mä")
    )
    frame.loc[:9, "sex"] = ""
    path = tmp_path / "preds.txt"
    path.write_bytes(frame.to_csv(index=False, sep=";", decimal=",").encode("cp1252"))
    words = asked(path, "--encoding", "cp1252", "--delimiter", ";", "--out", tmp_path / "card", *QUICK)
    assert "--encoding" in refused(capsys, *[word for word in words if word not in ("--encoding", "cp1252")])
    assert "positive" in refused(capsys, *words)
    words += ["--positive", "ja"]
    assert "sex" in refused(capsys, *words)  # ten groups are missing
    assert run(capsys, *words, "--missing", "category")[0] == 0
    found = results(tmp_path / "card")
    assert found["input"]["positive"] == "ja"
    assert sum(line["n"] for line in found["groups"]) == 200
    assert len(found["groups"]) == 3
    assert found["input"]["notes"][0] == "Scores were written with a decimal comma."


# -- counts -------------------------------------------------------------------------------------------------------


@pytest.fixture
def hospitals(tmp_path):
    frame, paths = rows(800), []
    for name, part in frame.groupby("hospital"):
        path = tmp_path / f"{name}.csv"
        al.count(part, label="died", score="risk", by=["sex", "hospital"]).to_csv(path)
        paths.append(path)
    return paths


def test_hospitals_are_added(hospitals, tmp_path, capsys):
    out = tmp_path / "card"
    status = run(capsys, "audit", *hospitals, "--site", "hospital", "--threshold", "0.3", "--out", out, *QUICK)[0]
    assert status == 0
    whole = al.audit(rows(800), label="died", score="risk", by="sex", site="hospital", threshold=0.3, replicates=100)
    found = results(out)
    assert found["questions"]["chance"] == whole.results["questions"]["chance"]
    assert found["input"]["hospitals"] == 2
    assert found["input"]["people"] == 800
    assert found["input"]["name"] == "north.csv + south.csv"


def test_what_cannot_be_added(hospitals, preds, tmp_path, capsys):
    out = ["--out", tmp_path / "card"]
    copy = tmp_path / "copy.csv"
    copy.write_bytes(hospitals[0].read_bytes())
    assert "are the same table" in refused(capsys, "audit", hospitals[0], copy, *out)
    assert "is no count table" in refused(capsys, "audit", hospitals[0], preds, *out)
    assert "2 tables of rows" in refused(capsys, "audit", preds, preds, *out)
    assert "--label goes with rows" in refused(capsys, "audit", hospitals[0], "--label", "died", *out)
    assert "--bins goes with rows" in refused(capsys, "audit", hospitals[0], "--bins", "20", *out)
    assert "'age' is not a group here" in refused(capsys, "audit", hospitals[0], "--by", "age", *out)
    assert "site='hosp' is not a group here (did you mean 'hospital'?); there are: 'sex', 'hospital'." in refused(
        capsys, "audit", hospitals[0], "--by", "sex", "--site", "hosp", *out
    )
    damaged = tmp_path / "damaged.csv"
    damaged.write_bytes(hospitals[0].read_bytes()[:-20])
    assert "damaged.csv" in refused(capsys, "audit", damaged, *out)
    resaved = tmp_path / "resaved.csv"
    resaved.write_text('"# auditlib-counts 1",,,\n', encoding="utf-8")
    assert "resaved.csv" in refused(capsys, "audit", resaved, *out)


def test_the_counts_of_a_card_give_the_same_gap(preds, tmp_path, capsys):
    """Whoever gets the folder can audit its counts, at the same threshold."""
    run(capsys, *asked(preds, "--threshold", "0.137", "--out", tmp_path / "a", *QUICK))
    assert run(capsys, "audit", tmp_path / "a" / "counts.csv", "--out", tmp_path / "b", *QUICK)[0] == 0
    first, second = results(tmp_path / "a"), results(tmp_path / "b")
    assert second["threshold"]["value"] == 0.137
    assert first["questions"]["chance"] == second["questions"]["chance"]
    assert first["groups"] == second["groups"]


def test_a_threshold_that_is_no_decimal_is_found_again(tmp_path, capsys):
    """Results have twelve digits; the commands of follow-ups must name an edge to the bit."""
    path = tmp_path / "thirds.csv"
    al.count(rows(600), label="died", score="risk", by="sex", bins=300).to_csv(path)
    assert run(capsys, "audit", path, "--threshold", repr(100 / 300), "--out", tmp_path / "a", *QUICK)[0] == 0
    assert run(capsys, "check", tmp_path / "a")[0] == 0
    for line in results(tmp_path / "a")["follow_ups"]:
        words = [*shlex.split(line["command"])[1:-1], tmp_path / "b"]
        assert run(capsys, *words)[0] == 0


# -- confusion matrices -------------------------------------------------------------------------------------------


def test_matrices_from_a_file(tmp_path, capsys):
    path = tmp_path / "matrices.txt"
    path.write_text(CASE14.replace("; ", "\n"), encoding="utf-8-sig")
    run(capsys, "audit", "--confusion", f"@{path}", "--out", tmp_path / "a", *QUICK)
    run(capsys, "audit", "--confusion", CASE14, "--out", tmp_path / "b", *QUICK)
    assert results(tmp_path / "a")["groups"] == results(tmp_path / "b")["groups"]
    assert results(tmp_path / "a")["input"]["name"] == "matrices.txt"
    run(capsys, "audit", "--confusion", "@home:8,1,9,2; away:7,2,8,3", "--out", tmp_path / "c", *QUICK)
    assert [line["group"] for line in results(tmp_path / "c")["groups"]] == ["@home", "away"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say what is audited: a FILE, or --confusion"),
        (["x.csv", "--confusion", CASE14], "not both"),
        (["--confusion", CASE14, "--by", "sex"], "--by goes with rows; confusion matrices have none"),
        (["--confusion", CASE14, "--site", "sex"], "--site goes with rows"),
        (["--confusion", CASE14, "--threshold", "0.3"], "hold one threshold already"),
        (["--confusion", CASE14, "--capacity", "0.3"], "capacity needs scores"),
        (["--confusion", CASE14, "--lam", "0.3"], "lam needs benefit_threshold"),
        (["--confusion", CASE14, "--benefit-threshold", "0.3"], "--benefit-threshold goes with --lam"),
        (["--confusion", CASE14, "--group-a", "Girls"], "no group 'Girls' in 'group'"),
        (["--confusion", CASE14, "--group-a", "Men", "--group-b", "Men"], "are both 'Men'"),
        (["--confusion", "@no-such-file"], "no-such-file"),
        (["--confusion", "@."], "not an ordinary file"),
        (["x.csv", "--label", "died"], "is a table of rows: name its columns, --score, --by."),
        (["no-such.csv", "--label", "a", "--score", "b", "--by", "c"], "no such file"),
        ([".", "--label", "a", "--score", "b", "--by", "c"], "'.'"),
        (["a\x1b[2Jb", "--label", "a", "--score", "b", "--by", "c"], "no such file"),
    ],
)
def test_errors_of_an_audit(words, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = refused(capsys, "audit", *words, "--out", "card")
    assert said in found
    assert "\x1b" not in found
    assert not (tmp_path / "card").exists()


def test_files_that_are_none(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("one").write_bytes(b"x")
    Path("none").write_bytes(b"")
    os.mkfifo("pipe")
    for name in ("one", "none", "pipe", "."):
        refused(capsys, *asked(name, "--quiet"))
    assert "surrogate" not in refused(capsys, *asked("\udcff.csv"))


def test_a_million_groups_are_no_groups(tmp_path, capsys):
    path = tmp_path / "many.csv"
    with open(path, "w", encoding="utf-8") as file:
        file.write("died,risk,sex\n")
        file.writelines(f"{n % 2},0.{n % 10},{n}\n" for n in range(1_000_000))
    start = time.perf_counter()
    said = refused(capsys, *asked(path, "--out", tmp_path / "card", "--quiet"))
    print(f"{time.perf_counter() - start:.1f} s")
    assert "1,000,000 different values are no groups" in said


# -- what is written ----------------------------------------------------------------------------------------------


def test_the_same_bytes_twice(preds, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    words = asked(preds, "--by", "ward", "--site", "hospital", "--lam", "0.3", "--capacity", "0.2", *QUICK)
    for name in "ab":
        assert run(capsys, *words, "--out", tmp_path / name)[0] == 0
    first, second = ({path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
                     for name in "ab")  # fmt: skip
    assert len(first) >= 10
    assert first == second
    assert results(tmp_path / "a")["made"] == "1970-01-02"


def test_a_date_that_is_none(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "tomorrow")
    assert "SOURCE_DATE_EPOCH" in refused(capsys, "audit", "--confusion", CASE14, "--out", tmp_path / "x", *QUICK)


def shell(*words, **more):
    return subprocess.run([sys.executable, "-m", "auditlib", *map(str, words)], capture_output=True, text=True, **more)


def test_as_a_program_of_its_own(tmp_path):
    done = shell("audit", "--confusion", CASE14, "--out", tmp_path / "card", *QUICK)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("The gap in sensitivity of −10.0 points")
    wrong = shell("audit", "--confusion", "A:1,2,3,4", "--out", tmp_path / "card")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert len(wrong.stderr.splitlines()) == 1


def test_a_reader_who_leaves_early_harms_nothing(tmp_path):
    words = f"{shlex.quote(sys.executable)} -m auditlib audit --confusion {shlex.quote(CASE14)} --quiet --out card"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {words} | true"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "card" / "summary.md").exists()


def test_ctrl_c_is_status_130(tmp_path, capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("auditlib.card.folder.page", stop)
    status, out, err = run(capsys, "audit", "--confusion", CASE14, "--out", tmp_path / "card", *QUICK)
    assert (status, out, err) == (130, "", "auditlib: interrupted.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_in_the_middle_of_the_work(preds, tmp_path, number, status):
    words = [str(word) for word in asked(preds, "--out", tmp_path / "card", "--replicates", "50000")]
    with subprocess.Popen([sys.executable, "-m", "auditlib", *words], stderr=subprocess.PIPE, text=True) as child:
        for line in child.stderr:
            if "50,000 replicates" in line:
                break
        child.send_signal(number)
        rest = child.stderr.read()
    assert child.returncode == status
    assert rest == ("auditlib: interrupted.\n" if number == signal.SIGINT else "")
    assert [path.name for path in tmp_path.iterdir()] == ["preds.csv"]


# -- the book's cohorts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(COMPARISONS))
def test_gap_defaults_are_the_book(name, tmp_path, capsys):
    asked = COMPARISONS[name]
    start = time.perf_counter()
    words = ["gap", "--dataset", asked.dataset, "--attribute", asked.attribute, "--out", tmp_path / "card", *QUICK]
    assert run(capsys, *words)[0] == 0
    print(f"{name}: {time.perf_counter() - start:.1f} s")
    book = studies.gap_table().set_index("comparison").loc[name]
    found = results(tmp_path / "card")["questions"]["chance"]["gap"]
    for key, column in (("estimate", "gap"), ("low", "newcombe_low"), ("high", "newcombe_high")):
        assert found[key] == pytest.approx(book[column], abs=1e-11)
    assert (found["n_a"], found["n_b"]) == (book["positives_a"], book["positives_b"])
    assert run(capsys, "check", tmp_path / "card")[0] == 0


def test_groups_turned_round_turn_the_gap(tmp_path, capsys):
    words = ["gap", "--dataset", "cdc_diabetes", "--attribute", "age", "--group-a", "65+", "--group-b", "18-44"]
    assert run(capsys, *words, "--out", tmp_path / "a", *QUICK)[0] == 0
    assert run(capsys, *words[:5], "--out", tmp_path / "b", *QUICK)[0] == 0
    turned, usual = (results(tmp_path / name)["questions"]["chance"]["gap"] for name in "ab")
    assert turned["estimate"] == pytest.approx(-usual["estimate"])
    assert (turned["low"], turned["high"]) == pytest.approx((-usual["high"], -usual["low"]))
    assert run(capsys, "check", tmp_path / "a")[0] == 0


def test_matrices_of_your_own_from_parameters(tmp_path, capsys):
    path = tmp_path / "params.json"
    path.write_text(json.dumps({"byo_confusion": CASE14, "dataset": "", "group_a": "Men", "target_prevalence": 0.05}))
    assert run(capsys, "gap", "--params", path, "--out", tmp_path / "a", *QUICK)[0] == 0
    words = ["--group-a", "Men", "--target-prevalence", "0.05", "--out", tmp_path / "b", *QUICK]
    run(capsys, "audit", "--confusion", CASE14, *words)
    assert results(tmp_path / "a") == results(tmp_path / "b")
    assert run(capsys, "check", tmp_path / "a")[0] == 0


# -- the help -----------------------------------------------------------------------------------------------------

EXAMPLES = dict.fromkeys(
    line.strip()
    for text in (texts.TOP, texts.AUDIT_MORE, texts.GAP_MORE, texts.CHECK_MORE)
    for line in re.findall(r"^ +(auditlib .*)$", text, re.MULTILINE)
)


def test_every_example_of_the_help_runs(tmp_path, capsys, monkeypatch):
    """But for the one that fits a model anew, which needs the cohort."""
    monkeypatch.chdir(tmp_path)
    frame = rows(900).assign(race=lambda f: f["ward"].map({"a": "Black", "b": "White", "c": "Asian"}))
    frame.to_csv("preds.csv", index=False)
    for name, part in frame.groupby("hospital"):
        al.count(part, label="died", score="risk", by=["sex", "hospital"]).to_csv(f"{name}.csv")
    Path("params.json").write_text('{"dataset": "cdc_diabetes", "attribute": "sex"}')
    assert len(EXAMPLES) >= 12
    for line in EXAMPLES:
        if "--max-rows" in line and "AUDITLIB_DATA" not in os.environ:
            continue
        status, _, err = run(capsys, *shlex.split(line)[1:])
        assert status == 0, (line, err)
