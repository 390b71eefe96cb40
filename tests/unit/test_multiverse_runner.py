"""The runner: the same table whatever runs it and however often it was stopped."""

import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from auditlib.errors import AuditInputError
from auditlib.multiverse import Grid, Multiverse, read_multiverse, run_multiverse, write_multiverse
from auditlib.multiverse.code import code_of
from auditlib.multiverse.record import Record
from tests.unit.multiverse_tools import GRID, Logged, fitted, judge, mean_risk, prepare

ONCE = ["threshold"]


def whole(**given):
    return run_multiverse(GRID, judge, prepare=prepare, once=ONCE, **given)


def same(one, two):
    pd.testing.assert_frame_equal(one.rows, two.rows, check_exact=True)
    pd.testing.assert_frame_equal(one.replicates, two.replicates, check_exact=True)


def test_rows_are_in_the_order_of_the_grid_with_what_the_judge_found():
    found = whole()
    assert found.rows[["family", "threshold", "seed"]].to_dict("records") == GRID.specifications()
    first = prepare([{"family": "a", "seed": 1}])
    assert found.rows.loc[0, "estimate"] == first[first > 0.84].mean()
    assert found.replicates.loc[0].tolist() == pytest.approx([found.rows.loc[0, "estimate"] + k / 10 for k in range(3)])


def test_a_failing_specification_is_a_row_with_its_error():
    found = whole()
    failed = found.failed
    assert failed[["family", "seed"]].drop_duplicates().values.tolist() == [["b", 3]]
    assert (failed["error"] == "age: nobody of 18–24 has the outcome.").all()
    assert failed[["estimate", "n"]].isna().all(axis=None)
    assert found.replicates.loc[failed.index].isna().all(axis=None)
    assert found.rows.loc[found.rows["error"] == "", "estimate"].notna().all()


def test_what_fails_in_prepare_fails_every_specification_that_shares_it():
    def broken(specifications):
        if specifications[0]["family"] == "c":
            raise ZeroDivisionError("no rows")
        return prepare(specifications)

    rows = run_multiverse(GRID, judge, prepare=broken, once=ONCE).rows
    assert (rows.loc[rows["family"] == "c", "error"] == "ZeroDivisionError: no rows").all()
    assert (rows.loc[rows["family"] == "a", "error"] == "").all()


def test_one_worker_two_workers_and_threads_give_one_table():
    one = whole(n_jobs=1)
    same(one, whole(n_jobs=2))
    with parallel_config(backend="threading", n_jobs=2):
        same(one, whole())


def test_dask_local_cluster_gives_the_same_table():
    """Fits that are parallel themselves must not ask the cluster whose workers wait for them."""
    from dask.distributed import Client, LocalCluster

    fits = Grid("fits", {"family": ["logistic", "shallow_tree"], "seed": [1, 2, 3, 4]})
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster), parallel_config(backend="dask"):
        found = whole(n_jobs=-1)
        deep = run_multiverse(fits, mean_risk, prepare=fitted, once=["family"], n_jobs=-1)
    same(whole(), found)
    alone = run_multiverse(fits, mean_risk, prepare=fitted, once=["family"])
    pd.testing.assert_frame_equal(deep.rows, alone.rows, check_exact=True)


def test_prepare_is_called_once_for_specifications_that_share_it():
    seen = []

    def noted(specifications):
        seen.append([each["threshold"] for each in specifications])
        return prepare(specifications)

    run_multiverse(GRID, judge, prepare=noted, once=ONCE)
    assert seen == [["top20", 0.3]] * 12


def test_a_finished_run_is_read_and_nothing_is_done_again(tmp_path):
    log = tmp_path / "log"
    first = run_multiverse(GRID, Logged(log), path=tmp_path / "record.jsonl")
    again = run_multiverse(GRID, Logged(log), path=tmp_path / "record.jsonl")
    assert len(log.read_text().splitlines()) == len(GRID)
    pd.testing.assert_frame_equal(first.rows, again.rows, check_exact=True)
    assert again.rows["undefined"].isna().all()


