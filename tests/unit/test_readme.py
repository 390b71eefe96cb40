"""What the README shows runs and is true."""

import re
from pathlib import Path

import auditlib as al

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs():
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    names = {}
    exec(code, names)
    gap = al.gap_interval(names["table"], "Men", "Women")
    assert float(gap.low) < float(gap.estimate) < float(gap.high)
    percentile = al.interval(al.gap(al.sensitivity(names["again"]), "Men", "Women"))
    assert abs(float(percentile.low - gap.low)) < 0.01  # the two methods agree in large groups
    assert abs(float(percentile.high - gap.high)) < 0.01


def test_every_file_named_is_there():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_make_target_named_is_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"\bmake ([a-z]+)", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
