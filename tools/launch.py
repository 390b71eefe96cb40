"""Run the notebooks as Binder and as Colab would, from the files that these get and nothing else.

    python -m tools.launch [--only binder|colab] [--short] [--save] [--scratch FOLDER] [PAGE ...]

`make launch ARGS=…` does the same. All happens in a scratch folder, in a copy of what git tracks (with changes that are
not committed). One line a notebook says how long it took from the kernel's start to the last cell (by the clock, and of
computing), its peak memory, and whether it passed; the status is 1 if one failed. AUDITLIB_DATA is unset: nobody has
the cohorts there.

Binder
    A new environment from binder/requirements.txt alone, on the Python of binder/runtime.txt if this machine has it
    (otherwise on its own, and that is said), the real binder/postBuild, then each notebook in its own folder under
    `LIMIT` megabytes: RLIMIT_DATA holds what the kernel allocates, and the peak of what it holds in memory, libraries
    included, may not pass that either. The size is that of the environment's files. Binder's base has JupyterLab
    itself, in the same environment; it is not installed or counted here.

Colab
    The tree is committed and gets its notebooks as the publish job does it. Each notebook runs in an empty folder, with
    a fake `google.colab` loaded, in one new environment that has ipykernel and nbclient alone; its first cell clones
    the repository's address, which git answers from the scratch folder, and installs. That cell is run twice. Seconds
    and peak include it. Without names of pages, three are run.
    Colab has NumPy, pandas, SciPy, Matplotlib, scikit-learn and others before, and has loaded some: a cell that changed
    them would need a restart. So the cell takes the package's lower bounds (pyproject.toml), not the pins of
    requirements.txt; only myst-nb, which Colab lacks, is pinned, and pandas kept below 3 (tools/notebooks.py). A new
    environment gets the newest of all, and ``--colab-has`` first installs what `COLAB_HAS` lists, to see that the lower
    bounds are enough.

``--short``, for CI: two pages on Binder, one on Colab, there with the pins as pip's constraints: a new release of some
package does not turn CI red, and all wheels come from pip's cache. ``--save`` writes benchmarks/launch.csv. Linux only.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml

from tools.chapters import ROOT, is_notebook, pages

LIMIT = 2000  # megabytes; Binder gives 1 to 2 GB
SHORT = {"binder": ["intro", "chapters/08-thresholds"], "colab": ["chapters/14-audit-your-own-model"]}
# The first, the one that takes most memory, the one that starts a process; each installs twice, so no more by default.
COLAB = ["intro", *SHORT["binder"][1:], *SHORT["colab"]]
TABLE = "benchmarks/launch.csv"
EXECUTE = Path(__file__).with_name("execute.py")
# Older than ours. NumPy and pandas as reported of Colab in August 2025; the rest are guesses of the same time, not its
# own list, and on Python 3.11 where Colab had 3.12.
COLAB_HAS = ["numpy==2.0.2", "pandas==2.2.2", "scipy==1.15.3", "matplotlib==3.10.0", "scikit-learn==1.6.1"]
COLAB_HAS += ["pyarrow==18.1.0", "xarray==2025.3.1", "seaborn==0.13.2", "sympy==1.13.1", "ipython==7.34.0"]
COLAB_HAS += ["ipykernel==6.17.1", "ipywidgets==7.7.1"]
IDENTITY = ["-c", "user.name=launch", "-c", "user.email=launch@example.org", "-c", "commit.gpgsign=false"]


@dataclass
class Run:
    """One notebook's run, or an environment's installation (which has a size)."""

    where: str
    page: str
    seconds: float
    cpu: float | None  # seconds of computing, which a busy machine does not change
    peak_mb: float | None
    installed_mb: float | None
    ok: bool


def copy_tracked(root: Path, target: Path) -> None:
    """Copy the files that git tracks below `root`, as they stand now."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (root / name).is_file():  # not deleted, no submodule
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)


