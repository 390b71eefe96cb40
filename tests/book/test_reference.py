"""The reference: every public name has its entry, every cohort its sheet, every defect its chapter and its test."""

import ast
import importlib
import inspect
import re
import tomllib
import warnings

import jupytext
import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib import datasets, studies
from tests.book.conftest import PAGES, ROOT
from tools import api

REFERENCE = ROOT / "reference"
ENTRIES = sorted((REFERENCE / "api").glob("*.md"))
#: Packages whose ``__all__`` is public, and modules of which everything without an underscore is.
PACKAGES = [
    *("benefit", "card", "command", "intervals", "mitigate", "models", "multiverse", "reading", "simulate", "sites"),
    *("standardization", "studies", "studies.reproduced", "thresholds", "verdicts"),
]
MODULES = ["datasets", "widgets"]
#: Of ``auditlib.plots``: what figures ask of their input is no figure.
NOT_PUBLIC = {"auditlib.plots.checks"}
#: Without an example of their own, and why.
RETURNED = "made by a function whose example shows it"
CHAPTER_13 = "takes results that chapter 13 makes, and is used there"
SLOW = "refits models on records that a reader may not have"
NO_EXAMPLE = {
    "auditlib.datasets.NoFolderError": "needs a folder that is not there",
    "auditlib.datasets.checksum": "needs a file of records",
    "auditlib.mitigate.Shift": RETURNED,
    "auditlib.models.CrossFit": RETURNED,
    "auditlib.models.Fitted": RETURNED,
    "auditlib.multiverse.Multiverse": RETURNED,
    "auditlib.plots.sizes.drift": "one figure of chapter 11, which is its example",
    "auditlib.plots.sizes.plan": "one figure of chapter 11, which is its example",
    "auditlib.plots.sizes.reported": "one figure of chapter 11, which is its example",
    "auditlib.reading.Rows": RETURNED,
    "auditlib.simulate.Site": "a part of Cohort, whose example has one",
    "auditlib.studies.Cohort": RETURNED,
    "auditlib.studies.Comparison": RETURNED,
    "auditlib.studies.Predictions": RETURNED,
    "auditlib.studies.diabetes_optimism": SLOW,
    "auditlib.studies.gap_row": "a row of gap_table, which chapter 2 shows",
    "auditlib.studies.gap_table": "takes seconds; chapter 2 shows it",
    "auditlib.verdicts.Limit": "LIMITS holds them",
    "auditlib.widgets.Explorer": RETURNED,
    **{f"auditlib.studies.intervention_runs.{name}": CHAPTER_13 for name in ("pairs", "runs", "twelve")},
    **{
        f"auditlib.studies.intervention_words.{name}": CHAPTER_13
        for name in (
            *("at_limits", "changes", "cohort", "groups", "moves", "prices", "searches", "thresholds", "weights"),
        )
    },
}


def listed():
    """Full name to object of what the pages document; constants have their name alone."""
    found = {}
    for page in ENTRIES:
        module = None
        for line in page.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = match[1]
            elif match := re.match(r"\.\. auto(?:function|class|exception):: (\S+)", line):
                found[f"{module}.{match[1]}"] = api.named(f"{module}.{match[1]}")
            elif match := re.match(r"```\{py:data\} (\S+)", line):
                found[match[1]] = api.named(match[1])
    return found


ENTRY = listed()


def documented(name):
    """Whether a name has an entry, or what it names has one under another name."""
    found = api.named(name)
    return name in ENTRY or (not isinstance(found, float) and any(found is other for other in ENTRY.values()))


def own(module):
    """Public functions and classes that a module defines."""
    for name, found in vars(module).items():
        defined = inspect.isroutine(found) or inspect.isclass(found)
        if defined and not name.startswith("_") and found.__module__ == module.__name__:
            yield f"{module.__name__}.{name}"


def public():
    yield from (f"auditlib.{name}" for name in al.__all__)
    for name in PACKAGES:
        module = importlib.import_module(f"auditlib.{name}")
        yield from (f"{module.__name__}.{one}" for one in module.__all__)
    for name in MODULES:
        yield from own(importlib.import_module(f"auditlib.{name}"))
    for path in sorted((ROOT / "auditlib" / "plots").glob("*.py")):
        module = importlib.import_module(f"auditlib.plots.{path.stem}")
        if path.stem != "__init__" and module.__name__ not in NOT_PUBLIC:
            yield from (name for name in own(module) if ">>>" in (inspect.getdoc(api.named(name)) or ""))


def code(page):
    cells = jupytext.read(ROOT / f"{page}.md").cells
    lines = "\n".join(cell.source for cell in cells if cell.cell_type == "code").splitlines()
    return "\n".join(line for line in lines if not line.startswith(("%", "!")))


