"""``auditlib check``: a folder of results once more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from auditlib.audits import Options
from auditlib.card.checks import check_folder, report
from auditlib.card.folder import REPORT, RESULTS
from auditlib.command import audit, gap
from auditlib.command.parser import Given, parse
from auditlib.command.told import one_line, tell
from auditlib.counts.write import save
from auditlib.errors import AuditInputError


def plan(given: Given) -> Path:
    """The folder, which must be there."""
    if len(given.files) != 1:
        raise AuditInputError(f"name one folder to check, such as audit-card; {len(given.files)} were named.")
    return Path(given.files[0])


def run(given: Given) -> int:
    """0 when all passes, 1 when something fails."""
    folder, quiet = plan(given), bool(given.options.get("quiet"))
    try:
        there, held = folder.is_dir(), (folder / RESULTS).is_file()
    except (OSError, ValueError):
        there = held = False
    if not there:
        raise AuditInputError(f"{str(folder)!r} is not a folder.")
    if not held:
        raise AuditInputError(f"{str(folder)!r} holds no {RESULTS}; name a folder that auditlib wrote.")
    checks = check_folder(folder, parameters_of)
    save(folder / REPORT, report(folder, checks))
    shown = [check for check in checks if check.said or not (quiet and check.passed)]
    lines = [f"{'pass' if each.passed else 'FAIL'}  {each.name:<12} {one_line(each.said)}".rstrip() for each in shown]
    tell("".join(f"{line}\n" for line in lines), f"what was found is in {folder / REPORT}.")
    return 0 if all(check.passed for check in checks) else 1


def parameters_of(words: list[str]) -> dict[str, Any]:
    """What a command (without ``auditlib``) asks for; an error if this version cannot read it.

    >>> parameters_of(["audit", "--confusion", "A:1,2,3,4; B:5,6,7,8", "--level", "0.99"])["level"]
    0.99
    """
    given = parse(words)
    options: Options | None = None
    found = dict(given.options)
    if given.command == "audit":
        options = audit.plan(given)
    elif given.command == "gap":
        cohort, options = gap.plan(given)
        if cohort is not None:
            found |= {"age_bands": cohort.age_bands, "model": cohort.model}
    return found | {"files": list(given.files)} | ({} if options is None else options.plain())
