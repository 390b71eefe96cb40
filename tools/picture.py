"""Draw the README's picture from the committed tables: ``python tools/picture.py``."""

from pathlib import Path

from auditlib import studies
from auditlib.plots import gaps, style

PICTURE = Path(__file__).resolve().parent.parent / "_static" / "gaps.svg"


def picture() -> str:
    """The picture as text, the same for the same tables."""
    style.use()
    return style.svg_text(gaps.reproduction(studies.gap_table()).figure, tight=True)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
