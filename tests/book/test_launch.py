"""Binder and Colab: what their files say, what the buttons open, and the tool that tries both."""

import ast
import csv
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import jupytext
import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from packaging.requirements import Requirement

from tests.book.conftest import NOTEBOOKS, PAGES, ROOT
from tools import launch
from tools.launch import COLAB_HAS, LIMIT, SHORT, Run

ENVIRONMENT = Path(sys.prefix)
SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
URL, BRANCH = SETTINGS["repository"]["url"], SETTINGS["repository"]["branch"]
PACKAGE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FRONT = "---\nkernelspec:\n  display_name: Python 3\n  language: python\n  name: python3\n---\n\n# A page\n\n"
NAMES = {"sklearn": "scikit-learn", "myst_nb": "myst-nb", "auditlib": "auditlib"}  # where import and package differ


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The book's text with the notebooks that Binder's postBuild and the publish job make of it."""
    root = tmp_path_factory.mktemp("published")
    for name in ("_toc.yml", "_config.yml", "requirements.txt", "binder/postBuild", *(f"{page}.md" for page in PAGES)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "tools", root / "tools")
    subprocess.run([root / "binder" / "postBuild"], cwd=root, check=True, env=launch.clean(ENVIRONMENT))
    return root


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A repository of one notebook, which the tool takes for the book; environments are this one."""
    root = tmp_path / "book"
    (root / "binder").mkdir(parents=True)
    (root / "_toc.yml").write_text("format: jb-book\nroot: intro\n")
    (root / "intro.md").write_text(FRONT + "```{code-cell} python3\nprint(6 * 7)\n```\n")
    (root / "binder" / "postBuild").write_text("#!/bin/sh\njupytext --quiet --to notebook intro.md\n")
    (root / "binder" / "postBuild").chmod(0o755)
    (root / "binder" / "runtime.txt").write_text(f"python-{sys.version_info.major}.{sys.version_info.minor}\n")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    subprocess.run(["git", "add", "."], cwd=root, check=True)

    def here(where, _python, environment, *_):
        environment.symlink_to(ENVIRONMENT)
        return Run(where, "environment", 0.0, None, None, 1, True)

    monkeypatch.setattr(launch, "ROOT", root)
    monkeypatch.setattr(launch, "install", here)
    monkeypatch.setattr(sys, "argv", ["launch.py", "--only", "binder"])
    return root


@pytest.fixture
def cell(published):
    """The first code cell of a published notebook, as a function of the commands' results."""
    notebook = nbformat.read(published / "intro.ipynb", as_version=4)
    return next(one.source for one in notebook.cells if one.cell_type == "code")


def run(folder, *cells):
    """Execute a notebook of these cells as the tool does, in this environment."""
    nbformat.write(new_notebook(cells=[new_code_cell(one) for one in cells]), folder / "page.ipynb")
    return launch.execute("binder", "page", folder / "page.ipynb", folder, ENVIRONMENT, {})


