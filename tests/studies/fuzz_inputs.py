"""Cohorts as files, confusion tables as text, and ways to damage them, for ``fuzz_parsers``."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Callable

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

CELLS = (
    "", "0", "1", "0.5", "0,5", "1.0", "True", "false", "NA", "?", "None", " ", "F", "M", "a,b", "a;b", 'say "x"',
    "two\nlines", "a\r\nb", "\r", "\t", "|", "😀", "أنثى", "\u202e", "\u2028", "\x0b", "\x85", "\ufeff", "=cmd()",
    "-1", "1e999", "1e-400", "9" * 400, "nan", "inf", "-0.0", "0x1", "1_0", "٣", "missing", "label", "\\", "'",
    "x" * 300, "50%",
)  # fmt: skip
PIECES = (
    b'"', b'""', b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xfe", b"\xc3", b"\xed\xa0\x80",
    b"NA", b"PAR1", b"\x1f\x8b", b"BZh91AY&SY", b"\xef\xbb\xbf", b"\xff\xfe", b"1e999", b"9" * 50, b"died", b"risk",
    b" ", b"sep=;\n", b":", b"-", "😀".encode(), "１".encode(), b"0" * 20, b"\n\n\n", b"\x15\x00",
)  # fmt: skip
EVERY = bytes(range(256))
LETTERS = b'01.";,|\t\n\r FMxyes'
SCORES = ("0", "0.5", "1", "0.25", "0.125", "1.0")
LABELS = (("0", "1"), ("True", "false"), ("yes", "no"), ("1.0", "0.0"))


def cohort(draw: random.Random, rows: int) -> dict[str, list[str]]:
    """Columns of a cohort: mostly good values, now and then what a cell should not hold."""
    labels = draw.choice(LABELS)
    odd = draw.choice((0, 0, 0.02))

    def column(usual: tuple[str, ...], odd: float) -> list[str]:
        return [draw.choice(CELLS if draw.random() < odd else usual) for _ in range(rows)]

    return {
        "died": column(labels, odd),
        "risk": column(SCORES, odd),
        "sex": column(("F", "M"), 0.3),
        "id": column(("p1", "p2", "p3"), odd),
        "note": column(("x",), 0.5),
    }


def text_of(draw: random.Random, columns: dict[str, list[str]], delimiter: str) -> bytes:
    """A cohort as delimited text, by Python's own writer."""
    stream = io.StringIO(newline="")
    quoting = draw.choice((csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL))
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator="\r\n")
    writer.writerows([list(columns), *zip(*columns.values(), strict=True)])
    text = stream.getvalue()
    return text.encode(draw.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16")))


def zipped(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("cohort.csv"), content)
    return stream.getvalue()


PACKS: tuple[Callable[[bytes], bytes], ...] = (
    lambda content: gzip.compress(content, mtime=0),
    bz2.compress,
    lzma.compress,
    lambda content: pa.compress(content, codec="zstd", asbytes=True),
    zipped,
)


def parquet_of(draw: random.Random, columns: dict[str, list[str]]) -> bytes:
    """A cohort as Parquet, as text or typed."""
    frame, stream = pd.DataFrame(columns), io.BytesIO()
    if draw.random() < 0.7:
        positive = frame["died"].isin(["1", "True", "yes", "1.0"])
        frame["died"] = positive.astype(draw.choice(("int64", "bool", "float64")))
        frame["risk"] = pd.to_numeric(frame["risk"], errors="coerce").astype(draw.choice(("float64", "float32")))
    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False),
        stream,
        compression=draw.choice(("snappy", "none", "zstd", "gzip")),
        use_dictionary=draw.random() < 0.5,
        row_group_size=draw.choice((3, 1000)),
        write_page_checksum=draw.random() < 0.2,
        data_page_version=draw.choice(("1.0", "2.0")),
    )
    return stream.getvalue()


def damaged(draw: random.Random, content: bytes, other: bytes, letters: bytes = EVERY, end: int | None = None) -> bytes:
    """One to four mutations: bytes changed, put in, taken out, doubled, cut off, or taken from another input.

    New bytes come from ``letters``; with ``end``, as many bytes stay as they are, and where they are.
    """
    kept = b"" if end is None else content[end:]
    content = content[:end]
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at = draw.randint(0, len(content))
        to = min(len(content), at + draw.choice((1, 1, 2, 8, 64)))
        before, after = content[:at], content[to:]
        fresh = bytes(draw.choices(letters, k=to - at))
        ways = [before + fresh + after, before + flipped(draw, content[at:to]) + after]
        if end is None:
            ways += [before + after, before + fresh + content[at:], content[:to] + content[at:]]
            ways += [before + other[draw.randint(0, len(other)) :], before + draw.choice(PIECES) + after]
            ways += [before + draw.choice(PIECES) + content[at:]] + [before] * (draw.random() < 0.2)
        content = draw.choice(ways)
    return content + kept


def flipped(draw: random.Random, content: bytes) -> bytes:
    """Bytes with one bit changed, if there are any."""
    if not content:
        return content
    at = draw.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]


def confusion_text(draw: random.Random) -> str:
    """Groups and their numbers, damaged in two of three."""
    numbers = (0, 1, 30, 999_999_999_999_999, 10**15, 2**63, -1)
    odd, comma = draw.random() < 0.1, draw.choice((",", ", "))
    parts = []
    for name in draw.sample(("A", "B", "Women", "a:b", "😀", "x,y", "tp", "1", ""), draw.randint(1, 4)):
        cells = [str(draw.choice(numbers if odd else numbers[:4])) for _ in range(4)]
        parts.append(f"{name}:{comma.join(cells)}")
    text = draw.choice((";", "; ", "\n", ";\n")).join(parts)
    if draw.random() < 0.33:
        return text
    letters = draw.choice((b"0123456789:;, \n", EVERY))
    return damaged(draw, text.encode(), text.encode(), letters).decode(
        errors=draw.choice(("replace", "surrogateescape"))
    )