# -- the package ---------------------------------------------------------------------------------------------------


def test_every_public_name_has_an_entry():
    assert [name for name in public() if not documented(name)] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith(("intro", "chapters/"))])
def test_what_chapters_use_has_an_entry(page):
    used = api.uses(code(page))
    assert page == "intro" or used
    assert sorted(name for name in used if not documented(name)) == []


def test_names_of_the_readme_have_an_entry():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = {f"auditlib.{name}" for name in re.findall(r"\bal\.(\w+)", text)} - {"auditlib.audit"}
    names |= {f"auditlib.{name}" for name in re.findall(r"`(?:auditlib\.)?((?:studies|models)\.\w+)`", text)}
    assert len(names) > 5
    assert sorted(name for name in names if not documented(name)) == []


def test_an_entry_stands_once_and_is_what_it_says():
    lines = [line for page in ENTRIES for line in page.read_text(encoding="utf-8").splitlines()]
    entries = sum(line.startswith((".. autof", ".. autoc", ".. autoe", "```{py:data}")) for line in lines)
    assert entries == len(ENTRY) > 150
    assert [name for name, found in ENTRY.items() if found is None] == []
    defined = [id(found) for found in ENTRY.values() if inspect.isroutine(found) or inspect.isclass(found)]
    assert len(defined) == len(set(defined))


def test_every_entry_is_explained_and_has_an_example():
    without = set()
    for name, found in ENTRY.items():
        if inspect.isroutine(found) or inspect.isclass(found):
            text = inspect.getdoc(found) or ""
            assert len(text) > 15, name
            if ">>>" not in text:
                without.add(name)
    assert without == NO_EXAMPLE.keys()


def test_summaries_list_what_follows():
    for page in ENTRIES:
        text = page.read_text(encoding="utf-8")
        short = re.findall(r"^   (\w+)$", text, re.MULTILINE)
        assert short == re.findall(r"^\.\. auto(?:function|class|exception):: (\w+)", text, re.MULTILINE), page


def test_the_first_page_names_the_others():
    text = (REFERENCE / "api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\{doc\}`/reference/api/([\w-]+)`", text)) == sorted(page.stem for page in ENTRIES)


def test_mathematics_is_no_markup():
    assert api.escaped("|gap* − gap| of *all* ``a|b``") == "\\|gap\\* − gap\\| of *all* ``a|b``"
    assert api.escaped(">>> 2 ** 3 | 1") == ">>> 2 ** 3 | 1"
    assert api.escaped("see :func:`judge`") == "see :func:`.judge`"
    assert api.rejoined(["a ``b", "  c`` d", "e"]) == ["a ``b c`` d", "e"]
    named = ["Returns", "-------", "low : float", "    Limit.", "high : float", "", "Raises", "------", "A", "B"]
    assert api.rejoined(named) == named
    assert api.headed(["Examples", "--------", ">>> 1"]) == ["Examples", "--------", ">>> 1"]


def test_uses_follow_the_names_of_an_import():
    text = """
from auditlib.benefit.frontier import judge as judge_points
from auditlib.plots import interventions as draw
import auditlib as al
judge_points(), draw.thresholds(), al.benefit.fieller, other.gap()
"""
    found = {api.named(name) for name in api.uses(text)}
    assert found == {
        api.named("auditlib.benefit.judge"),
        api.named("auditlib.plots.interventions.thresholds"),
        api.named("auditlib.benefit.fieller"),
    }
    assert api.named("auditlib.nothing") is None
    assert api.named("nowhere.at.all") is None


# -- data sheets ---------------------------------------------------------------------------------------------------

SHEETS = (REFERENCE / "data-sheets.md").read_text(encoding="utf-8")
SOURCES = tomllib.loads((ROOT / "data" / "sources.toml").read_text(encoding="utf-8"))
ASKED = [
    "Why and by whom",
    "A row",
    "Who is in it",
    "Who is not",
    "Outcome",
    "Licence and source",
    "Not for",
    "Used in",
]


def sheet(name):
    return re.search(rf"\(sheet-{name}\)=\n(.*?)(?=\n\(sheet-|\n## References|\Z)", SHEETS, re.DOTALL)[1]


@pytest.mark.parametrize("name", SOURCES)
def test_every_cohort_has_a_sheet_that_answers_the_questions(name):
    text = sheet(name)
    assert f"`{name}`" in text
    assert [question for question in ASKED if not re.search(rf"^{question}\n: \S", text, re.MULTILINE)] == []
    assert re.search(r"^(Missing values|Missing values and oddities)\n: ", text, re.MULTILINE)


def counted():
    """Numbers of the sheet's cell that were counted in the records."""
    for node in ast.walk(ast.parse(code("reference/data-sheets"))):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "COUNTED":
            return ast.literal_eval(node.value)
    raise AssertionError("no COUNTED")


