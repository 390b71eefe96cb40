import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = """
import pytest

def test_tool():
    pytest.skip("no browser")

def test_data():
    pytest.skip("raw records: set AUDITLIB_DATA")

@pytest.mark.xfail
def test_expected():
    raise ValueError
"""


@pytest.mark.parametrize(
    ("variables", "outcome"),
    [
        ({}, "2 skipped, 1 xfailed"),
        ({"AUDITLIB_NO_SKIP": "1"}, "1 failed, 1 skipped, 1 xfailed"),
        ({"AUDITLIB_NO_SKIP": "1", "AUDITLIB_DATA": "/somewhere"}, "2 failed, 1 xfailed"),
    ],
)
def test_nothing_is_skipped_unseen(tmp_path, variables, outcome):
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)
    (tmp_path / "test_skips.py").write_text(SKIPS)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("AUDITLIB_")}
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, env=environment | variables, capture_output=True, text=True, check=False)
    assert outcome in done.stdout
