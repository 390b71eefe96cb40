"""How often does each rule of a card's headline apply, where the truth is known?

Two groups and one score: it is logistic in a normal value with mean 1.2 where the outcome comes and 0 where it does
not, with the prevalence of both groups together, which makes it the risk of people who are all of this kind. In
``alike``, ``few`` and ``unequal`` all are (300, 40, and 30 beside 300 with the outcome). In ``prevalence`` the groups
differ in how common the outcome is alone, so that no sensitivity differs at any threshold: the score is the risk in
both groups together, and in neither of them (too high where the outcome is rarer, too low where it is commoner). In the
others it is the risk in group b, and not in group a. In ``gap`` the values of a's people with the outcome are lower by
.4, which lowers its sensitivity at every threshold; in ``crossing`` they are many and spread more widely, so that the
gap is −.04 at the threshold in use and turns round at one that flags three quarters as many; in ``crossing far`` it is
−.15 and turns round only where a fifth as many are flagged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from auditlib.audits import Columns, Options, choices, questions
from auditlib.audits.headline import headline
from auditlib.audits.inputs import source_from
from auditlib.audits.questions import asked_of
from tests.studies.tools import binomial_se

AUDITS, REPLICATES, SEED = 1_000, 200, 20_261


class Setting(NamedTuple):
    """People with and without the outcome in groups a and b; how a's people with it differ from b's."""

    positives: tuple[int, int]
    negatives: tuple[int, int]
    shift: float = 0.0
    spread: float = 1.0


SETTINGS = {
    "alike": Setting((300, 300), (2_700, 2_700)),
    "few": Setting((40, 40), (360, 360)),
    "unequal": Setting((30, 300), (270, 2_700)),
    "prevalence": Setting((240, 600), (2_760, 2_400)),
    "gap": Setting((300, 300), (2_700, 2_700), shift=-0.4),
    "crossing": Setting((3_000, 3_000), (27_000, 27_000), shift=0.35, spread=2.0),
    "crossing far": Setting((600, 600), (5_400, 5_400), shift=-0.3, spread=1.5),
}
MEAN = 1.2  # of the values of people with the outcome
RULES = ("both signs", "PPV turns", "threshold turns", "threshold loses", "survives", "some survive", "chance")


def frame_of(setting: Setting, rng: np.random.Generator) -> pd.DataFrame:
    """Rows of one audit."""
    prevalence = sum(setting.positives) / (sum(setting.positives) + sum(setting.negatives))
    start = np.log(prevalence / (1 - prevalence)) - MEAN**2 / 2
    parts = []
    for place, group in enumerate("ab"):
        shift, spread = (setting.shift, setting.spread) if place == 0 else (0.0, 1.0)
        ill = MEAN + shift + spread * rng.standard_normal(setting.positives[place])
        well = rng.standard_normal(setting.negatives[place])
        risk = 1 / (1 + np.exp(-start - MEAN * np.append(ill, well)))
        parts.append(pd.DataFrame({"y": [1] * len(ill) + [0] * len(well), "risk": risk, "group": group}))
    return pd.concat(parts)


def rule_of(frame: pd.DataFrame, replicates: int) -> str:
    """The rule that gives the headline; only what it looks at is computed."""
    columns = Columns(label="y", score="risk", site=None, cluster=None, positive=None, missing="raise")
    options = Options(replicates=replicates)
    asked = asked_of(source_from(frame, None, None, "group", columns, options, {}), options)
    found = {
        "chance": questions.chance(asked),
        "prevalence": questions.common_prevalence(asked),
        "thresholds": questions.along_thresholds(asked),
        "choices": choices.from_counts(asked),
    }
    results = {"questions": found, "comparison": {"a": "a", "b": "b"}, "input": {"people": len(frame), "unit": "row"}}
    results["options"] = options.plain()
    return headline(results)[0]


def study(
    audits: int = AUDITS, replicates: int = REPLICATES, settings: tuple[str, ...] = tuple(SETTINGS), seed: int = SEED
) -> pd.DataFrame:
    """One line a setting and rule: the share of audits with this headline, and its Monte-Carlo SE."""
    lines = []
    for name in settings:
        rng = np.random.default_rng([seed, list(SETTINGS).index(name)])
        seen = [rule_of(frame_of(SETTINGS[name], rng), replicates) for _ in tqdm(range(audits), desc=name)]
        for rule in RULES:
            share = seen.count(rule) / audits
            line = {"setting": name, "rule": rule, "audits": audits, "share": share}
            lines.append(line | {"share_se": binomial_se(share, audits)})
    return pd.DataFrame(lines)


def run() -> pd.DataFrame:
    return study()
