"""What the papers and their public code say, as committed in ``data/published``."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from auditlib.datasets import root
from auditlib.errors import AuditInputError

#: Each paper's file, and what it is called on a page.
PAPERS = {
    "snb": "Benitez-Aurioles et al., Epidemiology 2026",
    "gap_audit": "Ghorbanpourbaboli et al., SMASH 2026",
    "vfr_audit": "Joy et al., arXiv 2608.30846",
}
#: What can be done with a published number; those "worked out" are ours, computed in two ways.
KINDS = ("same data", "recomputed", "other data", "not tried", "setting", "worked out")
COLUMNS = ("what", "value", "low", "high", "unit", "n", "where", "tag", "kind", "reason", "why")
#: Size of the test partition of the flip rate paper: an N* of this size means that nothing below it settled.
FULL = 185_026
ATTRIBUTES = ["race", "sex", "ethnicity", "age"]
AFTER = "VFR-Audit"  # the run that most of the flip rate paper is about


def published_lines(paper: str) -> pd.DataFrame:
    """The published numbers of a paper, as text, so that the printed digits stay.

    Parameters
    ----------
    paper : {"snb", "gap_audit", "vfr_audit"}

    Returns
    -------
    DataFrame by ``id``: ``what`` it is of; ``value``, ``low``, ``high`` and ``unit`` as printed ("" where nothing is);
    ``n`` it rests on, where known; ``where`` and ``tag`` ("paper", "public code", or "worked out" by hand from these);
    ``kind``, one of ``KINDS``; ``reason``, the key in ``reasons`` of why it was not tried or is no reproduction; and
    ``why``, a sentence on this number.

    Raises
    ------
    AuditInputError
        For another paper, and where its file has a slip that would have a line judged wrongly.

    Examples
    --------
    >>> published_lines("vfr_audit").loc["vfr-mean", ["value", "kind"]].tolist()
    ['0.0809', 'recomputed']
    """
    if not isinstance(paper, str) or paper not in PAPERS:
        raise AuditInputError(f"no paper named {paper!r}: choose one of {', '.join(PAPERS)}.")
    return _checked(paper, pd.read_csv(_path(paper), dtype=str, keep_default_na=False, index_col="id"))


def _checked(paper: str, lines: pd.DataFrame) -> pd.DataFrame:
    """A line with a slip would be judged as another kind of line, or as different from ours."""
    if missing := [name for name in COLUMNS if name not in lines]:
        raise AuditInputError(f"data/published/{paper}.csv has no column {missing[0]}; restore it.")
    compared = lines["kind"].isin(["same data", "recomputed", "worked out"])
    texts = lines[["value", "low", "high"]]
    typed = texts.map(lambda text: text == "" or number(text) == number(text)).all(axis=1) & texts["value"].ne("")
    wrong = {
        "the id stands twice": lines.index.duplicated(),
        f"the kind is none of {', '.join(KINDS)}": ~lines["kind"].isin(KINDS),
        "the reason is not in reasons.csv": ~lines["reason"].isin(["", *reasons()]),
        "value, low and high must be plain numbers to be compared, such as -0.033": compared & ~typed,
    }
    for what, where in wrong.items():
        first = next((name for name, bad in zip(lines.index, np.asarray(where), strict=True) if bad), None)
        if first is not None:
            raise AuditInputError(f"data/published/{paper}.csv, line {first!r}: {what}.")
    return lines


def reasons() -> dict[str, str]:
    """Why numbers were not tried, or are no reproduction, by key.

    >>> "UK Biobank" in reasons()["uk-biobank"]
    True
    """
    table = pd.read_csv(_path("reasons"), dtype=str)
    return dict(zip(table["reason"], table["text"], strict=True))


def independent_run() -> pd.DataFrame:
    """Five sensitivity gaps by another program of ours, one calibrated boosted model.

    >>> float(independent_run().loc["gap-cdc_diabetes-age", "gap"])
    -0.173
    """
    return pd.read_csv(_path("gap_audit_run"), index_col="comparison")


def cells(quantity: str, run: str) -> pd.DataFrame:
    """Numbers cell by cell in public tables of Joy et al. (``vfr_cells.csv``; where they are: ``vfr_sources.csv``).

    Parameters
    ----------
    quantity : str
        "passes" (of 500 resamples), "N*", "CV at 1,000", "CV at 50,000", "CV across hospitals",
        "folds of 20 that pass".
    run : str
        The run that the table is of; there are several.

    Returns
    -------
    DataFrame by model and metric, one column an attribute.

    Raises
    ------
    AuditInputError
        Where no table has the quantity for the run.

    Examples
    --------
    >>> cells("passes", "twelve models").shape
    (84, 4)
    """
    table = pd.read_csv(_path("vfr_cells"))
    found = table[(table["quantity"] == quantity) & (table["run"] == run)]
    if found.empty:
        known = "; ".join(sorted(set(table["quantity"] + ", run " + table["run"])))
        raise AuditInputError(f"no table of {quantity!r} for run {run!r}. There are: {known}.")
    return found.set_index(["model", "metric"])[ATTRIBUTES]


def pass_counts(run: str = AFTER, model: str = "XGBoost") -> pd.DataFrame:
    """In how many of 500 resamples each metric passed, by attribute, in one run of the public code of Joy et al.

    >>> int(pass_counts().loc["DI", "race"]), int(pass_counts("threshold shifting").loc["DI", "race"])
    (262, 295)
    """
    return pd.DataFrame(cells("passes", run).xs(model)).astype(int)


def audit_sizes(run: str = AFTER) -> pd.DataFrame:
    """N*, the first audit size with a CV under 5%, by metric and attribute; ``FULL`` where none below it has.

    >>> int(audit_sizes().loc["DI", "sex"])
    2000
    """
    return pd.DataFrame(cells("N*", run).xs("XGBoost")).astype(int)


def looked_up(item: str) -> list[float]:
    """Values of one item in the public tables of Joy et al., one for each run that has it (``vfr_lookups.csv``).

    >>> looked_up("vfr-accuracy")
    [0.8352, 0.8347]
    """
    table = pd.read_csv(_path("vfr_lookups"))
    return [float(value) for value in table.loc[table["item"] == item, "value"]]


def groups_of(attribute: str) -> pd.DataFrame:
    """Discharges of each group and how many stay over three days, or their percentage, where a public table has it.

    >>> int(groups_of("race")["n"].sum())
    925128
    """
    table = pd.read_csv(_path("vfr_groups"))
    return table[table["attribute"] == attribute].set_index("group")


def digits(text: str) -> int:
    """Decimal places of a printed number.

    >>> digits("0.0809"), digits("48")
    (4, 0)
    """
    match = re.search(r"\.(\d+)", text)
    return len(match[1]) if match else 0


def number(text: str) -> float:
    """A printed number, NaN where nothing is printed or it is no plain number (such as "3% and 1%").

    >>> number("-0.033"), number("5%")
    (-0.033, nan)
    """
    return float(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else float("nan")


def printed(paper: str, name: str) -> float:
    """The value of one line, as a number.

    >>> printed("snb", "snb-asian-white")
    48.0
    """
    return number(str(published_lines(paper).loc[name, "value"]))


def _path(name: str) -> Path:
    return root() / "data" / "published" / f"{name}.csv"