def test_numbers_of_a_sheet_are_those_of_the_checks():
    """The page reads sources.toml; what it does not read is typed, and stands in the source as well."""
    for name, key in {"diabetes130": "d", "cdc_diabetes": "c", "brfss2022_heart": "b", "texas100x": "t"}.items():
        text = sheet(name)
        for number in ("rows", "positives", "share", "licence"):
            if number != "licence" or name != "texas100x":
                assert f"`sheet-{key}-{number}`" in text, (name, number)
    assert 'source["rows"], source["positives"]' in code("reference/data-sheets")
    repeated = re.search(r"c_repeated=f\"\{([\d_]+):,\}\"", code("reference/data-sheets"))[1].replace("_", ",")
    assert f"{repeated} of them repeat another one" in (ROOT / "data" / "sources.toml").read_text(encoding="utf-8")
    facts = studies.stays_table("stays-xgboost").provenance
    assert facts["stays"] - facts["later_stays_left_out"] == counted()["patients"]
    assert "441 hospitals" in sheet("texas100x")
    assert SOURCES["texas100x"]["different"] == {"THCIC_ID": 441}


def test_counted_numbers_are_those_of_the_records():
    if not datasets.available("diabetes130"):
        pytest.skip("the hospital records are not at hand")
    stays = datasets.load("diabetes130", download=False)
    by_patient = stays.assign(race=stays["race"].fillna("?")).groupby("patient_nbr")
    changed = by_patient[["age", "race"]].nunique().gt(1).sum()
    child = stays["age"] == "[0-10)"
    found = {
        "patients": stays["patient_nbr"].nunique(),
        **{
            name: int(stays[column].isna().sum())
            for name, column in {
                "race": "race", "weight": "weight", "payer": "payer_code", "specialty": "medical_specialty",
            }.items()
        },
        "children": int(child.sum()),
        "children_ill": int((child & (stays["readmitted"] == "<30")).sum()),
        "unknown": int((stays["gender"] == "Unknown/Invalid").sum()),
        "change_age": int(changed["age"]),
        "change_race": int(changed["race"]),
        "dead": int(stays["discharge_disposition_id"].isin([11, 13, 14, 19, 20, 21]).sum()),
    }  # fmt: skip
    assert found == counted()
    assert (stays["max_glu_serum"] == "None").any()


def cohorts_of(page):
    """Cohorts whose committed tables a chapter names, or reads through a function of its own."""
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    tables = {path.stem for path in (ROOT / "data" / "counts").glob("*.csv") if f'"{path.stem}"' in text}
    found = {studies_of(name) for name in tables}
    found |= {"diabetes130"} if "stays_table(" in text else set()
    found |= {"brfss2022_heart"} if "states_table(" in text else set()
    found |= {name for name in SOURCES if re.search(rf"(?:committed_multiverse|audit_gap|load)\(\"{name}\"", text)}
    return found | ({"diabetes130", "cdc_diabetes", "brfss2022_heart"} if "gap_table(" in text else set())


def studies_of(name):
    return al.Counts.read_csv(ROOT / "data" / "counts" / f"{name}.csv").provenance["dataset"]


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith(("intro", "chapters/"))])
def test_chapters_that_use_a_cohort_stand_in_its_sheet(page):
    used = cohorts_of(page)
    for name in used:
        used_in = sheet(name).split("Used in\n: ")[1].split("\n\n")[0]
        assert f"</{page}>" in used_in, name


SIMULATORS = ["stays", "Cohort", "RiskCohort", "Hospitals"]


@pytest.mark.parametrize("name", SIMULATORS)
def test_pages_that_simulate_stand_in_the_table(name):
    row = re.search(rf"^\| \{{py:\w+\}}`auditlib\.simulate\.{name}` .*$", SHEETS, re.MULTILINE)[0]
    part = {"RiskCohort": "RiskGroup"}.get(name, name)
    used = [page for page in PAGES if not page.startswith("reference/") and simulates(page) & {name, part}]
    assert used
    assert sorted(re.findall(r"</((?:chapters|teach)/[\w-]+)>", row)) == [p for p in sorted(used) if "teach" not in p]
    assert ("{ref}`assignment <assignment>`" in row) == ("teach/assignment" in used)


def simulates(page):
    """What a page takes from ``auditlib.simulate``."""
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    taken = re.findall(r"\bsimulate\.(\w+)[(.]", text)
    for line in re.findall(r"^from auditlib\.simulate import (.+)$", text, re.MULTILINE):
        taken += line.split(", ")
    return set(taken)


# -- defects -------------------------------------------------------------------------------------------------------

