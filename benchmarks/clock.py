"""Time and memory, measured so that two things can be compared."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MB = 1024**2
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Result:
    """One line of the table: a ratio (or megabytes, or a yes), and what it should be."""

    benchmark: str
    case: str
    measure: str
    value: float
    target: str = ""
    met: str = ""


def judged(benchmark: str, case: str, measure: str, value: float, *, least: float = 0, most: float = 0) -> Result:
    """A result with a limit: at least ``least``, or at most ``most``."""
    met = value >= least if least else value <= most
    target = f">= {least:g}" if least else f"<= {most:g}"
    return Result(benchmark, case, measure, value, target, "yes" if met else "no")


def side_by_side(tasks: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Least CPU seconds of each task; a round runs every task once, so that all meet the same machine."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - start)
    return best


def peak_mb() -> float:
    """Largest resident memory of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():  # not ru_maxrss: on Linux a child begins with what its parent held
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (MB if sys.platform == "darwin" else 1024)


def timed(task: Callable[[], Any], rounds: int = 1) -> tuple[dict[str, float], Any]:
    """Least wall and CPU seconds of ``task``, and the peak memory of the process, with its last result."""
    wall, cpu, found = float("inf"), float("inf"), None
    for _ in range(rounds):
        start = time.perf_counter(), time.process_time()
        found = task()
        wall, cpu = min(wall, time.perf_counter() - start[0]), min(cpu, time.process_time() - start[1])
    return {"wall": wall, "cpu": cpu, "peak_mb": peak_mb()}, found


def in_its_own_process(module: str, *arguments: object) -> dict[str, Any]:
    """What ``python -m module arguments`` prints as JSON: a process of its own, for its own peak memory."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
