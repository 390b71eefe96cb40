"""With AUDITLIB_NO_SKIP set, as on CI, a skipped test fails.

The one exception: tests that read raw records, whose reason names AUDITLIB_DATA, where that is not set.
"""

import os
from collections.abc import Generator

import pytest


def _must_run(report: pytest.TestReport | pytest.CollectReport) -> bool:
    if not os.environ.get("AUDITLIB_NO_SKIP") or not report.skipped or hasattr(report, "wasxfail"):
        return False
    return "AUDITLIB_DATA" in os.environ or "AUDITLIB_DATA" not in str(report.longrepr)


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    report.outcome = "failed"
    report.longrepr = f"nothing may be skipped here: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if _must_run(report):
        _fail(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if _must_run(report):
        _fail(report)
    return report
