"""Audits of every kind, made from a seed, for tests of folders and checks."""

import numpy as np
import pandas as pd

import auditlib as al
from auditlib.command.main import main

CASE14 = "Women:80,40,800,30; Men:120,90,700,25"
#: Names of several scripts, and such as break HTML, Markdown, spreadsheets and shells.
NAMES = (
    *(
        "A",
        "ward 12",
        "Ж",
        "女性",
        "مريض",
        "Ünïcode",
        "🩺",
        "=cmd()",
        "-x",
        "<b>bold</b>",
        "a|b",
        "`tick`",
        "[link](x)",
    ),
    *("“quoted”", "it's", "{braces}", "$5-$9", "unfair isle", "5", "12.5%", "a\\b", "x" * 80, "&amp;", "--out", "#tag"),
    *("two\twords", "http://example.org", "*star*", "_under_", "a;b", "1,000", "−3.3", "Q&A <script>", "~", "!", "%s"),
)


def run(capsys, *words):
    """Status, and what was printed, of a command line."""
    status = main([str(word) for word in words])
    said = capsys.readouterr()
    return status, said.out, said.err


def refused(capsys, *words):
    """The one line that says what is wrong."""
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    lines = err.splitlines()
    assert lines[-1].startswith("auditlib: error: ")
    assert sum(line.startswith("auditlib: error") for line in lines) == 1
    assert "Traceback" not in err
    return lines[-1]


def rows(n=400, seed=0, groups=("F", "M"), sites=("north", "south")):
    """People with an outcome, a risk of two decimals, a group, a ward and a hospital."""
    rng = np.random.default_rng(seed)
    risk = rng.beta(2, 5, n).round(2)
    return pd.DataFrame(
        {
            "died": (rng.random(n) < risk).astype(int),
            "risk": risk,
            "sex": rng.choice(list(groups), n),
            "ward": rng.choice(["a", "b", "c"], n),
            "hospital": rng.choice(list(sites), n),
            "patient": rng.integers(0, max(2, n // 2), n),
        }
    )


def generated(seed):
    """An audit of a kind, size, names and options that the seed chooses."""
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.choice(NAMES, rng.integers(2, 7), replace=False)]
    options = {"replicates": 100, "seed": int(rng.integers(100)), "level": float(rng.choice([0.9, 0.95]))}
    if rng.random() < 0.4:
        options |= {"lam": 0.3, "benefit_threshold": 0.1}
    if rng.random() < 0.3:
        options |= {"limits": {"DI": 0.9, "SPD": 0.05}}
    if rng.random() < 0.5:
        cells = rng.integers(0, int(rng.choice([3, 40, 2_000])), (4, len(names)))
        cells[:, 0] += 1  # somebody
        table = al.confusion(**dict(zip(("tp", "fp", "fn", "tn"), cells, strict=True)), group=names)
        return al.audit(table, name="typed {in}", **options)
    frame = rows(int(rng.choice([30, 300, 900])), seed, names, [str(s) for s in rng.choice(NAMES, 3, replace=False)])
    frame.loc[:1, ["died", "sex"]] = [[1, names[0]], [0, names[1]]]
    asked = {"by": ["sex", "ward"] if rng.random() < 0.5 else "sex", "threshold": float(rng.choice([0.2, 1 / 3]))}
    asked |= {"site": "hospital"} if rng.random() < 0.5 else {}
    asked |= {"cluster": "patient"} if rng.random() < 0.3 else {}
    if rng.random() < 0.3:
        options["capacity"] = 0.3
    return al.audit(frame, label="died", score="risk", name="preds|`1`.csv", **asked, **options)
