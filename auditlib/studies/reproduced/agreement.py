"""When a number of ours agrees with a published one: criteria, and rules made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditlib.errors import AuditInputError
from auditlib.studies.reproduced.lines import digits, number
from auditlib.studies.reproduction import side

Z = 1.959964  # half the width of a 95% interval in standard errors


class Estimate(NamedTuple):
    """A number with its 95% interval; arrays of one shape do as well.

    >>> Estimate(-0.033, -0.048, -0.019).low
    -0.048
    """

    value: Any
    low: Any
    high: Any


def criteria(theirs: Estimate, ours: Estimate) -> dict[str, Any]:
    """What can be compared of two estimates with 95% intervals.

    Returns
    -------
    dict of ``overlap`` (the intervals have a point in common), ``side`` (both exclude zero on one side, or both contain
    it), ``contains`` (ours contains the published value) and ``z``, the difference ours − published over
    √(SE² + SE²), each SE being the width of its interval over 3.92. ``z`` takes the two for independent.

    Examples
    --------
    >>> found = criteria(Estimate(-0.2, -0.24, -0.16), Estimate(-0.18, -0.22, -0.14))
    >>> bool(found["side"]), bool(found["contains"]), round(float(found["z"]), 2)
    (True, True, 0.69)
    """
    (value, low, high), (mine, from_, to) = (_arrays(one) for one in (theirs, ours))
    error = np.hypot(standard_error(theirs), standard_error(ours))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (mine - value) / error
    return {
        "overlap": (from_ <= high) & (low <= to),
        "side": (side(low, high) == side(from_, to)) & ~np.isnan(low + high + from_ + to),  # undefined is on no side
        "contains": (from_ <= value) & (value <= to),
        "z": z,
    }


def standard_error(one: Estimate) -> Any:
    """Width of the 95% interval over 3.92.

    >>> round(float(standard_error(Estimate(-0.033, -0.048, -0.019))), 4)
    0.0074
    """
    _, low, high = _arrays(one)
    return (high - low) / (2 * Z)


def _arrays(one: Estimate) -> list[NDArray[np.float64]]:
    return [np.asarray(part, dtype=np.float64) for part in one]


def _agree(theirs: Estimate, ours: Estimate) -> Any:
    found = criteria(theirs, ours)
    return found["side"] & found["contains"] & (abs(found["z"]) <= Z)


#: Rules by name, from lenient to strict; the last is the one this book calls agreement.
RULES: dict[str, Callable[[Estimate, Estimate], Any]] = {
    "intervals overlap": lambda theirs, ours: criteria(theirs, ours)["overlap"],
    "same side of zero": lambda theirs, ours: criteria(theirs, ours)["side"],
    "ours contains it": lambda theirs, ours: criteria(theirs, ours)["contains"],
    "|z| below 1.96": lambda theirs, ours: abs(criteria(theirs, ours)["z"]) <= Z,
    "the last three": _agree,
}
AGREEMENT = "the last three"


def accepted(theirs: Estimate, ours: Estimate, rule: str, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which published values the rule would have called agreement, the published interval moving along with them.

    Parameters
    ----------
    theirs, ours : Estimate
        Single numbers.
    rule : str
        Of ``RULES``.
    values : array
        Values that might have been published.

    Raises
    ------
    AuditInputError
        For an unknown rule.

    Examples
    --------
    >>> ours, theirs = Estimate(0.0, -0.1, 0.1), Estimate(0.05, -0.05, 0.15)
    >>> accepted(theirs, ours, "ours contains it", np.array([-0.2, 0.0, 0.09])).tolist()
    [False, True, True]
    """
    if rule not in RULES:
        raise AuditInputError(f"no rule {rule!r}: choose one of {', '.join(RULES)}.")
    moved = Estimate(values, values - (theirs.value - theirs.low), values + (theirs.high - theirs.value))
    return np.asarray(RULES[rule](moved, ours))


