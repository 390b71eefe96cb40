"""Damaged input to the parsers: ``read_rows`` followed by ``count``, and ``parse_confusion``.

Whatever the bytes, one of two things happens: ``AuditInputError`` in one line, or rows as many as were written. By the
number of inputs this is a study (``python -m tests.studies fuzz_parsers``), which gives the same table again; by the
clock it looks for what nobody has found:

    python -m tests.studies.fuzz_parsers --minutes 10 --seed 1
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import re
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

import auditlib as al
from auditlib.reading import read_rows
from tests.studies.fuzz_inputs import EVERY, LETTERS, PACKS, cohort, confusion_text, damaged, parquet_of, text_of


class Found(AssertionError):
    """An input that shows a defect."""


def question(draw: random.Random, label: str, whole: bool, delimiter: str | None) -> dict[str, object]:
    """Arguments of ``read_rows``; odd ones now and then where the input is damaged anyway."""
    odd = not whole and draw.random() < 0.1
    named = "yes" if label in ("yes", "no") else None
    return {
        "label": "died",
        "scores": "risk",
        "by": draw.choice(("sex", ["sex", "note"])),
        "cluster": draw.choice((None, None, "id")),
        "positive": draw.choice(("1", "true", "yes")) if draw.random() < 0.1 else named,
        "delimiter": draw.choice((",", ":", " ", "\x1f")) if odd else draw.choice((None, delimiter)),
        "encoding": draw.choice(("cp1252", "utf-16", "utf-7", "big5")) if odd and draw.random() < 0.5 else None,
    }


def lines_of(content: bytes) -> int | None:
    """Rows of a text, counted without its parser; None where quotes or another encoding make lines something else."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    if '"' in text or text.startswith(("\ufeff", "sep=")):
        return None
    return sum(bool(line) for line in re.split("\r\n|\r|\n", text)) - 1


def try_rows(path: Path, content: bytes, asked: dict[str, object], expected: int | None) -> str:
    """``read`` or ``refused``; anything else is a defect."""
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read = read_rows(path, **asked)  # type: ignore[arg-type]
            counts = al.count(
                read.frame, label="died", score="risk", by=asked["by"], cluster=asked["cluster"],  # type: ignore[arg-type]
                positive=read.positive,
            )  # fmt: skip
    except al.AuditInputError as error:
        return refusal(error, content, asked)
    except MemoryError:
        return "memory"
    except Exception as error:
        raise Found(f"{type(error).__name__}: {error}\n{asked}\n{content!r}") from error
    if counts.n_rows != read.rows or expected not in (None, read.rows):
        raise Found(f"{read.rows} rows, {counts.n_rows} counted, {expected} written\n{asked}\n{content!r}")
    return "read"


def refusal(error: Exception, content: object, asked: object) -> str:
    """``refused``, if the message is one line."""
    if "\n" in str(error) or "\r" in str(error) or not str(error):
        raise Found(f"the message is not one line: {str(error)!r}\n{asked}\n{content!r}")
    return "refused"


def try_confusion(text: str) -> str:
    """``read`` or ``refused``; a table that is read has the whole numbers that stand in the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = al.parse_confusion(text)
    except al.AuditInputError as error:
        return refusal(error, text, "confusion")
    except Exception as error:
        raise Found(f"{type(error).__name__}: {error}\n{text!r}") from error
    written = sorted(int(digits) for digits in re.findall(r"[0-9]+", text))
    held = sorted(int(value) for cell in ("tp", "fp", "tn", "fn") for value in table[cell].values)
    groups = [int(digits) for name in table["group"].values for digits in re.findall(r"[0-9]+", str(name))]
    if table.sizes["group"] < 2 or sorted(held + groups) != written:
        raise Found(f"{held} read of {written}\n{text!r}")
    return "read"


def one(kind: str, draw: random.Random, folder: Path) -> str:
    """One input of a kind."""
    if kind == "confusion":
        return try_confusion(confusion_text(draw))
    rows = draw.choice((1, 2, 5, 20))
    delimiter = draw.choice((",", ";", "\t", "|"))
    columns = cohort(draw, rows)
    content, path = text_of(draw, columns, delimiter), folder / "input"
    if kind == "whole":
        content = draw.choice((*PACKS, bytes))(content) if draw.random() < 0.7 else parquet_of(draw, columns)
        asked = question(draw, columns["died"][0], True, None if content.startswith(b"PAR1") else delimiter)
        return try_rows(path, content, asked, rows)
    asked = question(draw, columns["died"][0], False, None if kind == "parquet" else delimiter)
    if kind == "text":
        letters = draw.choice((LETTERS, LETTERS, EVERY))
        content = damaged(draw, content, text_of(draw, cohort(draw, 3), delimiter), letters)
        named = asked["encoding"] is not None
        return try_rows(path, content, asked, None if named else lines_of(content))
    if kind == "packed":
        pack, inside = draw.choice(PACKS), draw.random() < 0.5
        content = pack(damaged(draw, content, content, LETTERS)) if inside else damaged(draw, pack(content), content)
        return try_rows(path, content, asked, None)
    content = parquet_of(draw, columns)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content = damaged(draw, content, parquet_of(draw, cohort(draw, 3)), end=draw.choice((None, footer, footer)))
    return try_rows(path, content, asked, None)


KINDS = ("whole", "text", "packed", "parquet", "confusion")


def inputs(kind: str, seed: int, folder: Path) -> Iterator[str]:
    """What became of input after input of a kind; the number of a defect's input is in its message."""
    number = 0
    while True:
        try:
            yield one(kind, random.Random(f"{seed} {kind} {number}"), folder)
        except Found as error:
            raise Found(f"{kind}, seed {seed}, input {number}: {error}") from error.__cause__
        number += 1


def table_of(found: dict[str, Counter[str]]) -> pd.DataFrame:
    """Inputs of each kind: how many were read, refused in one line, or asked for more memory than there is."""
    columns = ("read", "refused", "memory")
    rows = [{"kind": kind, "inputs": n.total(), **{name: n[name] for name in columns}} for kind, n in found.items()]
    return pd.DataFrame(rows)


def study(each: int, seed: int = 1) -> pd.DataFrame:
    """``each`` inputs of every kind."""
    found: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            outcomes = inputs(kind, seed, Path(folder))
            found[kind] = Counter(next(outcomes) for _ in range(each))
    return table_of(found)


def run() -> pd.DataFrame:
    """The table of ``data/studies``: 10,000 inputs of every kind."""
    return study(10_000)


def search(minutes: float, seed: int) -> pd.DataFrame:
    """Inputs of all kinds in turn until the time is up."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        print(f"the input at hand is {folder}/input", flush=True)
        streams = {kind: inputs(kind, seed, Path(folder)) for kind in KINDS}
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            for kind, outcomes in streams.items():
                found[kind][next(outcomes)] += 1
    return table_of(found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.studies.fuzz_parsers", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faulthandler.enable()
    print(search(options.minutes, options.seed).to_string(index=False))


if __name__ == "__main__":
    main()