def clean(environment: Path | None = None, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's variables without the project's and Python's; `environment` comes first on the path."""
    ours = re.compile(r"AUDITLIB_|PYTHON|JUPYTER_|IPYTHON|VIRTUAL_ENV|MPL|CI$|GIT_")
    kept = {name: value for name, value in os.environ.items() if not ours.match(name)}
    if environment:
        kept["PATH"] = f"{environment / 'bin'}{os.pathsep}{kept['PATH']}"
    return kept | {"PYTHONNOUSERSITE": "1", "JUPYTER_PREFER_ENV_PATH": "1"} | (more or {})


def python_of(runtime: Path) -> str:
    """The Python that binder/runtime.txt asks for, or this one where the machine has it not."""
    version = runtime.read_text(encoding="utf-8").strip().removeprefix("python-")
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = sys.executable if version == here else shutil.which(f"python{version}")
    if not found:
        print(f"Binder has Python {version}, this machine has not: on {here} instead.")
    return found or sys.executable


def install(where: str, python: str, environment: Path, wanted: Sequence[str], folder: Path) -> Run:
    """Make an environment and install what is `wanted`, working in `folder`; pip's errors are shown."""
    start = time.monotonic()
    subprocess.run([python, "-m", "venv", str(environment)], check=True, env=clean())
    pip = [str(environment / "bin" / "pip"), "install", "-qq", "--disable-pip-version-check", *wanted]
    subprocess.run(pip, cwd=folder, check=True, env=clean(environment))
    version = subprocess.run([environment / "bin" / "python", "-V"], capture_output=True, text=True, check=True).stdout
    taken = sum(file.lstat().st_blocks * 512 for file in environment.rglob("*")) / 2**20
    name = f"environment, {version.strip()}"
    return told(Run(where, name, round(time.monotonic() - start, 1), None, None, round(taken), True))


def told(run: Run, error: str = "") -> Run:
    """Print one line of the table, and why it failed."""
    memory = run.peak_mb if run.installed_mb is None else run.installed_mb
    times = f"{run.seconds:7.1f} s{run.cpu or 0:7.1f} s CPU"
    print(f"{run.where:<8}{run.page:<42}{times}{memory or 0:7.0f} MB  {'ok' if run.ok else 'FAILED'}", flush=True)
    print(*[f"    {line}" for line in error.splitlines()], sep="\n", end="\n" if error else "", flush=True)
    return run


def execute(where: str, page: str, notebook: Path, folder: Path, environment: Path, more: Mapping[str, str]) -> Run:
    """Run a notebook in `folder` with the environment's Python under `LIMIT`."""
    command = [environment / "bin" / "python", EXECUTE, notebook]
    command += ["--folder", folder, "--limit", str(LIMIT)]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=clean(environment, more))
    try:
        said = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):  # it was ended, or could not start
        said = {"seconds": round(time.monotonic() - start, 1), "cpu": None, "peak_mb": None}
        said["error"] = f"status {done.returncode}\n{done.stderr[-2000:]}"
    error = said["error"]
    if not error and said["peak_mb"] > LIMIT:
        error = f"{said['peak_mb']} MB in memory, more than {LIMIT}"
    return told(Run(where, page, said["seconds"], said["cpu"], said["peak_mb"], None, not error), error)


def binder(copy: Path, scratch: Path, wanted: Iterable[str]) -> list[Run]:
    """Install, convert and run as Binder does."""
    environment = scratch / "binder"
    python = python_of(copy / "binder" / "runtime.txt")
    runs = [install("binder", python, environment, ["-r", "binder/requirements.txt"], copy)]
    script = copy / "binder" / "postBuild"
    subprocess.run([script], cwd=copy, check=True, env=clean(environment), stdout=subprocess.DEVNULL)
    for page in wanted:
        notebook = copy / f"{page}.ipynb"
        if notebook.exists():
            runs.append(execute("binder", page, notebook, notebook.parent, environment, {}))
        else:
            runs.append(told(Run("binder", page, 0.0, None, None, None, False), "binder/postBuild made no notebook"))
    return runs


def publish(copy: Path, branch: str) -> None:
    """Give the copy a repository with the branch that the buttons open, by the commands of the publish job."""
    for command in (["init", "--quiet", "--initial-branch", branch], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=copy, check=True, env=clean())
    script = [sys.executable, copy / "tools" / "notebooks.py"]
    subprocess.run(script, cwd=copy, check=True, env=clean(), stdout=subprocess.DEVNULL)
    for command in (["add", "--force", "--", "*.ipynb"], [*IDENTITY, "commit", "--quiet", "--message", "Notebooks"]):
        subprocess.run(["git", *command], cwd=copy, check=True, env=clean())