DEFECTS = (REFERENCE / "defects.md").read_text(encoding="utf-8")
ENTRIES_OF_DEFECTS = re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", DEFECTS, re.DOTALL | re.MULTILINE)


def slug(heading):
    """The anchor that a heading gets on the site."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize(("title", "text"), ENTRIES_OF_DEFECTS, ids=[title for title, _ in ENTRIES_OF_DEFECTS])
def test_a_defect_says_what_where_and_what_is_right(title, text):
    assert [
        part for part in ("What happens", "Where", "Right", "In the book", "Test") if f"\n{part}\n: " not in text
    ] == []
    path, name = re.search(r"\nTest\n: `(tests/[\w/]+\.py)::(\w+)`", text).groups()
    defined = {node.name for node in ast.parse((ROOT / path).read_text()).body if isinstance(node, ast.FunctionDef)}
    assert name in defined
    assert re.search(r"\nIn the book\n: .*\]\(project:/", text)


def test_links_to_sections_lead_to_headings():
    links = re.findall(r"\]\(project:/(\S+?)\.md#([\w-]+)\)", DEFECTS)
    assert len(links) > len(ENTRIES_OF_DEFECTS) > 15
    for page, anchor in links:
        headings = re.findall(r"^#{2} (.+)$", (ROOT / f"{page}.md").read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in map(slug, headings), (page, anchor)


def test_more_than_and_at_least():
    """What the page prints of risks in whole percents, from the cells of the table one by one."""
    choose = studies.benefit_counts("snb-heart-income").sel(half="choose").to_frame()
    people = choose.groupby(np.floor(choose["bin"] * 100 + 1e-9))["n"].sum()
    from_here = people[::-1].cumsum()[::-1]
    cap = int(0.03 * from_here.iloc[0])
    first = next(k for k in range(1, 100) if from_here.reindex(range(k + 1, 102)).max() <= cap)
    more, at_least = from_here[from_here.index > first].iloc[0], from_here.loc[first]
    assert (cap, more, at_least) == (2_283, 2_261, 2_358)


def test_no_constraint_would_bind_here():
    """More than a tenth have a risk of at least the threshold, so that a cap of a tenth is a constraint."""
    choose = studies.benefit_counts("snb-heart-income").sel(half="choose").to_frame()
    share = choose.loc[choose["bin"] >= 0.10, "n"].sum() / choose["n"].sum()
    assert share == pytest.approx(0.29, abs=0.005)


def test_flags_that_are_words():
    """It is the predictions that must not be words: of the outcomes neither number knows."""
    metrics = pytest.importorskip("fairlearn.metrics")
    label, flag = np.array([0, 0, 0, 0, 1, 1, 1, 0, 0, 0]), np.array([1, 0, 0, 0, 1, 1, 0, 1, 0, 0])
    group, words = ["A"] * 4 + ["B"] * 6, lambda values: np.where(values == 1, "yes", "no")
    for y, found, rates in ((words(label), flag, [0.25, 0.5]), (label, words(flag), [0, 0])):
        theirs = metrics.MetricFrame(metrics=metrics.selection_rate, y_true=y, y_pred=found, sensitive_features=group)
        assert theirs.by_group.tolist() == rates
        gap = metrics.demographic_parity_difference(y, found, sensitive_features=group)
        assert gap == rates[1] - rates[0]
    frame = pd.DataFrame({"label": label, "score": words(flag), "group": group})
    with pytest.raises(al.AuditInputError, match="not numbers"):
        al.count(frame, label="label", score="score", by="group")


def test_what_dcurves_answers_at_a_threshold_of_one_and_without_a_risk():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dca = pytest.importorskip("dcurves").dca
        frame = pd.DataFrame({"y": [1, 1, 0, 0, 0], "p": [0.9, 0.6, 0.7, 0.2, np.nan]})
        one = dca(frame.dropna(), "y", ["p"], thresholds=[0.5, 1.0]).set_index(["model", "threshold"])["net_benefit"]
        ten = pd.DataFrame({"y": [0, 0, 0, 0, 1, 1, 1, 0, 0, 0], "p": [1.0, 0, 0, 0, 1, 1, 0, 1, 0, 0]})
        flagged = dca(ten, "y", ["p"], thresholds=[1.0]).set_index(["model", "threshold"])["net_benefit"]
        half = dca(frame.assign(p=[np.nan, 0.6, 0.7, 0.2, 0.1]), "y", ["p"], thresholds=[0.5]).set_index("model")
    assert one["all", 1.0] == -np.inf
    assert np.isnan(one["p", 1.0])  # nobody without the outcome is flagged at 1
    assert np.isnan(one["none", 1.0])
    assert flagged["p", 1.0] == -np.inf
    assert half.loc["p", ["n", "tp_rate"]].tolist() == [5, 0.2]  # the first has the outcome, and is never found
