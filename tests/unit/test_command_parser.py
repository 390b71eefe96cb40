"""What is typed: each option once, none unknown, none guessed; and the values after them."""

import json
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditlib.command import gap, params, values
from auditlib.command.check import parameters_of
from auditlib.command.listed import OPTIONS
from auditlib.command.parser import Given, parse, parser_of
from auditlib.command.spell import command, speller
from auditlib.errors import AuditInputError
from tests.unit.cards import NAMES, refused, run


def bad(said):
    return pytest.raises(AuditInputError, match=said)


def test_files_may_stand_before_between_and_after_options():
    expected = Given("audit", ("a.csv", "b.csv"), {"site": "ward", "by": ["sex"]})
    for words in (
        "a.csv b.csv --site ward --by sex",
        "--site ward a.csv b.csv --by sex",
        "--by=sex --site=ward a.csv b.csv",
    ):
        assert parse(["audit", *words.split()]) == expected


def test_nothing_is_given_that_was_not_typed():
    assert parse(["audit"]) == Given("audit", (), {})
    assert parse(["gap"]) == Given("gap", (), {})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("audit x.csv --lable died", "unknown option --lable; did you mean --label?"),
        ("audit x.csv --treshold=0.3", "unknown option --treshold; did you mean --threshold?"),
        ("audit x.csv --lab died", "unknown option --lab; did you mean --label?"),
        ("audit x.csv --dataset cdc_diabetes", "unknown option --dataset; it is one of `auditlib gap`"),
        ("audit x.csv --zzz", "unknown option --zzz (auditlib audit --help tells more)"),
        ("audit x.csv --label", "--label: a value must follow it"),
        ("audit x.csv --label a --label b", "--label is given twice"),
        ("audit x.csv --multiverse --no-multiverse", "--no-multiverse is given twice, or beside its opposite"),
        ("audit x.csv --missing drop", "--missing: invalid choice: 'drop'"),
        ("gap cdc_diabetes", "'cdc_diabetes' belongs to no option"),
        ("gap --dataset cdc --attribute sex", "--dataset: invalid choice: 'cdc'"),
        ("adit x.csv", "no command 'adit'; did you mean audit?; there are audit, gap, check."),
    ],
)
def test_errors_of_typing(capsys, words, said):
    assert said in refused(capsys, *words.split())


def test_helps_and_version(capsys):
    for words in (["--help"], ["-h"], ["help"], ["audit", "--help"], ["gap", "-h"], ["check", "--help"], ["--version"]):
        status, out, err = run(capsys, *words)
        assert (status, err) == (0, "")
        assert out.strip()
    assert run(capsys)[0] == 2  # no command is no request


@pytest.mark.parametrize("name", list(OPTIONS))
def test_every_option_has_help_in_words_and_every_help_the_questions(name, capsys):
    text = parser_of(name).format_help()
    for option in OPTIONS[name]:
        assert f"--{option.name}" in text
        assert len(option.help) > 10
    if name != "check":
        assert "The four questions" in text
        assert "What the folder holds" in text
        assert text.count("\n  auditlib ") >= 4


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.3", 0.3), (" .5 ", 0.5), ("1e-2", 0.01), ("-1", -1.0), ("3.", 3.0)],
)
def test_numbers(text, value):
    assert values.number("lam", text) == value


@pytest.mark.parametrize("text", ["", "0,3", "30%", "1_0", "٣", "0x1", "half", "1 2"])
def test_what_is_no_number(text):
    with bad("--lam must be a number such as 0.3, not"):
        values.number("lam", text)
    with bad("--seed must be a whole number, not"):
        values.whole("seed", text)


def test_thresholds():
    assert values.options_of({"threshold": "0.3"}).threshold == 0.3
    assert values.options_of({"threshold": "top20"}).threshold == "top20"
    for text in ("top0", "topmost", "0", "1", "1.5", "nan", "-0.3"):
        with bad("threshold"):
            values.options_of({"threshold": text})


def test_numbers_by_name():
    assert values.lam("Women=0.2,Men=0.4") == {"Women": 0.2, "Men": 0.4}
    assert values.lam(" a = 0.2 , b=c = .4") == {"a": 0.2, "b=c": 0.4}
    assert values.lam("Black only, Non-Hispanic=0.2,White=0.3") == {"Black only, Non-Hispanic": 0.2, "White": 0.3}
    assert values.lam('{"a=1,b": 0.2}') == {"a=1,b": 0.2}
    for text in ("Women=", "Women=x", "=0.2", "Women=0.2;Men=0.4x", '{"a": true}', "{}", "{"):
        with bad("--lam"):
            values.lam(text)
    with bad("names 'a' twice"):
        values.lam("a=0.2,a=0.3")


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(min_size=1)), st.floats(1e-6, 1), min_size=1, max_size=4)
)
def test_numbers_by_name_are_read_as_they_were_written(held):
    text = values.named(held)
    assert values.by_name("lam", text) == held


