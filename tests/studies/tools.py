"""What the studies share: coverage with its Monte-Carlo error, and tables written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

FOLDER = Path(__file__).parents[2] / "data" / "studies"


def coverage(limits: xr.Dataset, truth: float) -> dict[str, float]:
    """Share of the defined intervals that contain ``truth``, its Monte-Carlo SE, and their mean width."""
    low, high = limits["low"].values.reshape(-1), limits["high"].values.reshape(-1)
    defined = np.isfinite(low) & np.isfinite(high)
    low, high = low[defined], high[defined]
    # 1e-12: 0.8 - 0.7 in floating point is not 0.1, and a limit may be exactly the truth.
    share = float(((low <= truth + 1e-12) & (high >= truth - 1e-12)).mean())
    return {
        "audits": len(defined),
        "undefined": float(1 - defined.mean()),
        "coverage": share,
        "coverage_se": binomial_se(share, len(low)),
        "width": float((high - low).mean()),
    }


def binomial_se(share: float, n: int) -> float:
    """Standard error of a share of ``n``; that of (x + 1)/(n + 2), so that it is not 0 where the share is 0 or 1."""
    moved = (share * n + 1) / (n + 2)
    return float(np.sqrt(moved * (1 - moved) / n))


def write(name: str, table: pd.DataFrame, folder: Path = FOLDER) -> Path:
    """``table`` as ``<name>.csv``, moved into place when complete."""
    folder.mkdir(parents=True, exist_ok=True)
    handle, path = tempfile.mkstemp(dir=folder, prefix=f".{name}-", suffix=".csv")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            table.to_csv(stream, index=False, float_format="%.5g", lineterminator="\n")
        os.chmod(path, 0o644)
        os.replace(path, folder / f"{name}.csv")
    except BaseException:
        os.unlink(path)
        raise
    return folder / f"{name}.csv"
