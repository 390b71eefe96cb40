"""The tables as a page shows them, and what there is to say of each number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from auditlib.studies.reproduced.lines import digits, number, reasons

JOINED = "\u00a0"  # no line ends inside a range of counts
PEOPLE = ("same data", "other data")  # of estimates, which have a sign worth showing
#: What was not done with a number that has a reason, by its kind.
WAYS = {"not tried": "Not tried", "other data": "Only beside ours", "setting": "Settings without ours"}


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The table as a page shows it, one row per number: as published, ours, what comes of it, and what ours rests on.

    ``n`` is left out where nothing is known of it, or no two numbers differ in it.

    Examples
    --------
    >>> from auditlib.studies.reproduced.table import reproduction_table
    >>> readable(reproduction_table("vfr_audit").loc[["vfr-mean"]]).iloc[0].tolist()
    ['0.0809', '0.0809', 'equal']
    """
    rows = table.to_dict("records")
    n = table["ours_n"].where(table["ours_n"] != "", table["n"])
    columns = {
        "printed": [_printed(row) for row in rows],
        "ours": [_ours(row) for row in rows],
        "judged": table["judged"].tolist(),
        "n": n.tolist(),
    }
    found = pd.DataFrame(columns).set_axis([_label(what) for what in table["what"]])
    differ = len(set(n) - {""}) > 1
    return found if differ else found.drop(columns="n")


def explained(table: pd.DataFrame) -> str:
    """What there is to say of the numbers, as a list in Markdown; what is said of several is said once.

    Examples
    --------
    >>> from auditlib.studies.reproduced.table import reproduction_table
    >>> print(explained(reproduction_table("vfr_audit").loc[["vfr-cv-full"]]))
    - **Need the full partition, cells of 28** (differs). Fourteen cells of the list settle at no size below it.
    """
    said = table[table["why"] != ""]
    noted = (said["note"] != "") & (said["tag"] == "public code")
    words = said["why"] + (" Ours: " + said["note"] + ".").where(noted, "")
    ends = " (" + said["judged"] + "). " + words
    names = said["what"].groupby(ends, sort=False).agg("; ".join)
    return "\n".join(f"- **{name}**{end}" for end, name in names.items())


def by_reason(*tables: pd.DataFrame) -> str:
    """Why numbers were not tried, or are no reproduction, with the numbers by what was not done, as Markdown.

    Examples
    --------
    >>> from auditlib.studies.reproduced.table import reproduction_table
    >>> print(by_reason(reproduction_table("gap_audit").loc[["gap-nhanes-age"]]))  # doctest: +ELLIPSIS
    - NHANES, ... Not tried: *Sensitivity, NHANES: youngest − oldest.*
    """
    table, why = pd.concat(tables), reasons()
    kept = table[~table["reason"].isin(("", "choice", "used"))]
    items = []
    for reason, rows in kept.groupby("reason", sort=False):
        numbers = rows.groupby("kind", sort=False)["what"].agg("; ".join)
        items.append(
            " ".join([f"- {why[str(reason)]}", *(f"{WAYS[str(k)]}: *{which}.*" for k, which in numbers.items())])
        )
    return "\n".join(items)


def _label(what: str) -> str:
    """A label that a narrow page does not break within a group such as 18–44."""
    return what.replace("–", "–\u2060")


def _printed(row: dict[Any, Any]) -> str:
    value, signed = row["value"], row["kind"] in PEOPLE and row["tag"] == "paper"
    if not value:
        return "–"
    text, low, high = (_signed(part, signed) for part in (value, row["low"], row["high"]))
    said = f"{text} [{low}, {high}]" if low else text
    return f"{said} (code)" if row["tag"] == "public code" else said


def _signed(text: str, signed: bool) -> str:
    """A printed number with a minus that is one, and a plus where both signs may occur; thousands apart."""
    if not text or number(text) != number(text):
        return text
    value = float(text) + 0.0  # no sign for zero
    return f"{value:{'+' if signed and value else ''},.{digits(text)}f}".replace("-", "−")


def _ours(row: dict[Any, Any]) -> str:
    """Our number at the printed digits; without a value, the limits it lies between, which are counts."""
    known, limits = np.isfinite(row["ours"]), np.isfinite(row["ours_low"])
    if not known and limits:
        return f"{row['ours_low']:.0f}{JOINED}to{JOINED}{row['ours_high']:.0f}"
    if not known:
        return "0/0" if row["kind"] == "recomputed" else "–"
    places = digits(row["value"]) if row["value"] else int(row["unit"] == "per 10,000")
    places += bool(limits) and round(row["ours_low"], places) == round(row["ours_high"], places)
    signed = bool(limits) and row["kind"] in PEOPLE and row["tag"] == "paper"
    text, low, high, other = (
        _signed(f"{row[name]:.{places}f}", signed) for name in ("ours", "ours_low", "ours_high", "other")
    )  # fmt: skip
    if row["judged"] == "two runs":
        return f"{text} or {other}"
    return f"{text} [{low}, {high}]" if limits else text
