"""What the README shows runs and is true."""

import re
from pathlib import Path

import yaml

import auditlib as al

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs():
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    names = {}
    exec(code, names)
    gap = al.gap_interval(names["table"], "D", "A")
    assert float(gap.low) < float(gap.estimate) < float(gap.high)
    percentile = al.interval(al.gap(al.sensitivity(names["again"]), "D", "A"))
    assert abs(float(percentile.low - gap.low)) < 0.01  # the two methods agree in large groups
    assert abs(float(percentile.high - gap.high)) < 0.01


def test_every_file_named_is_there():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_make_target_named_is_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"\bmake ([a-z]+)", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_example_shows_a_gap_of_scores_that_are_risks():
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    names = {}
    exec(code, names)
    gap = al.gap_interval(names["table"], "D", "A")
    estimate, low, high = (f"{float(gap[name]):.3f}" for name in ("estimate", "low", "high"))
    assert f"+{estimate} ({low} to {high})" in code
    assert float(gap["low"]) > 0.1
    frame = names["frame"]
    near = frame[frame["true_risk"].between(0.25, 0.35)]
    assert abs(near["label"].mean() - near["true_risk"].mean()) < 0.03
    assert abs(frame["label"].mean() - frame["true_risk"].mean()) < 0.01


def test_every_function_named_for_a_task_is_there_and_in_its_chapter():
    table = README.split("### Which function for which task")[1].split("## Data")[0]
    rows = re.findall(r"^\| (?!task|-)(.+?) \| (.+?) \| (\d+) \|$", table, re.MULTILINE)
    assert [int(number) for *_, number in rows] == list(range(1, 15))
    for _, functions, number in rows:
        for name in re.findall(r"`([\w.]+)[^`]*`", functions):
            found = al.Counts if name.startswith(".") else al
            for part in name.strip(".").removeprefix("auditlib.").split("."):
                if part == "models":
                    import auditlib.models as found
                else:
                    found = getattr(found, part)
            assert callable(found), name
        chapters = sorted((ROOT / "chapters").glob(f"{int(number):02d}-*.md"))
        text = "".join(chapter.read_text(encoding="utf-8") for chapter in chapters)
        shown = [name for name in re.findall(r"`([\w.]+)[^`]*`", functions) if name.split(".")[-1] in text]
        assert shown, number


def test_what_is_said_of_notebooks_and_of_the_address_is_true():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert f"git clone {settings['repository']['url']} " in README
    for page in (README, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        assert "pip install jupyterlab jupyterlab-myst" in page
