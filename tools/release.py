"""Lay out what a release offers for download, and print its notes.

    python tools/release.py --tag v0.1.0 > notes.md    everything in dist/, the notes on standard output
    python tools/release.py --tag v0.1.0 --check       only: do tag, package, citation and changelog agree?

`dist/` gets the built site and the committed source as archives, a wheel and an sdist where setuptools can build them,
the PDF where build/ has one, and SHA256SUMS (`sha256sum --check SHA256SUMS`). The site's and the source's archives are
the same bytes for the same files: names are sorted, and times are SOURCE_DATE_EPOCH or the last commit's.
Only Python's own library is needed, and git.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib.metadata
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "auditlib-book"
SETUPTOOLS = 77  # what pyproject.toml asks for
# The folder is kept by name: setuptools puts words of its own into sys.argv.
BUILD = "import sys; from setuptools import build_meta as b; out = sys.argv[1]; b.build_sdist(out); b.build_wheel(out)"


def newest(root: Path) -> tuple[str, str, str]:
    """Return version, remark in brackets ("" if none) and text of the newest section of CHANGELOG.md.

    Raises ValueError when there is no heading of the form ``## 1.2.3`` or ``## 1.2.3 (remark)``.
    """
    sections = re.split(r"^## +", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    heading, _, text = (sections[1] if len(sections) > 1 else "").partition("\n")
    found = re.fullmatch(r"v?(\d\S*)(?: +\((.+)\))?", heading.strip())
    if not found:
        raise ValueError("CHANGELOG.md: the newest heading is not of the form '## 1.2.3 (date)'")
    return found[1], found[2] or "", text.strip() + "\n"


def versions(root: Path, tag: str | None) -> dict[str, str | None]:
    """Return the version that each place names; None where a place has none."""

    def first(pattern: str, name: str) -> str | None:
        path = root / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        found = re.search(pattern, text, re.MULTILINE)
        return found[1] if found else None

    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = {
        "pyproject.toml": project.get("version"),
        "CITATION.cff": first(r"""^version: *["']?([^\s"'#]+)""", "CITATION.cff"),
        "CHANGELOG.md": newest(root)[0],
    }
    inside = first(r"""^__version__(?:: str)? = ["']([^"']+)""", "auditlib/__init__.py")
    return stated | ({"auditlib": inside} if inside else {}) | ({"tag": tag.removeprefix("v")} if tag else {})


def disagreements(root: Path, tag: str | None) -> list[str]:
    """Return what keeps this state from being released as `tag`, one sentence each; without a tag, dates are free."""
    try:
        stated = versions(root, tag)
    except ValueError as error:
        return [str(error)]
    wrong = [f"the tag {tag} does not begin with v"] if tag and not tag.startswith("v") else []
    if len(set(stated.values())) > 1:
        wrong.append("versions differ: " + ", ".join(f"{place} {version}" for place, version in stated.items()))
    if tag:
        remark = newest(root)[1]
        citation = (root / "CITATION.cff").read_text(encoding="utf-8")
        released = re.search(r"""^date-released: *["']?([\d-]+)""", citation, re.MULTILINE)
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", remark):
            wrong.append(f"CHANGELOG.md: {stated['CHANGELOG.md']} has no date ({remark or 'nothing in brackets'})")
        elif not released or released[1] != remark:
            wrong.append(f"CITATION.cff: date-released is {released[1] if released else 'missing'}, not {remark}")
    return wrong


def epoch(root: Path) -> int:
    """Seconds since 1970 that all files of an archive carry."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    return int(_git(root, "log", "-1", "--format=%ct"))


def _git(root: Path, *words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=root, check=True, stdout=subprocess.PIPE).stdout


def pack(folder: Path, archive: Path, top: str, when: int) -> None:
    """Pack the files of `folder` below `top/`: sorted, of one time, nobody's, readable by all."""
    with _tar(archive, when) as tar:
        for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
            if path.is_file():
                _add(tar, f"{top}/{path.relative_to(folder).as_posix()}", path.read_bytes(), when)