def test_binder_gets_the_books_requirements_and_what_its_jupyterlab_shows():
    first, *more = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert first == "-r ../requirements.txt"
    assert [line.split("==")[0] for line in more] == ["jupyterlab-myst"]
    assert all(re.fullmatch(r"[\w-]+==[\w.]+  # .{20,}", line) for line in more)
    assert (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8").strip() == "python-3.11"
    assert PACKAGE["requires-python"] == ">=3.11"


def test_the_postbuild_only_converts():
    lines = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["set -eu", "python tools/notebooks.py"]
    tree = ast.parse((ROOT / "tools" / "notebooks.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in tree.body if isinstance(node, ast.Import) for name in node.names}
    assert imported == {"__future__", "re", "jupytext", "yaml", "nbformat.v4", "chapters"}


def test_the_postbuild_makes_every_notebook_and_executes_none(published):
    made = {path.relative_to(published).with_suffix("").as_posix() for path in published.rglob("*.ipynb")}
    assert made == set(NOTEBOOKS)
    for page in NOTEBOOKS:
        cells = nbformat.read(published / f"{page}.ipynb", as_version=4).cells
        assert cells[0].source.startswith(f"*[This page]({SETTINGS['html']['baseurl']}{page}.html)")
        assert not [one for one in cells if one.get("outputs")]


@pytest.mark.parametrize("page", PAGES)
def test_buttons_open_a_notebook_that_is_made_or_are_not_there(site, published, page):
    html = (site / f"{page}.html").read_text(encoding="utf-8")
    opened = re.findall(r'href="https://(?:mybinder|colab)[^"]+/' + BRANCH + r'(?:\?urlpath=lab/tree)?/([^"]+)"', html)
    assert opened == ([f"{page}.ipynb"] * 2 if page in NOTEBOOKS else [])
    assert all((published / name).is_file() for name in opened)
    assert ("dropdown-launch-buttons" in html) == (page in NOTEBOOKS)


def test_the_first_cell_does_nothing_elsewhere(cell, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a command was run"))
    before = list(sys.path)
    exec(cell, {})
    assert sys.path == before


@pytest.mark.parametrize(
    ("there", "broken", "says"),
    [
        (False, None, None),
        (True, None, None),
        (False, "git", "The book was not fetched, so nothing below can run: no route"),
        (False, "pip", "The book was not installed, so nothing below can run: no route"),
    ],
)
def test_the_first_cell_on_colab(cell, monkeypatch, tmp_path, there, broken, says):
    commands = []

    def answer(command, **_):
        commands.append(command)
        return subprocess.CompletedProcess(command, int(broken in command), "", "no route")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "run", answer)
    monkeypatch.setattr(sys, "path", list(sys.path))
    loaded = {name: module for name, module in sys.modules.items() if name.split(".")[0] != "auditlib"}
    monkeypatch.setattr(sys, "modules", loaded | {"google.colab": None})
    if there:
        (tmp_path / "book").mkdir()
        (tmp_path / "book" / "pyproject.toml").touch()
    if says:
        with pytest.raises(RuntimeError, match=re.escape(says)):
            exec(cell, {})
        assert str(tmp_path / "book") not in sys.path
    else:
        exec(cell, {})
        assert sys.path[0] == str(tmp_path / "book")
    book = str(tmp_path / "book")  # in the working folder, not in the root's
    clone = ["git", "clone", "--quiet", "--depth=1", f"--branch={BRANCH}", URL, book]
    assert (clone in commands) == (not there)
    assert [command[1:4] for command in commands if command != clone] == (
        [] if broken == "git" else [["-m", "pip", "install"]]
    )


def test_the_first_cell_asks_for_a_restart_where_one_is_needed(cell, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 0, "", ""))
    loaded = {name: module for name, module in sys.modules.items() if name.split(".")[0] != "auditlib"}
    old = SimpleNamespace(__version__="3.1.1")  # what is installed by then is another
    monkeypatch.setattr(sys, "modules", loaded | {"google.colab": None, "pandas": old})
    with pytest.raises(RuntimeError, match=r"^pandas had to be replaced: restart the session"):
        exec(cell, {})
    assert str(tmp_path / "book") not in sys.path


def imports(page):
    """Packages that a page's cells import where nothing asks first whether they are there."""
    for one in jupytext.read(ROOT / f"{page}.md").cells:
        for node in ast.parse(one.source).body if one.cell_type == "code" else ():
            if isinstance(node, ast.Import):
                yield from (name.name.split(".")[0] for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.module.split(".")[0]


def test_the_first_cell_installs_what_the_notebooks_import(cell):
    asked = {Requirement(line).name for line in PACKAGE["dependencies"]} | {"auditlib", "ipython"}
    asked |= {re.split("==", name)[0] for name in re.findall(r'"([^"]+)"', re.search(r"pip \+= (.+)", cell)[1])}
    assert {"myst-nb", "sympy"} < asked
    found = {NAMES.get(name, name.lower()) for page in NOTEBOOKS for name in imports(page)}
    assert found - set(sys.stdlib_module_names) - asked == set()
    assert {"sympy", "scikit-learn", "myst-nb"} <= found


def test_what_colab_has_loaded_is_not_replaced():
    bounds = {found.name: found.specifier for found in map(Requirement, PACKAGE["dependencies"])}
    has = dict(line.split("==") for line in COLAB_HAS)
    assert all(has[name] in bounds[name] for name in ("numpy", "pandas", "matplotlib"))


def test_the_limit_bites(tmp_path, capsys):
    assert LIMIT == 2000
    failed = run(tmp_path, "held = bytearray(3 * 2**30)", "print('not reached')")
    assert not failed.ok
    assert "MemoryError" in capsys.readouterr().out
    passed = run(tmp_path, "held = bytearray(2**30)\nheld[::4096] = bytes([1]) * (2**30 // 4096)")
    assert passed.ok
    assert 1024 < passed.peak_mb < LIMIT
    assert 0 < passed.cpu < 60
    assert passed.seconds > 0


def test_a_kernel_that_dies_is_a_failure_too(tmp_path, capsys):
    assert not run(tmp_path, "import os", "os._exit(1)").ok
    assert "DeadKernelError" in capsys.readouterr().out


def test_nobody_has_the_cohorts(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDITLIB_DATA", "/somewhere")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    assert run(
        tmp_path,
        "import os, pathlib, sys",
        "assert not [name for name in os.environ if name.startswith('AUDITLIB')]",
        "assert '/somewhere' not in sys.path",
        f"assert pathlib.Path.cwd() == pathlib.Path({str(tmp_path)!r})",
    ).ok


def test_all_notebooks_pass_or_the_status_says_so(book, capsys):
    assert launch.main() == 0
    assert "1 notebooks run, 0 failed" in capsys.readouterr().out
    (book / "intro.md").write_text(FRONT + "```{code-cell} python3\n1 / 0\n```\n")  # a change not committed
    assert launch.main() == 1
    said = capsys.readouterr().out
    assert re.search(
        r"binder +intro +[\d.]+ s +[\d.]+ s CPU +\d+ MB  FAILED\n    ZeroDivisionError: division by zero\n", said
    )
    assert said.endswith("1 notebooks run, 1 failed binder:intro\n")


def test_a_notebook_that_the_postbuild_forgot_is_a_failure(book, capsys):
    (book / "binder" / "postBuild").write_text("#!/bin/sh\n")
    assert launch.main() == 1
    assert "binder/postBuild made no notebook" in capsys.readouterr().out


def test_the_copy_has_what_git_tracks_and_no_more(book, tmp_path):
    (book / "notes.txt").write_text("not added")
    (book / "_toc.yml").unlink()
    (book / "intro.md").write_text("changed")
    launch.copy_tracked(book, tmp_path / "copy")
    copied = {path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*")}
    assert copied == {"intro.md", "binder", "binder/postBuild", "binder/runtime.txt"}
    assert (tmp_path / "copy" / "intro.md").read_text() == "changed"
    assert (tmp_path / "copy" / "binder" / "postBuild").stat().st_mode & 0o111


def test_the_published_branch_is_cloned_from_its_address(published, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(published, copy)
    for notebook in copy.rglob("*.ipynb"):
        notebook.unlink()
    (copy / ".gitignore").write_text("*.ipynb\n")
    launch.publish(copy, BRANCH)
    command = ["git", "clone", "--quiet", "--depth=1", f"--branch={BRANCH}", URL, tmp_path / "clone"]
    subprocess.run(command, check=True, env=launch.clean(more=launch.answered(URL, copy)))
    assert (tmp_path / "clone" / f"{NOTEBOOKS[-1]}.ipynb").is_file()
    assert not (tmp_path / "clone" / ".git" / "refs" / "heads" / "main").exists()


def test_a_fake_colab_is_loaded_from_the_start(tmp_path):
    launch.pretend(tmp_path)
    asked = [sys.executable, "-c", "import sys; print('google.colab' in sys.modules)"]
    answers = [
        subprocess.run(asked, capture_output=True, text=True, check=True, env=launch.clean(more=more)).stdout.strip()
        for more in ({"PYTHONPATH": str(tmp_path)}, {})
    ]
    assert answers == ["True", "False"]


def test_the_first_code_cell_is_run_twice(tmp_path):
    cells = [new_markdown_cell("words"), new_code_cell("first"), new_code_cell("second")]
    nbformat.write(new_notebook(cells=cells), tmp_path / "page.ipynb")
    launch.twice(tmp_path / "page.ipynb", tmp_path / "again.ipynb")
    again = nbformat.read(tmp_path / "again.ipynb", as_version=4)
    assert [one.source for one in again.cells] == ["words", "first", "first", "second"]


def test_constraints_are_the_pins_alone(tmp_path):
    launch.pins(ROOT, tmp_path / "pins.txt")
    lines = (tmp_path / "pins.txt").read_text().splitlines()
    assert all(re.match(r"[\w.-]+==", line) for line in lines)
    assert len(lines) == len(re.findall("^[^#-].*==", (ROOT / "requirements.txt").read_text("utf-8"), re.M)) > 20


def test_another_python_is_named(tmp_path, capsys):
    (tmp_path / "runtime.txt").write_text("python-2.0\n")
    assert launch.python_of(tmp_path / "runtime.txt") == sys.executable
    assert "Binder has Python 2.0, this machine has not" in capsys.readouterr().out


def test_the_table(tmp_path, monkeypatch):
    runs = [
        Run("binder", "environment", 60.0, None, None, 1000, True),
        Run("colab", "intro", 9.5, 8.0, 300, None, False),
    ]
    launch.save(runs, tmp_path / "table.csv")
    first, second = csv.DictReader((tmp_path / "table.csv").read_text().splitlines())
    assert first == {
        "where": "binder",
        "page": "environment",
        "seconds": "60.0",
        "cpu": "",
        "peak_mb": "",
        "installed_mb": "1000",
        "ok": "yes",
    }
    assert (second["page"], second["peak_mb"], second["ok"]) == ("intro", "300", "no")
    monkeypatch.setattr(sys, "argv", ["launch.py", "--save", "intro"])
    with pytest.raises(SystemExit, match="2"):
        launch.main()


def test_ci_runs_the_short_form():
    assert 'make launch ARGS="--short"' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert set(SHORT["binder"] + SHORT["colab"] + launch.COLAB) <= set(NOTEBOOKS)
    assert len(set(launch.COLAB)) == 3
    assert len(SHORT["binder"]) == 2
    assert len(SHORT["colab"]) == 1