def test_failed_specifications_are_kept_too(tmp_path):
    first = whole(path=tmp_path / "record.jsonl")
    same(first, whole(path=tmp_path / "record.jsonl"))
    assert len(first.failed) == 2


PROGRAM = """
import sys
from pathlib import Path
from auditlib.multiverse import run_multiverse
from tests.unit.multiverse_tools import GRID, Logged
folder = Path(sys.argv[1])
run_multiverse(GRID, Logged(folder / "log", 0.05), path=folder / "record.jsonl", n_jobs=int(sys.argv[2]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_killed_half_way_it_goes_on_and_finished_ones_are_not_done_again(tmp_path, workers):
    record, log = tmp_path / "record.jsonl", tmp_path / "log"
    run = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), workers], cwd=Path(__file__).parents[2], start_new_session=True
    )
    deadline = time.time() + 60
    while time.time() < deadline and (not record.exists() or record.read_bytes().count(b"\n") < 8):
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    held = record.read_bytes().count(b"\n") - 1  # under the first line
    assert 7 <= held < len(GRID)
    finished = log.read_text().splitlines()
    resumed = run_multiverse(GRID, Logged(log), path=record)
    later = [line.rsplit(" ", 1)[0] for line in log.read_text().splitlines()[len(finished) :]]
    assert len(later) == len(GRID) - held
    pd.testing.assert_frame_equal(resumed.rows, run_multiverse(GRID, Logged(log)).rows, check_exact=True)


def test_half_a_line_at_the_end_is_dropped_and_done_again(tmp_path):
    path, log = tmp_path / "record.jsonl", tmp_path / "log"
    first = run_multiverse(GRID, Logged(log), path=path)
    text = path.read_bytes()
    for cut in (1, 10, 30):
        path.write_bytes(text[:-cut])
        again = run_multiverse(GRID, Logged(log), path=path)
        pd.testing.assert_frame_equal(first.rows, again.rows, check_exact=True)
        assert path.read_bytes() == text
    path.write_bytes(text[:20])  # not even the first line
    pd.testing.assert_frame_equal(first.rows, run_multiverse(GRID, Logged(log), path=path).rows, check_exact=True)
    assert len(log.read_text().splitlines()) == 2 * len(GRID) + 3


def test_results_of_another_grid_are_refused_and_left_as_they_are(tmp_path):
    path = tmp_path / "record.jsonl"
    run_multiverse(GRID, Logged(tmp_path / "log"), path=path)
    text = path.read_bytes()
    others = {
        r"axes: seed is \[1, 2, 3, 4\] there and \[1, 2\] here": GRID.only(seed=[1, 2]),
        r"settings: max_rows is absent there and 5 here": Grid("example", GRID.axes, GRID.default, {"max_rows": 5}),
        r"default: seed is 1 there and 2 here": Grid("example", GRID.axes, {"seed": 2}),
        r'name is "example" there and "other" here': Grid("other", GRID.axes),
        r"the order or the spelling of its axes": Grid("example", dict(reversed(GRID.axes.items()))),
    }
    for said, grid in others.items():
        with pytest.raises(AuditInputError, match=said):
            run_multiverse(grid, Logged(tmp_path / "log"), path=path)
    assert path.read_bytes() == text


def test_a_setting_that_is_none_is_not_one_that_is_absent(tmp_path):
    path, held = tmp_path / "record.jsonl", {axis: GRID.axes[axis] for axis in ("family", "threshold", "seed")}
    run_multiverse(Grid("example", held, settings={"n": None}), Logged(tmp_path / "log"), path=path)
    with pytest.raises(AuditInputError, match="settings: n is null there and absent here"):
        run_multiverse(Grid("example", held), Logged(tmp_path / "log"), path=path)
    with pytest.raises(AuditInputError, match="settings: n is null there and 1 here"):
        run_multiverse(Grid("example", held, settings={"n": 1}), Logged(tmp_path / "log"), path=path)


def test_a_record_that_another_judge_began_is_used_with_a_warning(tmp_path):
    grid, path = Grid("g", {"x": [1, 2]}), tmp_path / "record.jsonl"

    def first(specification):
        return {"estimate": specification["x"] / 10}

    first_again = eval("lambda specification: {'estimate': specification['x'] / 10}")  # as a notebook's cell, run again
    run_multiverse(grid, first, path=path)
    text = path.read_bytes()
    assert run_multiverse(grid, first_again, path=path).rows["estimate"].tolist() == [0.1, 0.2]
    with pytest.warns(UserWarning, match="was begun with another judge or prepare") as caught:
        rows = run_multiverse(grid, lambda specification: {"estimate": specification["x"] / 5}, path=path).rows
    assert caught[0].filename == __file__  # where the user called
    assert rows["estimate"].tolist() == [0.1, 0.2]
    with pytest.warns(UserWarning, match="another judge or prepare"):
        run_multiverse(grid, lambda s, p: first(s), prepare=lambda s: None, path=path)
    assert path.read_bytes() == text


def test_a_record_without_a_fingerprint_or_of_another_python_is_used_in_silence(tmp_path):
    grid, path = Grid("g", {"x": [1, 2]}), tmp_path / "record.jsonl"
    run_multiverse(grid, lambda s: {"estimate": 0.1}, path=path)
    text = path.read_text()
    code = json.loads(text.splitlines()[0])["code"]
    for other in ("null", '"cpython-27 0123456789abcdef"'):
        path.write_text(text.replace(f'"{code}"', other))
        assert run_multiverse(grid, lambda s: {"estimate": 0.2}, path=path).rows["estimate"].tolist() == [0.1, 0.1]
    path.write_text(text.replace(f', "code": "{code}"', ""))  # of an earlier version
    assert run_multiverse(grid, lambda s: {"estimate": 0.2}, path=path).rows["estimate"].tolist() == [0.1, 0.1]


def test_what_code_is_told_apart():
    def made(k):
        def inner(specification):
            return {"estimate": k}

        return inner

    assert code_of(made(1)) == code_of(made(2))  # what is closed over is not seen, and the docstring says so
    assert code_of(partial(judge, fitted=3)) == code_of(judge) != code_of(prepare)
    assert code_of(Logged(Path("a"))) == code_of(Logged(Path("b"))) == code_of(Logged.__call__)
    assert code_of(functools.lru_cache(judge)) == code_of(judge)
    assert code_of(type("Heir", (Logged,), {})(Path("c"))) == code_of(Logged.__call__)
    assert code_of(len) is None
    assert code_of(judge, len) is None
    assert code_of(lambda s: [x + 1 for x in s]) != code_of(lambda s: [x + 2 for x in s])  # code within code
    assert code_of(lambda s: np.mean(s)) != code_of(lambda s: np.median(s))
    program = "from auditlib.multiverse.code import code_of; print(code_of(lambda s: s in {'a', 'b', 'c', 'd'}))"
    told = {
        subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1
    assert told.pop().startswith("cpython-")


def test_a_record_and_a_table_are_not_taken_for_each_other(tmp_path):
    found = whole(path=tmp_path / "record.jsonl")
    with pytest.raises(
        AuditInputError, match=r"is the record of a run, which goes on with run_multiverse\(grid, judge"
    ):
        read_multiverse(tmp_path / "record.jsonl")
    write_multiverse(found, tmp_path / "table.csv")
    with pytest.raises(AuditInputError, match=r"name another \(a table of write_multiverse is read by read_multiverse"):
        whole(path=tmp_path / "table.csv")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda lines: [*lines[:3], b"not JSON", *lines[3:]], "line 4: no result of this grid"),
        (lambda lines: [*lines, b'{"specification": 99, "row": {"error": ""}}'], "line 26: no result of this grid"),
        (lambda lines: [*lines, b'{"specification": 1, "row": {"estimate": 2}}'], "line 26: no result of this grid"),
        (lambda lines: [*lines, b'{"specification": 1, "row": {"error": "x"}}'], "specification 1 has two different"),
        (lambda lines: [*lines, b'{"specification": 1, "row": {"error": "", "seed": 9}}'], "line 26: no result"),
        (lambda lines: [*lines, b'{"specification": 1, "row": {"error": "", "a": [1]}}'], "line 26: no result"),
        (lambda lines: [*lines, b'{"specification": 1, "row": {"error": "", "replicates": 5}}'], "line 26: no result"),
        (lambda lines: [*lines, b'{"specification": 1, "row": {"error": "", "replicates": ["x"]}}'], "line 26: no"),
        (lambda lines: [b"{}", *lines[1:]], "no record of a multiverse"),
        (lambda lines: [b"\xff\xfe", *lines[1:]], "no record of a multiverse"),
    ],
)
def test_damaged_records_are_refused_by_line(tmp_path, damage, said):
    path = tmp_path / "record.jsonl"
    run_multiverse(GRID, Logged(tmp_path / "log"), path=path)
    path.write_bytes(b"\n".join(damage(path.read_bytes().splitlines())) + b"\n")
    text = path.read_bytes()
    with pytest.raises(AuditInputError, match=said):
        run_multiverse(GRID, Logged(tmp_path / "log"), path=path)
    assert path.read_bytes() == text


def test_a_file_that_is_something_else_is_not_touched(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes")
    with pytest.raises(AuditInputError, match="no record of a multiverse"):
        run_multiverse(GRID, Logged(tmp_path / "log"), path=path)
    assert path.read_text() == "my notes"
    with pytest.raises(AuditInputError, match="cannot be opened"):
        run_multiverse(GRID, Logged(tmp_path / "log"), path=tmp_path / "absent" / "record.jsonl")


def test_two_runs_do_not_write_one_record(tmp_path):
    pytest.importorskip("fcntl", reason="this system has no file locks")
    path = tmp_path / "record.jsonl"

    def inner(specification):
        run_multiverse(GRID, Logged(tmp_path / "log"), path=path)

    rows = run_multiverse(GRID.only(family="a", threshold=0.3, seed=1), inner, path=path).rows
    assert "is being written by another run" in rows.loc[0, "error"]


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (3, "not a mapping"),
        ({"family": 1}, "'family', which is no name of its own"),
        ({"error": "x"}, "'error'"),
        ({"estimate": [1, 2]}, "list under 'estimate'"),
        ({"estimate": object()}, "object under 'estimate'"),
        ({"estimate": "007"}, "str under 'estimate'; give a number"),
        ({"estimate": 10**400}, "too large to be kept exactly"),
        ({" ": 1}, "no name of its own"),
        ({"a\nb": 1}, "no name of its own"),
        ({"replicates": "abc"}, "replicates that are no list of numbers"),
        ({"replicates": []}, "replicates that are no list of numbers"),
        ({"replicates": ["1", "2"]}, "str under 'replicates'"),
    ],
)
def test_what_a_judge_must_not_return_is_its_rows_error(returned, said):
    rows = run_multiverse(GRID, lambda specification: returned).rows
    assert rows["error"].str.contains(said, regex=False).all()


def test_numpy_and_xarray_numbers_are_plain_numbers_in_the_rows():
    import xarray as xr

    found = run_multiverse(
        Grid("g", {"x": [1]}), lambda s: {"a": np.float32(0.5), "b": xr.DataArray(2), "c": np.bool_(True), "d": np.inf}
    )
    assert found.rows.loc[0].to_dict() == {"x": 1, "a": 0.5, "b": 2, "c": True, "d": np.inf, "error": ""}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"once": ["threshold"]}, "give prepare as well"),
        ({"once": ["model"], "prepare": prepare}, "'model' is no axis"),
        ({"once": "threshold", "prepare": prepare}, "give a list of axes"),
        ({"prepare": 3}, "must be functions"),
        ({"n_jobs": 0}, "n_jobs = 0"),
        ({"n_jobs": 1.5}, "n_jobs = 1.5"),
        ({"n_jobs": 10**30}, "n_jobs = 1"),
        ({"once": [["threshold"]], "prepare": prepare}, "is no axis"),
        ({"path": 3}, "give the path of a file"),
    ],
)
def test_what_cannot_be_run_stops_before_anything_is_fitted(given, said):
    with pytest.raises(AuditInputError, match=said):
        run_multiverse(GRID, judge, **given)


def test_what_is_masked_or_nan_is_missing_and_not_a_number():
    masked = np.ma.array([0.5, 0.7], mask=[True, False])
    found = run_multiverse(Grid("g", {"x": [1]}), lambda s: {"a": masked.mean(), "b": masked[0], "replicates": masked})
    assert found.rows.loc[0, "a"] == 0.7
    assert np.isnan(found.rows.loc[0, "b"])
    assert np.isnan(found.replicates.loc[0, 0])
    assert found.replicates.loc[0, 1] == 0.7


def test_rows_with_another_number_of_replicates_than_most_are_errors():
    found = run_multiverse(GRID, lambda s: {"estimate": 1, "replicates": [0.0] * (3 if s["seed"] == 2 else 4)})
    odd = found.rows["seed"] == 2
    assert (found.rows.loc[odd, "error"] == "judge returned 3 replicates, and mostly 4.").all()
    assert found.rows.loc[odd, "estimate"].isna().all()
    assert (found.replicates.loc[~odd] == 0).all(axis=None)


def test_an_error_that_cannot_be_said_is_a_row_too():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("mute")

    def broken(specification):
        raise Mute

    assert (run_multiverse(GRID, broken).rows["error"] == "Mute: no message").all()


def test_what_cannot_be_sent_to_another_process_is_said(tmp_path):
    lock = threading.Lock()
    with pytest.raises(AuditInputError, match="cannot be sent to another process"):
        run_multiverse(GRID, lambda specification: {"held": lock.locked()}, n_jobs=2)


def test_a_full_disk_is_said_and_what_was_finished_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "record.jsonl"
    first = run_multiverse(GRID, Logged(tmp_path / "log"), path=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]))
    real = Record.append

    def full(self, rows):
        if len(self.done) == 6:
            self._file.close()
            self._file = FullDisk()
        real(self, rows)

    class FullDisk:
        def write(self, text):
            raise OSError(28, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr(Record, "append", full)
    with pytest.raises(AuditInputError, match="No space left on device"):
        run_multiverse(GRID, Logged(tmp_path / "log"), path=path)
    monkeypatch.undo()
    again = run_multiverse(GRID, Logged(tmp_path / "log2"), path=path)
    pd.testing.assert_frame_equal(first.rows, again.rows, check_exact=True)
    assert len((tmp_path / "log2").read_text().splitlines()) == len(GRID) - 6


def test_written_and_read_it_is_the_same(tmp_path):
    found = whole()
    write_multiverse(found, tmp_path / "example.csv")
    again = read_multiverse(tmp_path / "example.csv")
    assert again.grid == found.grid
    same(again, found)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["example.csv", "example.csv.replicates.parquet"]


def test_choices_of_several_kinds_come_back_as_they_were(tmp_path):
    grid = Grid("g", {"t": [0, 0.5, 1], "who": [True, False], "name": ["NA", "a,b", '"', "é"], "k": [1, "two"]})
    found = run_multiverse(grid, lambda s: {"estimate": 0.1, "n": 3})
    assert [type(value) for value in found.rows["t"].unique()] == [int, float, int]
    write_multiverse(found, tmp_path / "kinds.csv")
    pd.testing.assert_frame_equal(read_multiverse(tmp_path / "kinds.csv").rows, found.rows, check_exact=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("# auditlib-multiverse 1", "family,seed"), "no table of a multiverse"),
        (lambda text: text.replace("# {", "# [", 1), "declares no grid"),
        (lambda text: text.replace('"replicates": 3', '"replicates": 2'), "no 2 replicates"),
        (lambda text: text.replace('"replicates": 3', '"replicates": 0'), "cut off, edited"),
        (lambda text: text[: text.rindex("\n", 0, -1) + 1], "cut off, edited"),
        (lambda text: text[:-4], "cut off, edited"),
        (lambda text: text.replace("\na,0.3,1", "\na,0.4,1"), "cut off, edited"),
        (lambda text: text.replace("\n", "\r\n"), "no table of a multiverse"),
        (lambda text: "", "no table of a multiverse"),
    ],
)
def test_tables_that_are_not_what_was_written_are_refused(tmp_path, change, said):
    path = tmp_path / "example.csv"
    write_multiverse(whole(), path)
    path.write_bytes(change(path.read_text(encoding="utf-8")).encode())
    with pytest.raises(AuditInputError, match=said):
        read_multiverse(path)


def test_replicates_of_another_table_are_not_taken_for_its_own(tmp_path):
    one = whole()
    two = Multiverse(one.grid, one.rows, one.replicates + 1)
    write_multiverse(one, tmp_path / "run.2026-01")
    write_multiverse(two, tmp_path / "run.2026-02")
    same(read_multiverse(tmp_path / "run.2026-01"), one)
    same(read_multiverse(tmp_path / "run.2026-02"), two)
    beside = tmp_path / "run.2026-01.replicates.parquet"
    beside.write_bytes((tmp_path / "run.2026-02.replicates.parquet").read_bytes())
    with pytest.raises(AuditInputError, match="taken from another run"):
        read_multiverse(tmp_path / "run.2026-01")
    beside.write_bytes(b"junk")
    with pytest.raises(AuditInputError, match="no 3 replicates of each of 24"):
        read_multiverse(tmp_path / "run.2026-01")
    beside.unlink()
    with pytest.raises(AuditInputError, match="no 3 replicates of each of 24"):
        read_multiverse(tmp_path / "run.2026-01")


def test_a_table_without_replicates_leaves_none_beside_it(tmp_path):
    one = whole()
    write_multiverse(one, tmp_path / "run.csv")
    write_multiverse(Multiverse(one.grid, one.rows), tmp_path / "run.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["run.csv"]
    assert read_multiverse(tmp_path / "run.csv").replicates is None


@pytest.mark.parametrize("path", [3, None, "", ".", "a\0b"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(AuditInputError, match="give the path of a file"):
        read_multiverse(path)
    with pytest.raises(AuditInputError, match="give the path of a file"):
        write_multiverse(run_multiverse(Grid("g", {"x": [1]}), lambda s: {}), path)


def test_what_is_no_multiverse_of_its_grid_is_not_written(tmp_path):
    one = whole()
    for wrong, said in [
        (one.rows, "takes what run_multiverse returns"),
        (Multiverse(one.grid, one.rows[::-1], one.replicates), "not those of the grid in its order"),
        (Multiverse(one.grid, one.rows.drop(columns="seed")), "not those of the grid"),
        (Multiverse(one.grid, one.rows, one.replicates.head(3)), "3 rows of replicates for 24"),
    ]:
        with pytest.raises(AuditInputError, match=said):
            write_multiverse(wrong, tmp_path / "run.csv")
    with pytest.raises(AuditInputError, match="cannot be written"):
        write_multiverse(one, tmp_path / "absent" / "run.csv")
    assert not list(tmp_path.iterdir())
