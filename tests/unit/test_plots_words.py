"""Estimates in words are the numbers they are given."""

import numpy as np
import xarray as xr

from auditlib.plots.words import points
from tests.unit.test_plots_prevalence import GAP, VALUES, around, bad


def test_points_are_a_text_a_series_or_a_table():
    assert points(around(xr.DataArray(-0.0004))) == "+0.0 (−2.0 to +2.0)"
    assert points(around(xr.DataArray(0.5), 0.25), ".2f", 1) == "0.50 (0.25 to 0.75)"
    one = points(GAP)
    assert one.index.name == "prevalence"
    assert one.loc[0.2].startswith(f"+{100 * float(GAP['estimate'].sel(prevalence=0.2)):.1f} (+")
    values = VALUES.transpose("prevalence", "group")
    table = points(values.assign(low=values["low"].transpose()))
    assert (table.index.name, table.columns.tolist()) == ("prevalence", ["Women", "Men"])
    low = 100 * float(VALUES["low"].sel(prevalence=0.9, group="Men"))
    assert f"(+{low:.1f} to" in table.loc[0.9, "Men"]
    assert points(around(xr.DataArray(np.nan))) == "undefined"


def test_points_that_cannot_be_told():
    with bad("a Dataset with estimate, low, high is needed"):
        points(GAP["estimate"])
    with bad(r"there is no estimate beside low, high; interval\(…, estimate=…\) puts it there"):
        points(GAP[["low", "high"]])
    with bad("high must be one value, but is absent; there is estimate, low"):
        points(xr.Dataset({"estimate": 0.1, "low": 0.0}))
    with bad("low must lie over 'prevalence' alone"):
        points(GAP.assign(low=0.1))
    with bad("over two dims at most"):
        points(VALUES.expand_dims("model"))