def what_passes(
    line: pd.Series, rule: str, ends: tuple[float, float] = (-0.35, 0.35)
) -> tuple[pd.DataFrame, NDArray[np.float64], NDArray[np.bool_]]:
    """A line's two estimates, values that might have been published, and which of these the rule would have accepted.

    Parameters
    ----------
    line : Series
        A row of ``reproduction_table`` in which both numbers have intervals.
    rule : str
        Of ``RULES``.
    ends : pair of floats
        First and last of the values, which are 0.001 apart.

    Returns
    -------
    What ``auditlib.plots.reproduction.passing`` draws.

    Raises
    ------
    AuditInputError
        For an unknown rule.

    Examples
    --------
    >>> from auditlib.studies.reproduced.table import reproduction_table
    >>> line = reproduction_table("gap_audit").loc["gap-cdc_diabetes-sex"]
    >>> rows, values, accepted = what_passes(line, "ours contains it")
    >>> [round(float(value), 3) for value in (values[accepted].min(), values[accepted].max())]
    [-0.046, -0.016]
    """
    theirs, ours = _two(line)
    values = np.linspace(*ends, round((ends[1] - ends[0]) / 0.001) + 1)
    rows = pd.DataFrame([theirs, ours], columns=["estimate", "low", "high"])
    return rows.assign(series=["published", "this book"]), values, accepted(theirs, ours, rule, values)


def pass_rates(
    truths: tuple[float, float], errors: tuple[float, float], pairs: int = 100_000, seed: int = 15
) -> dict[str, float]:
    """How often each rule calls two independent studies agreement, by simulation.

    Parameters
    ----------
    truths, errors : pair of floats
        What each study estimates, and its standard error; estimates are normal, intervals ± 1.96 errors.
    pairs, seed
        Pairs of studies drawn, and the seed.

    Returns
    -------
    dict of rule and share of the pairs, with a Monte-Carlo error of at most 0.5/√pairs.

    Examples
    --------
    >>> rates = pass_rates((-0.033, -0.033), (0.0075, 0.0075))
    >>> round(rates["|z| below 1.96"], 2), round(rates["the last three"], 2)
    (0.95, 0.83)
    """
    rng = np.random.default_rng(seed)
    two = []
    for truth, error in zip(truths, errors, strict=True):
        value = rng.normal(truth, error, pairs)
        two.append(Estimate(value, value - Z * error, value + Z * error))
    return {name: float(np.mean(rule(*two))) for name, rule in RULES.items()}


def failing(table: pd.DataFrame) -> pd.DataFrame:
    """How often a faultless repetition on other people would fail, the published number being the truth.

    Parameters
    ----------
    table : DataFrame
        Rows of ``reproduction_table`` in which both numbers have intervals; these give the standard errors.

    Returns
    -------
    DataFrame by ``id``: ``rule fails``, by ``AGREEMENT``, and ``side alone``, because only one interval contains zero
    or they exclude it on different sides.

    Examples
    --------
    >>> from auditlib.studies.reproduced.table import reproduction_table
    >>> failing(reproduction_table("gap_audit").loc[["gap-diabetes130-sex"]]).round(2).values.tolist()
    [[0.41, 0.38]]
    """
    found = {}
    for name, line in table.iterrows():
        theirs, ours = _two(line)
        rates = pass_rates((theirs.value,) * 2, (float(standard_error(theirs)), float(standard_error(ours))))
        found[name] = {"rule fails": 1 - rates[AGREEMENT], "side alone": 1 - rates["same side of zero"]}
    return pd.DataFrame.from_dict(found, orient="index")


def _two(line: pd.Series) -> tuple[Estimate, Estimate]:
    """The published number of a line, and ours."""
    parts = (line[["value", "low", "high"]], line[["ours", "ours_low", "ours_high"]])
    theirs, ours = (Estimate(*part.astype(float)) for part in parts)
    return theirs, ours


def same_digits(text: str, value: float) -> bool:
    """Whether a number of ours rounds to the printed one.

    >>> same_digits("0.0809", 0.080929), same_digits("0.081", 0.0815001), same_digits("9", float("nan"))
    (True, False, False)
    """
    return bool(abs(value - number(text)) <= 0.5 * 10.0 ** -digits(text) + 1e-12)
