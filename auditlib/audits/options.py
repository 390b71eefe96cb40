"""What an audit may be asked, each value checked before any work."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from auditlib.counts.edges import check_bins, check_threshold
from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.intervals.replicates import check_enough, check_level
from auditlib.models import check_seed
from auditlib.values import given
from auditlib.verdicts.judged import limits_of

#: Rules for the threshold beside a number; ``top20`` flags at most the 20% of highest risk.
PREVALENCE = "prevalence"
_TOP = re.compile(r"top(\d{1,2})")
MOST_REPLICATES = 100_000


@dataclass(frozen=True)
class Options:
    """The options that all ways into an audit share.

    Attributes
    ----------
    threshold : a risk, "prevalence" (of the outcome, among the people audited) or "top20" (any whole percentage)
    group_a, group_b : the two groups whose gap is asked for, the first minus the second
    target_prevalence : "pooled", or the prevalence at which positive predictive values are compared
    lam : relative risk reduction by treatment, one number or one a group
    benefit_threshold : risk from which treatment is worth its harm; that of the flag where it is left out
    capacity : largest share of people who can be flagged
    limits : other limits of the verdicts, such as ``{"DI": 0.9}``
    replicates, seed, level : of the intervals, bands and flip rates
    bins : score bins, at least 2
    multiverse : whether analyst choices are varied

    Numbers of NumPy, decimals and fractions become plain ones, the names of groups text.

    Examples
    --------
    >>> Options(threshold=0.3, lam=0.58).asked()
    {'threshold': 0.3, 'lam': 0.58}
    >>> import numpy as np
    >>> Options(threshold=np.float32(0.3), lam={0: 0.2, 1: 0.3}, seed=np.int64(7)).asked()
    {'threshold': 0.3, 'lam': {'0': 0.2, '1': 0.3}, 'seed': 7}
    """

    threshold: float | str | None = None
    group_a: str | None = None
    group_b: str | None = None
    target_prevalence: float | str = "pooled"
    lam: float | Mapping[str, float] | None = None
    benefit_threshold: float | None = None
    capacity: float | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    replicates: int = 1000
    seed: int = 42
    level: float = 0.95
    bins: int = 200
    multiverse: bool = True

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            object.__setattr__(self, name, plain_value(name, getattr(self, name)))
        check_rule(self.threshold)
        if self.target_prevalence != "pooled":
            if isinstance(self.target_prevalence, str):
                raise AuditInputError(
                    f"target_prevalence must be 'pooled' or a number, not {self.target_prevalence!r}."
                )
            _number("prevalence", "target_prevalence", self.target_prevalence)
        if self.lam is not None and not isinstance(self.lam, Mapping):
            given("lam", self.lam, None)
        if isinstance(self.lam, Mapping):
            for group, value in self.lam.items():
                _number("lam", f"lam of {group[:40]!r}", value)
        if self.benefit_threshold is not None:
            _number("threshold", "benefit_threshold", self.benefit_threshold)
        if self.capacity is not None and not (_is_number(self.capacity) and 0 < self.capacity <= 1):
            raise AuditInputError(f"capacity must be a share of people above 0 and at most 1, not {self.capacity!r}.")
        found = limits_of(self.limits)
        object.__setattr__(self, "limits", {name: float(found[name].value) for name in self.limits})
        check_whole(self.replicates, "replicates", MOST_REPLICATES)
        check_enough(self.replicates, check_level(self.level))
        check_seed(self.seed)
        if check_bins(self.bins) < 2:
            raise AuditInputError("bins must be at least 2; in one bin no two people can be told apart.")
        if self.group_a is not None and self.group_a == self.group_b:
            raise AuditInputError(f"group_a and group_b are both {str(self.group_a)[:60]!r}; name two groups.")
        if not isinstance(self.multiverse, bool):
            raise AuditInputError(f"multiverse must be true or false, not {self.multiverse!r}.")

    def plain(self) -> dict[str, Any]:
        """All options as plain values, for ``results.json``."""
        held = asdict(self)
        held["error"] = round(1 - self.level, 12)
        return held

    def asked(self) -> dict[str, Any]:
        """The options that are not at their default, as plain values."""
        usual = asdict(Options())
        return {name: value for name, value in asdict(self).items() if value != usual[name]}


def check_rule(threshold: object) -> None:
    """An error unless this is a threshold that can be had: None, a risk above 0 and below 1, or a rule's name.

    >>> check_rule("top20")
    """
    if threshold is None or threshold == PREVALENCE or (isinstance(threshold, str) and _TOP.fullmatch(threshold)):
        if isinstance(threshold, str) and share_of(threshold) == 0:
            raise AuditInputError("threshold: top0 flags nobody; write top1 to top99.")
        return
    if isinstance(threshold, str):
        raise AuditInputError(
            f"threshold must be a risk such as 0.3, '{PREVALENCE}', or 'top20' (the 20% of highest risk), "
            f"not {threshold[:60]!r}."
        )
    if not 0 < check_threshold(threshold) < 1:
        raise AuditInputError(f"threshold must lie above 0 and below 1, not {threshold!r}.")


def plain_value(name: str, value: Any) -> Any:
    """An option as plain Python: no scalars of NumPy, no decimals or fractions, groups called by text.

    >>> plain_value("level", np.float32(0.9)), plain_value("group_a", 1.0), plain_value("limits", None)
    (0.9, '1', {})
    """
    if name == "limits" and value is None:
        return {}
    if name in ("group_a", "group_b"):
        return value if value is None else spelled(value)
    if name in ("lam", "limits") and isinstance(value, pd.Series | Mapping):
        pairs = [(spelled(key), _plain(number)) for key, number in value.items()]
        keys = [key for key, _ in pairs]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise AuditInputError(f"{name} names {twice[:60]!r} twice.")
        return dict(pairs)
    return _plain(value)


def spelled(value: Any) -> str:
    """A group as counts spell it: a whole number has no decimals.

    >>> spelled(65.0), spelled("65+")
    ('65', '65+')
    """
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def _plain(value: Any) -> Any:
    """A scalar of NumPy, a decimal or a fraction as a plain number; a float32 as the decimal it was written as."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.floating) and not isinstance(value, float):
        return float(str(value))
    if isinstance(value, np.generic):
        return value.item()
    return float(value) if isinstance(value, Decimal | Fraction) else value


def share_of(rule: str) -> float | None:
    """The share that a rule such as ``top20`` flags at most; None for another rule.

    >>> share_of("top20"), share_of("prevalence")
    (0.2, None)
    """
    found = _TOP.fullmatch(rule)
    return int(found[1]) / 100 if found else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(kind: str, name: str, value: Any) -> None:
    """An error that calls the option by its own name."""
    try:
        given(kind, value, None)
    except AuditInputError as error:
        raise AuditInputError(str(error).replace(kind, name, 1)) from None
