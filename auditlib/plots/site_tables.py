"""Sites beside random folds: coefficients of each metric, passes and values of each cell, and both in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.intervals.effective import wilson


def by_metric(yardsticks: Mapping[str, xr.Dataset], metrics: Sequence[str], deals: int = 200) -> pd.DataFrame:
    """Raw agreement and κ of the sites, and beside each yardstick its mean κ (share of deals whose κ is as low).

    Parameters
    ----------
    yardsticks : mapping of name to Dataset of ``agreement_beside_random``
        Of the same sites, dealt in different ways, so often.
    metrics : list of str

    Examples
    --------
    >>> held = {name: ("metric", [0.3]) for name in ("raw", "kappa", "kappa_random")}
    >>> found = xr.Dataset(held | {"kappa_random_below": ("metric", [0.25])}, {"metric": ["DI"]})
    >>> by_metric({"dealt": found}, ["DI"]).loc["DI"].tolist()
    ['0.30', '0.30', '0.30 (25%)']
    """
    first = next(iter(yardsticks.values())).sel(metric=list(metrics))
    columns = {"raw": _each(first["raw"]), "κ": _each(first["kappa"])}
    for name, found in yardsticks.items():
        held = found.sel(metric=list(metrics))
        shares = [f" ({share(one, deals)})" if np.isfinite(one) else "" for one in held["kappa_random_below"]]
        columns[name] = [kappa + one for kappa, one in zip(_each(held["kappa_random"]), shares, strict=True)]
    return pd.DataFrame(columns, index=pd.Index(metrics, name=None))


def by_cell(yardsticks: Mapping[str, xr.Dataset], metrics: Sequence[str]) -> pd.DataFrame:
    """How many sites pass each cell and, beside each yardstick, its 95% range and the spread of the sites' values.

    Parameters
    ----------
    yardsticks, metrics : as ``by_metric`` takes them

    Returns
    -------
    DataFrame, a row a cell, as "DI sex": ``pass``; for each yardstick the range of passes over deals; and for each, as
    ``÷`` its name, the standard deviation of the sites' values over the mean of the deals', with * where it is as
    high in at most 2.5% of these.

    Examples
    --------
    >>> held = {"passes": 3.0, "passes_random_low": 1.0, "passes_random_high": 2.5}
    >>> held |= {"sd": 0.2, "sd_random": 0.1, "sd_random_above": 0.0}
    >>> one = xr.Dataset({name: (("metric", "attribute"), [[value]]) for name, value in held.items()})
    >>> by_cell({"dealt": one.assign_coords(metric=["DI"], attribute=["sex"])}, ["DI"]).iloc[0].tolist()
    ['3', '1–2', '2.0*']
    """
    attributes = next(iter(yardsticks.values()))["attribute"].values
    rows = [(metric, str(attribute)) for metric in metrics for attribute in attributes]
    table: dict[str, dict[str, str]] = {}
    for metric, attribute in rows:
        cells = {name: found.sel(metric=metric, attribute=attribute) for name, found in yardsticks.items()}
        line = {"pass": said(next(iter(cells.values()))["passes"], "g")}
        for name, one in cells.items():
            line[name] = "–".join(said(one[f"passes_random_{end}"], ".0f") for end in ("low", "high"))
        for name, one in cells.items():
            line[f"÷ {name}"] = said(one["sd"] / one["sd_random"], ".1f") + "*" * bool(one["sd_random_above"] <= 0.025)
        table[f"{metric} {attribute}"] = line
    return pd.DataFrame(table).T


def told(yardsticks: Mapping[str, xr.Dataset], cells: Sequence[tuple[str, str]], deals: int = 200) -> dict[str, str]:
    """Numbers of ``by_metric`` and ``by_cell`` for running text, by name; shares of deals with their 95% intervals.

    Parameters
    ----------
    yardsticks, deals : as ``by_metric`` takes them
    cells : list of (metric, attribute)

    Returns
    -------
    dict: for every metric with κ ``di-kappa`` and ``di-interval``, and by yardstick ``all-di-kappa``, ``all-di-low``
    (share of deals with a κ as low) and ``all-di-raw-low``; for each of `cells` ``di-sex-passes`` and ``di-sex-values``
    (lowest to highest), and by yardstick these and ``all-di-sex-ratio`` and ``all-di-sex-high``.

    Examples
    --------
    >>> held = {f"kappa{end}": ("metric", [0.3]) for end in ("", "_low", "_high", "_random", "_random_below")}
    >>> told({"all": xr.Dataset(held, {"metric": ["DI"]})}, [])
    {'di-kappa': '0.30', 'di-interval': '0.30 to 0.30', 'all-di-kappa': '0.30', 'all-di-low': '30% (24% to 37%)'}
    """
    found: dict[str, str] = {}
    for name, held in yardsticks.items():
        for metric in held["metric"].values[np.isfinite(held["kappa"].values)]:
            one, key = held.sel(metric=metric), str(metric).lower()
            found[f"{key}-kappa"] = said(one["kappa"])
            found[f"{key}-interval"] = f"{said(one['kappa_low'])} to {said(one['kappa_high'])}"
            found[f"{name}-{key}-kappa"] = said(one["kappa_random"])
            known = round(deals * (1 - float(one.get("kappa_random_undefined", 0))))
            found[f"{name}-{key}-low"] = share(one["kappa_random_below"], known, wide=True)
            if "raw_random_below" in one:
                found[f"{name}-{key}-raw-low"] = share(one["raw_random_below"], deals, wide=True)
        for metric, attribute in cells:
            one, key = held.sel(metric=metric, attribute=attribute), f"{metric.lower()}-{attribute}"
            found[f"{key}-passes"] = said(one["passes"], "g")
            found[f"{key}-values"] = f"{said(one['least'], '.3f')} to {said(one['most'], '.3f')}"
            ends = [said(one[f"{end}_random"], ".3f") for end in ("least", "most")]
            found[f"{name}-{key}-values"] = " to ".join(ends)
            ends = [said(one[f"passes_random_{end}"], ".0f") for end in ("low", "high")]
            found[f"{name}-{key}-passes"] = " to ".join(ends)
            found[f"{name}-{key}-ratio"] = said(one["sd"] / one["sd_random"], ".1f")
            found[f"{name}-{key}-high"] = share(one["sd_random_above"], deals, wide=True)
    return found


def share(value: Any, deals: int, *, wide: bool = False) -> str:
    """A share of deals, `wide` with Wilson's 95% interval; of none what it is at most, 3/`deals`.

    >>> share(0.005, 200), share(0.17, 200, wide=True), share(0, 200)
    ('0.5%', '17% (12% to 23%)', '< 1.5%')
    """
    if value == 0:
        return f"< {3 / deals:.1%}"
    texts = [said(one, ".1%" if one < 0.01 else ".0%") for one in (value, *wilson(float(value), deals, 1.96))]
    return f"{texts[0]} ({texts[1]} to {texts[2]})" if wide else texts[0]


def said(value: Any, form: str = ".2f") -> str:
    """One number in words, with a true minus; "undefined" where it is.

    >>> said(-0.0127), said(float("nan"))
    ('−0.01', 'undefined')
    """
    return "undefined" if np.isnan(value) else format(float(value), form).replace("-", "−")


def _each(values: xr.DataArray, form: str = ".2f") -> list[str]:
    return [said(one, form) for one in values]