def test_age_bands_with_any_dash_and_mark_between():
    for text in ("18–24,80+", "18-24 v 80+", "18 - 24 vs. 80+", ["18—24", "80+"], "18–24;80+"):
        assert values.bands(text) == ("18–24", "80+")
    for text in ("18–24", "18–24, 25–29, 80+", "", ["18–24", 80], ["a"]):
        with bad("is not two bands"):
            values.bands(text)


# -- follow-ups ---------------------------------------------------------------------------------------------------

GIVEN = Given(
    "audit",
    ("my preds.csv",),
    {"label": "died", "score": "risk", "by": ["sex", "race"], "group_a": "F", "lam": "F=0.2,M=0.3", "limits": "DI=0.9",
     "benefit_threshold": "0.1", "out": "elsewhere", "quiet": True},
)  # fmt: skip


def asked(text):
    program, *words = shlex.split(text)
    assert program == "auditlib"
    return parse(words)


def test_a_follow_up_is_the_command_with_what_changes():
    found = asked(command(GIVEN, {"threshold": 0.14}, "next"))
    assert found.files == ("my preds.csv",)
    rest = {name: value for name, value in GIVEN.options.items() if name not in ("quiet", "out")}
    assert found.options == rest | {"threshold": "0.14", "out": "next"}


def test_a_treatment_by_group_takes_the_place_of_the_one_asked_for():
    found = asked(command(GIVEN, {"lam": {"F": 0.1, "M": 0.15}}, "next"))
    assert values.by_name("lam", found.options["lam"]) == {"F": 0.1, "M": 0.15}
    assert found.options["limits"] == "DI=0.9"


def test_another_attribute_forgets_the_groups_of_the_first():
    found = asked(command(GIVEN, {"by": ["race", "sex"]}, "next")).options
    assert found["by"] == ["race", "sex"]
    assert not {"group_a", "lam", "benefit_threshold"} & set(found)
    one = Given("audit", ("a.csv",), {"by": ["sex"], "lam": "0.2", "benefit_threshold": "0.1"})
    assert asked(command(one, {"by": ["race", "sex"]}, "next")).options["lam"] == "0.2"


@pytest.mark.parametrize("name", [*NAMES, "a'b\"c", "new\nline", " space ", "*", "$(rm x)", "!"])
def test_any_name_survives_the_shell(name):
    held = Given("audit", (f"{name}.csv",), {"by": [name], "label": name})
    found = asked(command(held, {"group_a": name, "group_b": "-" + name}, "next"))
    assert (found.options["group_a"], found.options["group_b"], found.options["label"]) == (name, "-" + name, name)
    assert found.options["by"] == [name]
    assert found.files[0].removeprefix("./") == f"{name}.csv"


def test_follow_ups_have_folders_of_their_own():
    spell = speller(Given("audit", ("a.csv",), {"out": "elsewhere/x"}))
    assert [spell({"level": 0.99}).split()[-1] for _ in range(3)] == ["audit-card-2", "audit-card-3", "audit-card-4"]
    spell = speller(Given("audit", ("a.csv",), {"out": "audit-card-2"}))
    assert spell({"level": 0.99}).split()[-1] == "audit-card-2-2"


def test_a_command_says_what_it_changes():
    found = parameters_of(["gap", "--dataset", "cdc_diabetes", "--attribute", "age", "--age-bands", "18-24 v 80+"])
    assert list(found["age_bands"]) == ["18–24", "80+"]
    assert parameters_of(["audit", "a.csv", "--threshold", "0.14"])["threshold"] == 0.14


# -- parameters ---------------------------------------------------------------------------------------------------


def written(folder, held):
    path = folder / "params.json"
    path.write_text(held if isinstance(held, str) else json.dumps(held), encoding="utf-8")
    return path


FULL = {
    "dataset": "cdc_diabetes", "attribute": "age", "age_bands": ["18–24", "80+"], "group_a": "80+", "group_b": "18-24",
    "threshold": 0.3, "target_prevalence": 0.05, "model": "logistic", "multiverse": False, "byo_confusion": "",
}  # fmt: skip


