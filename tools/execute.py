"""Run one notebook under a limit of memory and say in one line of JSON how it went; tools/launch.py starts this.

    python tools/execute.py notebook.ipynb --folder chapters --limit 2000

It runs in the environment under test, so it needs nothing but nbclient and a kernel there. The limit is RLIMIT_DATA, in
megabytes (2**20 bytes), and the kernel inherits it: what a process allocates, not the libraries that it maps. Each
process has the limit to itself; the book's notebooks start one short one (chapter 14) and no workers. Linux only:
elsewhere allocations escape RLIMIT_DATA.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

TIMEOUT = 600  # seconds for one cell; on Colab the first fetches and installs
MB = 2**20


def execute(notebook: NotebookNode, folder: Path) -> tuple[float, str]:
    """Run the cells in `folder`; return seconds from the kernel's start to the last cell's end, and what went wrong."""
    start = time.monotonic()
    ended = [start]
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        allow_errors=True,  # the rest of the notebook is skipped below, with the error's text kept whole
        resources={"metadata": {"path": str(folder)}},
        on_cell_executed=lambda **_: ended.append(time.monotonic()),
    )
    error = ""
    with client.setup_kernel():
        try:
            for index, cell in enumerate(notebook.cells):
                client.execute_cell(cell, index)
                if error := failure(cell):
                    break
        except (DeadKernelError, CellTimeoutError) as gone:
            error = f"{type(gone).__name__}: {gone}"
    return ended[-1] - start, error


def failure(cell: NotebookNode) -> str:
    """The error that a cell ended with, unless it is meant to (tag ``raises-exception``); "" where there is none."""
    if "raises-exception" in cell.metadata.get("tags", []):
        return ""
    errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
    return f"{errors[0].ename}: {errors[0].evalue}" if errors else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="the working folder of its kernel")
    parser.add_argument("--limit", type=int, required=True, help="megabytes that a process may allocate")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (options.limit * MB, options.limit * MB))
    notebook = nbformat.read(options.notebook, as_version=4)
    seconds, error = execute(notebook, options.folder)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # by the kernel, which nbclient has waited for
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 2**10
    print(json.dumps({"seconds": round(seconds, 1), "cpu": round(cpu, 1), "peak_mb": round(peak), "error": error}))


if __name__ == "__main__":
    main()
