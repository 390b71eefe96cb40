"""Run the book's notebooks once and lay out what the strict build renders.

    python tools/chapters.py [--out build] [--jobs 2]

`intro.md` and `chapters/*.md` become notebooks in ``build/book``, each is run by nbmake in a process of its own,
and seconds, peak memory and the number of notebooks collected go to ``build/chapters.json``. A notebook is run
again when it, the package, the count tables or the pinned requirements have changed: its own text alone would
leave stale numbers on the page.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import jupytext
import yaml

ROOT = Path(__file__).resolve().parent.parent
COPIED = ["_toc.yml", "references.bib", "_static"]
EXTENSIONS = ["accessible.py", "api.py", "publish.py", "redirect.html"]  # of Sphinx, and the page at an old address
# What every notebook's numbers depend on, besides its own text.
SHARED = [
    "auditlib",
    "data/counts",
    "data/multiverse",
    "data/studies",
    "data/published",
    "data/sources.toml",
    "requirements.txt",
]
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",  # two notebooks on two cores: more threads only wait for each other
    "OPENBLAS_NUM_THREADS": "1",
    "JUPYTER_PREFER_ENV_PATH": "1",  # this environment's kernel, whatever the user has installed
    "PYTHONHASHSEED": "0",
}


@dataclass
class Run:
    """One notebook's execution."""

    page: str
    key: str
    seconds: float
    cpu: float
    peak_mb: float
    collected: int
    ok: bool


def pages(root: Path) -> list[str]:
    """List the pages of the table of contents, root first, without suffix."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))

    def files(node: object) -> Iterable[str]:
        if isinstance(node, dict):
            yield from ([node["file"]] if "file" in node else [])
            node = list(node.values())
        if isinstance(node, list):
            for child in node:
                yield from files(child)

    return [toc["root"], *files(toc)]


def is_notebook(source: Path) -> bool:
    """Tell a MyST notebook, which names its kernel in the front matter, from a plain page."""
    front = re.match(r"---\n(.*?)\n---\n", source.read_text(encoding="utf-8"), re.DOTALL)
    return bool(front and "kernelspec" in yaml.safe_load(front[1]))


def configure(root: Path, book: Path) -> None:
    """Copy the settings; where MathJax stands in vendor/, serve it from the site itself."""
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    (book / "_ext").mkdir()
    for name in filter(lambda name: (root / "tools" / name).exists(), EXTENSIONS):
        shutil.copy(root / "tools" / name, book / "_ext")
    (book / "extra").mkdir()
    if (root / "_extra").is_dir():  # what stands at the site's root as it is
        shutil.copytree(root / "_extra", book / "extra", dirs_exist_ok=True)
    (book / "extra" / ".nojekyll").touch()  # GitHub Pages would leave out _static
    if (root / "vendor" / "mathjax").is_dir():
        shutil.copytree(root / "vendor", book / "extra" / "vendor")
        settings["sphinx"]["config"]["mathjax_path"] = "../vendor/mathjax/tex-chtml-full.js"
    (book / "_config.yml").write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")


def lay_out(root: Path, book: Path) -> list[str]:
    """Lay the sources of the site out in `book` and return the pages that are notebooks to run."""
    for old in book.iterdir() if book.exists() else ():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    book.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        (shutil.copytree if (root / name).is_dir() else shutil.copy)(root / name, book / name)
    configure(root, book)
    notebooks = []
    for page in pages(root):
        source = root / f"{page}.md"
        target = book / f"{page}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        if is_notebook(source):
            jupytext.write(jupytext.read(source), target.with_suffix(".ipynb"))
            notebooks.append(page)
        else:
            shutil.copy(source, target)
    return notebooks


def digest(root: Path, names: Iterable[str]) -> str:
    """Hash the files below `root` under these names, their paths included."""
    total = hashlib.sha256()
    for name in names:
        path = root / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                total.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes())
    return total.hexdigest()


def records() -> str:
    """Which cohorts' records are at hand (chapters read them where they are); the folder's path is made absolute."""
    folder = os.environ.get("AUDITLIB_DATA")
    if folder:
        if not Path(folder).is_dir():
            sys.exit(f"AUDITLIB_DATA names no folder: {folder}")
        os.environ["AUDITLIB_DATA"] = str(Path(folder).resolve())  # kernels start in the chapters' folder
    from auditlib import datasets

    return ",".join(name for name in datasets.sources() if datasets.available(name))


def run(book: Path, page: str, key: str) -> Run:
    """Run one notebook in place; print the failing cell's traceback if there is one."""
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(book)]
    command += ["-p", "no:cacheprovider", "--nbmake", "--overwrite", "--nbmake-timeout=300", f"{page}.ipynb"]
    log = book / f"{page}.log"
    start = time.monotonic()
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            command, cwd=book, stdout=out, stderr=subprocess.STDOUT, env=os.environ | ENVIRONMENT
        )
        _, status, used = os.wait4(process.pid, 0)  # with the kernel, which pytest has waited for
    process.returncode = os.waitstatus_to_exitcode(status)
    output = log.read_text(encoding="utf-8")
    found = re.search(r"collected (\d+) item", output)
    done = Run(
        page=page,
        key=key,
        seconds=round(time.monotonic() - start, 1),
        cpu=round(used.ru_utime + used.ru_stime, 1),  # what a busy machine does not change
        peak_mb=round(used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)),
        collected=int(found[1]) if found else 0,
        ok=process.returncode == 0,
    )
    print(f"{page:<42}{done.seconds:7.1f} s{done.peak_mb:8.0f} MB  {'ok' if done.ok else 'FAILED'}", flush=True)
    if not done.ok:
        print(output)
    return done


def strip_widget_state(notebook: Path) -> None:
    """Take the live widgets' state out: the page shows their plain form and needs none of it."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    content["metadata"].pop("widgets", None)
    notebook.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def execute(root: Path, out: Path, jobs: int) -> list[Run]:
    """Run what has changed since the last time, take the rest from the store of executed notebooks."""
    book, store, report = out / "book", out / "executed", out / "chapters.json"
    entries = json.loads(report.read_text()) if report.exists() else []
    known = {entry["page"]: Run(**entry) for entry in entries if entry.keys() == Run.__dataclass_fields__.keys()}
    notebooks = lay_out(root, book)
    shared = digest(root, SHARED) + records()

    def one(page: str) -> Run:
        key = hashlib.sha256((shared + digest(root, [f"{page}.md"])).encode()).hexdigest()
        made, kept = book / f"{page}.ipynb", store / f"{page}.ipynb"
        if page in known and known[page].ok and known[page].key == key and kept.exists():
            shutil.copy(kept, made)
            return known[page]
        done = run(book, page, key)
        if done.ok:
            strip_widget_state(made)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(made, kept)
        return done

    with ThreadPoolExecutor(jobs) as pool:
        runs = list(pool.map(one, notebooks))
    report.write_text(json.dumps([asdict(entry) for entry in runs], indent=1) + "\n", encoding="utf-8")
    return runs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    runs = execute(ROOT, options.out.resolve(), options.jobs)
    collected = sum(entry.collected for entry in runs)
    failed = [entry.page for entry in runs if not entry.ok]
    print(f"{len(runs)} notebooks, {collected} collected, {len(failed)} failed {' '.join(failed)}")
    return int(bool(failed) or collected != len(runs))


if __name__ == "__main__":
    sys.exit(main())