def test_all_parameters_are_options(tmp_path):
    found = params.with_params(Given("gap", (), {"params": str(written(tmp_path, FULL)), "lam": "0.2", "out": "x"}))
    typed = parse(
        ["gap", "--dataset", "cdc_diabetes", "--attribute", "age", "--age-bands", "18–24 v 80+", "--group-a", "80+",
         "--group-b", "18-24", "--threshold", "0.3", "--target-prevalence", "0.05", "--model", "logistic",
         "--no-multiverse", "--lam", "0.2", "--out", "x"]
    )  # fmt: skip
    assert found == typed
    cohort, options = gap.plan(found)
    assert (cohort.age_bands, cohort.model, options.group_b) == (("18–24", "80+"), "logistic", "18–24")


def test_blanks_are_defaults(tmp_path):
    blank = dict.fromkeys(FULL, None) | {"dataset": "cdc_diabetes", "attribute": "sex", "model": "", "age_bands": []}
    found = gap.plan(params.with_params(Given("gap", (), {"params": str(written(tmp_path, blank))})))
    assert found == gap.plan(parse(["gap", "--dataset", "cdc_diabetes", "--attribute", "sex"]))


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"dataset": "x", "attribute": "sex"}, 'dataset is "x"; allowed: diabetes130, cdc_diabetes, brfss2022_heart'),
        ({"dataset": "cdc_diabetes"}, "lacks attribute; allowed: sex, age, race"),
        ({"attribute": "sex"}, "lacks dataset; allowed: diabetes130"),
        ({}, "lacks dataset"),
        ({"datset": "cdc_diabetes"}, "unknown parameter 'datset'; the allowed ones are dataset, attribute, age_bands"),
        (FULL | {"model": "forest"}, 'model is "forest"; allowed: auto, '),
        (FULL | {"multiverse": "yes"}, 'multiverse is "yes"; allowed: true, false'),
        (FULL | {"threshold": True}, "threshold is true; allowed: train_prevalence, top20"),
        (FULL | {"threshold": [0.3]}, "threshold is \\[0.3\\]; allowed"),
        (FULL | {"group_a": 3}, "group_a is 3; allowed: the name of a group"),
        (FULL | {"age_bands": ["18–24"]}, "is not two bands"),
        (FULL | {"age_bands": {"a": 1}}, "age_bands is .*; allowed: two bands"),
        (FULL | {"byo_confusion": "A:1,2,3,4; B:1,2,3,4"}, "byo_confusion and dataset exclude each other"),
        ({"byo_confusion": ["A"]}, "allowed: text such as"),
        ([1], "must be one JSON object"),
        ("{", "is not JSON"),
        ('{"dataset": "a", "dataset": "b"}', "has 'dataset' twice"),
        ('{"threshold": NaN}', "holds NaN, which is no number"),
        ("[" * 100_000, "is not JSON"),
        ("\x00", "is not JSON"),
    ],
)
def test_errors_of_parameters(tmp_path, held, said):
    with bad(said):
        params.with_params(Given("gap", (), {"params": str(written(tmp_path, held))}))


def test_what_the_file_could_say_cannot_be_typed_beside_it(tmp_path, capsys):
    path = written(tmp_path, {"dataset": "cdc_diabetes", "attribute": "sex"})
    for words in (["--threshold", "0.3"], ["--no-multiverse"], ["--target-prevalence", "0.1"], ["--model", "auto"]):
        said = refused(capsys, "gap", "--params", path, *words, "--out", tmp_path / "x")
        assert f"{words[0].replace('no-', '')} beside --params" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--attribute sex", "--dataset is missing"),
        ("--dataset cdc_diabetes --attribute race", "no comparison of cdc_diabetes by race: choose one of"),
        ("--dataset cdc_diabetes --attribute sex --age-bands 18-24,80+", "only for an age comparison"),
        ("--dataset cdc_diabetes --attribute age --age-bands 18-26,80+", "must be made of whole recorded bands"),
        ("--dataset cdc_diabetes --attribute sex --group-a W", "'W' is no group of cdc_diabetes by sex: 'Male'"),
        ("--dataset cdc_diabetes --attribute sex --threshold prevalence", "write train_prevalence"),
        ("--dataset cdc_diabetes --attribute sex --max-rows 0", "max_rows"),
        ("--dataset cdc_diabetes --attribute sex --jobs 0", "--jobs 0"),
        ("--dataset cdc_diabetes --attribute sex --threshold 1.5", "threshold must lie between 0 and 1"),
    ],
)  # fmt: skip
def test_errors_of_a_gap(capsys, tmp_path, words, said):
    assert said in refused(capsys, "gap", *words.split(), "--out", tmp_path / "x")
    assert not (tmp_path / "x").exists()