def source(root: Path, archive: Path, top: str, when: int) -> None:
    """Pack what the last commit holds; what is not committed is not released."""
    with _tar(archive, when) as tar, tarfile.open(fileobj=io.BytesIO(_git(root, "archive", "HEAD"))) as committed:
        for member in sorted(committed.getmembers(), key=lambda member: member.name):
            content = committed.extractfile(member) if member.isfile() else None
            if content:
                _add(tar, f"{top}/{member.name}", content.read(), when, member.mode & 0o755)


class _tar(tarfile.TarFile):
    """A new .tar.gz whose gzip header, too, has the time it is told."""

    def __init__(self, archive: Path, when: int) -> None:
        self._file = archive.open("wb")
        self._packed = gzip.GzipFile("", "wb", compresslevel=9, fileobj=self._file, mtime=when)
        super().__init__(fileobj=self._packed, mode="w", format=tarfile.PAX_FORMAT)

    def close(self) -> None:
        super().close()
        self._packed.close()
        self._file.close()


def _add(tar: tarfile.TarFile, name: str, content: bytes, when: int, mode: int = 0o644) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = len(content), when, mode
    tar.addfile(member, io.BytesIO(content))


def can_build() -> bool:
    """Tell whether this Python's setuptools is new enough for the wheel and the sdist."""
    try:
        return int(importlib.metadata.version("setuptools").split(".")[0]) >= SETUPTOOLS
    except importlib.metadata.PackageNotFoundError:
        return False


def distributions(archive: Path, out: Path, when: int) -> None:
    """Build wheel and sdist from the source's archive, so that nothing lying about gets in."""
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        (top,) = Path(scratch).iterdir()
        words = [sys.executable, "-c", BUILD, str(out.resolve())]
        known = os.environ | {"SOURCE_DATE_EPOCH": str(when)}
        subprocess.run(words, cwd=top, check=True, stdout=subprocess.DEVNULL, env=known)


def checksums(out: Path) -> None:
    """Write SHA256SUMS over the files in `out`, in the form that sha256sum checks."""
    files = sorted(path for path in out.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def release(root: Path, site: Path, out: Path) -> list[str]:
    """Fill `out`, which must be empty or absent, and return the names of the files.

    Raises
    ------
    ValueError
        Where there is no built site, `out` holds something, or build/ has several PDFs.
    """
    if not (site / "index.html").exists():
        raise ValueError(f"{site} holds no built site: run `make book`")
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} is not empty")
    printed = sorted((root / "build").glob("*.pdf"))
    if len(printed) > 1:
        raise ValueError(f"which is the book? {', '.join(path.name for path in printed)}")
    out.mkdir(parents=True, exist_ok=True)
    when, stem = epoch(root), f"{NAME}-{newest(root)[0]}"
    pack(site, out / f"{stem}-site.tar.gz", f"{stem}-site", when)
    source(root, out / f"{stem}-source.tar.gz", f"{stem}-source", when)
    if printed:
        shutil.copy(printed[0], out / f"{stem}.pdf")
    if can_build():
        distributions(out / f"{stem}-source.tar.gz", out, when)
    else:
        print(f"left out: wheel and sdist, which need setuptools {SETUPTOOLS} or newer", file=sys.stderr)
    checksums(out)
    return sorted(path.name for path in out.iterdir())


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tag", help="the release's tag, such as v0.1.0; without it dates are not asked for")
    parser.add_argument("--check", action="store_true", help="only check that versions agree")
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--site", type=Path, help="default: build/site")
    parser.add_argument("--out", type=Path, help="default: dist")
    options = parser.parse_args(words)
    root = options.root.resolve()
    wrong = disagreements(root, options.tag)
    if not wrong and not options.check:
        try:
            names = release(root, options.site or root / "build" / "site", options.out or root / "dist")
            print(*names, sep="\n", file=sys.stderr)
            print(newest(root)[2], end="")
        except ValueError as error:
            wrong = [str(error)]
    for line in wrong:
        print(line, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
