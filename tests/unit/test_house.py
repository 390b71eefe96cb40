"""How the package is put together: one direction of imports, short modules, nothing that nobody uses."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "auditlib"
# From the bottom up; a part imports from those above it in this list alone. The package's own __init__ gathers them.
ORDER = [
    *("errors", "started", "jobs", "schema", "counts", "values", "metrics", "scores", "intervals", "thresholds"),
    *("standardization", "multiverse", "benefit", "verdicts", "sites", "mitigate", "models", "simulate", "datasets"),
    *("plots", "widgets", "reading", "studies", "audits", "card", "command", "__main__"),
]
MODULES = sorted(PACKAGE.rglob("*.py"))
#: Where what the package defines may be used; a test alone is no use.
USERS = ("auditlib", "chapters", "intro.md", "README.md", "reference", "teach", "tools", "benchmarks", "tests/studies")


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def part(path):
    """The package or module directly below auditlib; "" for its __init__."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imported(path):
    """Parts of auditlib that a module imports, wherever in its code."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module == "auditlib":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("auditlib."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (name.name.split(".")[1] for name in node.names if name.name.startswith("auditlib."))


def wrong_way(name, targets):
    """Of the parts that the part ``name`` imports, those that stand at its height or above."""
    return sorted(target for target in set(targets) - {name} if ORDER.index(target) >= ORDER.index(name))


def test_every_part_has_its_place():
    assert {part(path) for path in MODULES} - {""} == set(ORDER)


@pytest.mark.parametrize("path", [path for path in MODULES if part(path)], ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_run_one_way(path):
    assert wrong_way(part(path), imported(path)) == []


def test_an_import_the_wrong_way_is_seen():
    assert wrong_way("metrics", ["counts", "errors", "plots"]) == ["plots"]


@pytest.mark.parametrize("folder", ["auditlib", "tools", "benchmarks", "tests/studies"])
def test_modules_are_short(folder):
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in (ROOT / folder).rglob("*.py")}
    assert {name: lines for name, lines in lengths.items() if lines > 300} == {}


def defined(path):
    """Names that a module makes: functions, classes, constants."""
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_nothing_is_defined_for_nobody():
    found = [path for user in USERS for path in [ROOT / user, *(ROOT / user).rglob("*")] if path.is_file()]
    found = [path for path in found if path.suffix in (".py", ".md", ".j2") and path.parent.name != "api"]  # names all
    words = Counter(word for path in found for word in re.findall(r"\w+", path.read_text("utf-8")))
    made = Counter(name for path in MODULES for name in defined(path))
    assert sorted(name for name, times in made.items() if words[name] <= times and not name.startswith("__")) == []


def test_comments_promise_nothing():
    """No work is left to a comment."""
    promises = re.compile(r"#.*\b(TODO|FIXME|XXX|HACK)\b")
    files = [path for folder in ("auditlib", "tools", "benchmarks", "tests") for path in (ROOT / folder).rglob("*.py")]
    lines = [line for path in files for line in path.read_text("utf-8").splitlines() if promises.search(line)]
    assert [line for line in lines if "promises" not in line] == []
