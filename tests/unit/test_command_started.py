"""Before anything large is imported: Ctrl-C, closed streams and the date; and output that goes nowhere."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import auditlib
from auditlib.started import is_program, wrong_epoch
from tests.unit.cards import CASE14

ROOT = Path(auditlib.__file__).parents[1]
HERE = {**os.environ, "PYTHONPATH": str(ROOT)}
CASE = ("audit", "--confusion", CASE14, "--quiet", "--out")
#: ``auditlib.started`` as ``python -m auditlib`` runs it first, then what the test asks.
FIRST = "import runpy, sys, os, signal; sys.orig_argv = ['python', '-m', 'auditlib']; runpy.run_path({!r}); "


def first(code, **more):
    """A process in which ``started`` runs alone, and then some code."""
    words = [sys.executable, "-c", FIRST.format(str(ROOT / "auditlib" / "started.py")) + code]
    return subprocess.run(words, capture_output=True, text=True, **more)


def shell(folder, redirected, *words):
    """A command line with its streams redirected."""
    said = f'"$@" {redirected}'
    words = ["sh", "-c", said, "sh", sys.executable, "-m", "auditlib", *map(str, words)]
    return subprocess.run(
        words, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["python", "-m", "auditlib", "audit"], True),
        (["python", "-W", "error", "-X", "dev", "-m", "auditlib"], True),
        (["python3.11", "/venv/bin/auditlib", "check"], True),
        (["python.exe", "auditlib.exe"], True),
        (["python", "-m", "pytest", "auditlib"], False),
        (["python", "-c", "import auditlib", "auditlib"], False),
        (["python", "study.py", "-m", "auditlib"], False),
        (["python"], False),
    ],
)
def test_how_python_was_started(words, expected):
    assert is_program(words) is expected


@pytest.mark.parametrize(("value", "wrong"), [(None, False), ("0", False), ("abc", True), ("", True), ("9" * 30, True)])
def test_dates(value, wrong):
    assert (wrong_epoch(value) is not None) is wrong


def test_a_wrong_date_is_one_line():
    done = first("print('never')", env={**os.environ, "SOURCE_DATE_EPOCH": "abc\nd"})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "auditlib: error: SOURCE_DATE_EPOCH must be seconds since 1970, not 'abc\\nd'.\n"


def test_an_interrupt_while_importing():
    done = first("os.kill(os.getpid(), signal.SIGINT); print('never')")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "auditlib: interrupted.\n")


def test_an_interrupt_that_is_ignored_stays_so():
    """As after ``nohup``."""
    code = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    words = [sys.executable, "-c", FIRST.format(str(ROOT / "auditlib" / "started.py"))]
    words[-1] += "os.kill(os.getpid(), signal.SIGINT); print('on')"
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); " + code
    done = subprocess.run([sys.executable, "-c", ignoring, *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "on\n")


def test_a_closed_stream_is_no_file_opened_later():
    """Else the first file that is opened would receive what is printed."""
    code = f"handle = os.open({str(ROOT / 'pyproject.toml')!r}, os.O_RDONLY); sys.stderr.write(str(handle > 2))"
    path = str(ROOT / "auditlib" / "started.py")
    words = ["sh", "-c", '"$@" >&-', "sh", sys.executable, "-c", FIRST.format(path) + code]
    assert subprocess.run(words, capture_output=True, text=True).stderr == "True"


FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")


@pytest.mark.parametrize(
    ("redirected", "why"),
    [(">&-", "it is closed"), pytest.param(">/dev/full", "No space left on device", marks=FULL)],
)
def test_findings_that_nobody_can_read(tmp_path, redirected, why):
    """The folder is written, one line says where, and the status is that of the work."""
    done = shell(tmp_path, redirected, *CASE, "card")
    said = f"auditlib: note: the standard output cannot be written ({why}); the findings are in card."
    assert (done.returncode, done.stderr.splitlines()) == (0, [said])
    assert json.loads((tmp_path / "card" / "results.json").read_bytes())["kind"] == "confusion"
    done = shell(tmp_path, redirected, "check", "card")
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "validation_report.json" in done.stderr
    (tmp_path / "card" / "counts.csv").unlink()
    assert shell(tmp_path, redirected, "check", "card").returncode == 1
    for words in (["--help"], ["--version"], ["audit", "--help"]):
        done = shell(tmp_path, redirected, *words)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].endswith(f"cannot be written ({why}); there is nobody to tell.")


@pytest.mark.parametrize("redirected", [">&- 2>&-", pytest.param(">/dev/full 2>/dev/full", marks=FULL), "2>&-"])
def test_no_stream_at_all(tmp_path, redirected):
    assert shell(tmp_path, redirected, *CASE, "card").returncode == 0
    assert (tmp_path / "card" / "result_card.html").is_file()
    done = shell(tmp_path, redirected, "audit", "nowhere.csv")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_reader_that_has_seen_enough(tmp_path):
    done = shell(tmp_path, "| true; exit ${PIPESTATUS:-0}", *CASE, "card")
    assert (done.returncode, done.stderr) == (0, "")


def test_an_input_that_leads_to_itself(tmp_path):
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    done = shell(tmp_path, "", "audit", "loop.csv", "--label", "y", "--score", "p", "--by", "g")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "auditlib: error: 'loop.csv' cannot be read (a link that leads to itself).\n"


def test_a_folder_that_is_gone(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = shell(gone, "", "--version")
    assert done.returncode == 0
    words = ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", sys.executable, "-m", "auditlib", *CASE, "card"]
    done = subprocess.run(words, cwd=gone, env=HERE, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "auditlib: error: the folder you are in is gone; change into another one.\n"


def test_interrupted_while_working(tmp_path):
    """The handler of the imports has been put back, so that drafts are removed."""
    code = (
        "import auditlib.command, auditlib.__main__ as program, os, signal, sys\n"
        "auditlib.command.main = lambda: os.kill(os.getpid(), signal.SIGINT) or 0\n"
        "sys.exit(program.main())"
    )
    done = first(code, cwd=ROOT)
    assert (done.returncode, done.stderr) == (signal.SIGINT + 128, "auditlib: interrupted.\n")


@pytest.mark.parametrize("after", [0.15, 0.4, 0.9])
def test_an_interrupt_at_any_time(tmp_path, after):
    words = [sys.executable, "-m", "auditlib", *CASE, "card"]
    with subprocess.Popen(words, cwd=tmp_path, env=HERE, stderr=subprocess.PIPE, text=True) as child:
        time.sleep(after)
        child.send_signal(signal.SIGINT)
        assert (child.wait(), child.stderr.read()) == (130, "auditlib: interrupted.\n")
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_date_of_the_command_line(tmp_path):
    words = [sys.executable, "-m", "auditlib", "--version"]
    done = subprocess.run(words, env={**HERE, "SOURCE_DATE_EPOCH": "abc"}, capture_output=True, text=True)
    assert done.stderr == "auditlib: error: SOURCE_DATE_EPOCH must be seconds since 1970, not 'abc'.\n"
    assert (done.returncode, done.stdout) == (2, "")
