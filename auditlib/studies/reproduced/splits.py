"""What splits of one cohort do to each other: where a published gap lies, how z behaves, how often a rule passes."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2

from auditlib.studies.reproduced.agreement import AGREEMENT, RULES, Estimate, criteria
from auditlib.studies.reproduced.lines import number
from auditlib.studies.reproduction import study_table


def among_splits(table: pd.DataFrame) -> pd.DataFrame:
    """Where a published gap lies among the gaps of our procedure on other splits (``data/studies/split_seeds.csv``).

    The family of models is fixed in these refits, so that what its selection adds is not among them.

    Parameters
    ----------
    table : DataFrame of ``reproduction_table("gap_audit")``

    Returns
    -------
    DataFrame by ``id``: ``splits``, ``mean``, ``sd``, ``least`` and ``most`` of our gaps; ``rank`` of the split with
    the published seed, from the least; ``published``; ``t``, the published gap minus the mean over sd·√(1 + 1/splits),
    to be judged by Student's law with splits − 1 degrees of freedom if the published gap is one more split of the same
    procedure.

    Examples
    --------
    >>> from auditlib.studies.reproduced.table import reproduction_table
    >>> among_splits(reproduction_table("gap_audit"))["splits"].tolist()
    [20, 20]
    """
    found = {}
    for name, gaps in _splits():
        ours = gaps["estimate"].to_numpy()
        n, mean, sd = len(ours), float(ours.mean()), float(ours.std(ddof=1))
        published = number(str(table.loc[name, "value"]))
        t = (published - mean) / (sd * np.sqrt(1 + 1 / n))
        found[name] = {
            "splits": n, "mean": mean, "sd": sd, "least": ours.min(), "most": ours.max(),
            "rank": int((ours <= ours[0]).sum()), "published": published, "t": t,
        }  # fmt: skip
    return pd.DataFrame.from_dict(found, orient="index")


def split_pairs() -> pd.DataFrame:
    """How two splits of our own, which ask the same question of one cohort, compare; intervals are Newcombe's.

    Returns
    -------
    DataFrame by comparison: ``pairs``; ``sd`` of z with rough 95% limits ``sd_low`` and ``sd_high``, as if only the
    splits varied (χ² with splits − 1 degrees of freedom, since the pairs are made of so few); ``beyond``, the share
    with \\|z\\| over 1.96; ``agree``, the share of ordered pairs that the rule of the book calls agreement.

    Examples
    --------
    >>> split_pairs()[["pairs", "agree"]].round(2).values.tolist()
    [[190.0, 0.56], [190.0, 0.8]]
    """
    found = {}
    for name, rows in _splits():
        ours = [Estimate(*one) for one in rows[["estimate", "low", "high"]].to_numpy()]
        z = np.array([float(criteria(one, other)["z"]) for one, other in combinations(ours, 2)])
        agree = [bool(RULES[AGREEMENT](one, other)) for one, other in permutations(ours, 2)]
        sd, free = float(np.sqrt((z**2).mean())), len(ours) - 1
        low, high = sd * np.sqrt(free / chi2.ppf([0.975, 0.025], free))
        found[name] = {
            "pairs": len(z), "sd": sd, "sd_low": low, "sd_high": high,
            "beyond": float((abs(z) > 1.96).mean()), "agree": float(np.mean(agree)),
        }  # fmt: skip
    return pd.DataFrame.from_dict(found, orient="index")


def split_gaps(name: str) -> NDArray[np.float64] | None:
    """Our gaps on other splits of one comparison, the published seed first; None where we did not refit.

    >>> len(split_gaps("gap-cdc_diabetes-age")), split_gaps("gap-cdc_diabetes-sex")
    (20, None)
    """
    found = dict(_splits()).get(name)
    return None if found is None else found["estimate"].to_numpy()


def _splits() -> list[tuple[str, pd.DataFrame]]:
    """The refits on other splits, by the name of their comparison; the first has the published seed."""
    splits = study_table("split_seeds").query("what == 'split'")
    names = "gap-" + splits["dataset"] + "-" + splits["attribute"]
    return [(str(name), rows) for name, rows in splits.groupby(names, sort=False)]