def pretend(folder: Path) -> None:
    """Write a `google.colab` that every Python with this folder on its path has loaded from the start."""
    (folder / "google" / "colab").mkdir(parents=True)
    for package in ("google", "google/colab"):
        (folder / package / "__init__.py").touch()
    (folder / "sitecustomize.py").write_text("import google.colab\n", encoding="utf-8")


def pins(copy: Path, target: Path) -> None:
    """Write the pinned versions alone: pip takes no folder as a constraint."""
    lines = (copy / "requirements.txt").read_text(encoding="utf-8").splitlines()
    target.write_text("\n".join(line for line in lines if "==" in line) + "\n", encoding="utf-8")


def twice(source: Path, target: Path) -> None:
    """Copy a notebook with its first code cell, which installs, a second time."""
    notebook = nbformat.read(source, as_version=4)
    first = next(index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    again = nbformat.v4.new_code_cell(notebook.cells[first].source)
    notebook.cells.insert(first + 1, again)
    nbformat.write(notebook, target)


def answered(url: str, copy: Path) -> dict[str, str]:
    """Variables with which git takes the copy for the repository at this address."""
    names = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{copy.as_uri()}.insteadOf"}
    return names | {"GIT_CONFIG_VALUE_0": url}


def colab(copy: Path, scratch: Path, wanted: Iterable[str], bare: Sequence[str], pinned: bool) -> list[Run]:
    """Publish, then run each notebook from an empty folder in an environment that has only what is `bare`."""
    repository = yaml.safe_load((copy / "_config.yml").read_text(encoding="utf-8"))["repository"]
    publish(copy, repository["branch"])
    environment, fake = scratch / "colab", scratch / "fake"
    pretend(fake)
    more = answered(repository["url"], copy) | {"PYTHONPATH": str(fake)}
    if pinned:
        pins(copy, scratch / "pins.txt")
        bare = [*bare, "--constraint", str(scratch / "pins.txt")]
        more["PIP_CONSTRAINT"] = str(scratch / "pins.txt")
    runs = [install("colab", python_of(copy / "binder" / "runtime.txt"), environment, bare, scratch)]
    for page in wanted:
        content = scratch / "content" / page.replace("/", "-")
        content.mkdir(parents=True)
        twice(copy / f"{page}.ipynb", content / "notebook.ipynb")
        runs.append(execute("colab", page, content / "notebook.ipynb", content, environment, more))
    return runs


def save(runs: Iterable[Run], table: Path) -> None:
    """Write the table; what a line has not is left empty."""
    with table.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, Run.__dataclass_fields__, lineterminator="\n")
        writer.writeheader()
        writer.writerows(vars(run) | {"ok": "yes" if run.ok else "no"} for run in runs)


def launch(root: Path, scratch: Path, options: argparse.Namespace) -> list[Run]:
    """Run what the options ask for in the folder `scratch`."""
    runs = []
    notebooks = [page for page in pages(root) if is_notebook(root / f"{page}.md")]
    for where in [options.only] if options.only else ["binder", "colab"]:
        every = notebooks if where == "binder" else COLAB
        wanted = options.pages or (SHORT[where] if options.short else every)
        copy = scratch / f"{where}-copy"
        copy_tracked(root, copy)
        if where == "binder":
            runs += binder(copy, scratch, wanted)
        else:
            bare = ["ipykernel", "nbclient", *(COLAB_HAS if options.colab_has else [])]
            runs += colab(copy, scratch, wanted, bare, pinned=options.short)
    return runs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="as in _toc.yml; without any, every notebook (Colab: three)")
    parser.add_argument("--only", choices=["binder", "colab"])
    parser.add_argument("--short", action="store_true", help="what CI runs")
    parser.add_argument("--colab-has", action="store_true", help="begin Colab's with older packages than ours")
    parser.add_argument("--save", action="store_true", help=f"write {TABLE}")
    parser.add_argument("--scratch", type=Path, help="an empty folder to work in and keep")
    options = parser.parse_args()
    if options.save and (options.pages or options.only or options.short or options.colab_has):
        parser.error("--save writes the whole table: run everything")
    with tempfile.TemporaryDirectory() as temporary:
        runs = launch(ROOT, (options.scratch or Path(temporary)).resolve(), options)
    if options.save:
        save(runs, ROOT / TABLE)
    failed = [f"{run.where}:{run.page}" for run in runs if not run.ok]
    print(f"{sum(run.peak_mb is not None for run in runs)} notebooks run, {len(failed)} failed {' '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
