"""Decision curves by subgroup."""

from __future__ import annotations

import xarray as xr

from auditlib.benefit.core import net_benefit
from auditlib.benefit.policies import treat
from auditlib.errors import AuditInputError


def decision_curve(table: xr.Dataset) -> xr.Dataset:
    """Net benefit over thresholds of the model, of treating everybody and of treating nobody, in every group.

    People are flagged and weighed at the same threshold.

    Parameters
    ----------
    table : Dataset of Counts.at([…])
        With a ``threshold`` dim below 1, and any others.

    Returns
    -------
    Dataset of ``net_benefit`` (of the model), ``all`` and ``none``, dims as the table.

    Raises
    ------
    AuditInputError
        Without a ``threshold`` dim, or for a threshold of 1.

    References
    ----------
    Vickers AJ, Elkin EB. Med Decis Making 2006;26:565–574.

    Examples
    --------
    >>> import pandas as pd
    >>> from auditlib.counts import count
    >>> frame = pd.DataFrame({"y": [1, 1, 0, 0], "risk": [0.9, 0.25, 0.25, 0.1]})
    >>> table = count(frame, label="y", score="risk", by=[]).at([0.2, 0.5])
    >>> decision_curve(table).net_benefit.round(4).values
    array([0.4375, 0.25  ])
    """
    if not isinstance(table, xr.Dataset) or "threshold" not in table.dims or "threshold" not in table.coords:
        raise AuditInputError("a decision curve runs over thresholds: pass counts.at([…]) of several.")
    if "all" in table.dims:
        raise AuditInputError("a group dim named 'all' clashes with the curve of treating all; rename it.")
    curves = {"net_benefit": table, "all": treat(table, "all"), "none": treat(table, "none")}
    return xr.Dataset({name: net_benefit(held, table["threshold"]) for name, held in curves.items()})
