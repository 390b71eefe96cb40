"""Run the benchmarks: ``python -m benchmarks [name ...] [--small]``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from benchmarks import audit, counting, engines, frontier, growth, memory, scale, verdicts
from benchmarks.clock import Result

TABLE = Path(__file__).with_name("results.csv")

FULL: dict[str, Callable[[], list[Result]]] = {
    "engines": engines.run,
    "memory": memory.run,
    "counting": counting.run,
    "scale": scale.run,
    "audit": audit.run,
    "frontier": frontier.run,
    "growth": growth.run,
    "verdicts": verdicts.run,
}
SMALL: dict[str, Callable[[], list[Result]]] = {
    "engines": lambda: engines.run(20_000),
    "memory": lambda: memory.run(200_000, 200),
    "counting": lambda: counting.run(500_000),
    "scale": lambda: scale.run(200_000, rounds=1),
    "audit": lambda: audit.run(20_000, 50, rounds=2, fairlearn=False),
    "frontier": lambda: frontier.run((2_500, 25_000), rounds=2),
    "growth": lambda: growth.run((10_000, 100_000), 50, rounds=2),
    "verdicts": lambda: verdicts.run(50, rounds=2, models=("xgboost", "logistic")),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of {', '.join(FULL)}; all by default")
    parser.add_argument("--small", action="store_true", help="a short form, which shows that all runs; not saved")
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in FULL]
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(FULL)}")
    tasks, found = SMALL if asked.small else FULL, []
    for name in asked.names or list(FULL):
        results = tasks[name]()
        found += results
        print(shown(results, asked.small), flush=True)
    if not asked.small and not asked.names:
        pd.DataFrame(found).to_csv(TABLE, index=False, float_format="%.3g", lineterminator="\n")
        print(f"written to {TABLE.relative_to(Path.cwd()) if TABLE.is_relative_to(Path.cwd()) else TABLE}")


def shown(results: list[Result], small: bool) -> str:
    """Results as lines for a terminal; targets are for the full sizes."""
    lines = [f"\n{results[0].benchmark}"]
    for found in results:
        verdict = f"   {found.target}: {found.met}" if found.target and not small else ""
        lines.append(f"  {found.value:>12,.3g}  {found.measure} ({found.case}){verdict}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
