"""Cases 10 and 11: 4 cells × 20 sites, all pass; and one dissent; by every way in."""

import numpy as np
import pytest
import xarray as xr

from auditlib.sites import agreement, fleiss_kappa, gwet_ac1, raw_agreement, site_agreement, tier


def verdicts(dissents: int) -> np.ndarray:
    held = np.ones((4, 20))
    held[0, :dissents] = 0
    return held


def test_10_all_pass() -> None:
    held = verdicts(0)
    assert (raw_agreement(held), gwet_ac1(held)) == (1.0, 1.0)
    assert np.isnan(fleiss_kappa(held))
    assert agreement([20] * 4, 20) == {"raw": 1.0, "kappa": pytest.approx(np.nan, nan_ok=True), "ac1": 1.0}
    found = site_agreement(xr.DataArray(held, dims=("attribute", "site")), replicates=50, seed=1)
    assert (float(found["raw"]), float(found["ac1"]), bool(found["unanimous"])) == (1.0, 1.0, True)
    assert np.isnan(found["kappa"])
    assert np.isnan(found["kappa_low"])
    assert float(found["kappa_undefined"]) == 1.0
    assert [float(found[name]) for name in ("raw_low", "raw_high", "ac1_low", "ac1_high")] == [1.0] * 4
    judged = tier(0.0, 1_000, found)
    assert (judged["tier"].item(), judged["flag"].item()) == ("Practical-Stability", "κ 0/0: unanimous")


def test_10_all_fail_is_as_unanimous() -> None:
    assert np.isnan(fleiss_kappa(1 - verdicts(0)))
    assert gwet_ac1(1 - verdicts(0)) == 1.0


def test_11_one_dissent() -> None:
    held = verdicts(1)
    found = site_agreement(xr.DataArray(held, dims=("attribute", "site")), replicates=500, seed=1)
    for kappa in (fleiss_kappa(held), agreement([19, 20, 20, 20], 20)["kappa"], float(found["kappa"])):
        assert round(kappa, 4) == -0.0127
        assert kappa == pytest.approx(-1 / 79, abs=1e-12)  # raw = 1 − 2/80, C = 1 − 2·79/80²
    for ac1 in (gwet_ac1(held), agreement([19, 20, 20, 20], 20)["ac1"], float(found["ac1"])):
        assert round(ac1, 4) == 0.9744
    assert raw_agreement(held) == pytest.approx(0.975, abs=1e-12)
    assert float(found["kappa_undefined"]) == pytest.approx((19 / 20) ** 20, abs=0.06)  # the dissenter is not drawn
    assert not found["unanimous"]
    assert tier(0.0, 1_000, found)["violated"].item() == 1
