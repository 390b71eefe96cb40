"""Bytes as lines of text."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator

from auditlib.errors import AuditInputError

LONGEST = 1 << 26  # characters without a line break that no table has
#: Codecs that are no encodings of files.
NO_FILES = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"}
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark begins it
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def check_encoding(encoding: str | None) -> str | None:
    """The codec's own name, or an error if there is none that reads text."""
    if encoding is None:
        return None
    try:
        found = codecs.lookup(encoding)
        codecs.getincrementaldecoder(encoding)
        if getattr(found, "_is_text_encoding", True) and found.name.replace("_", "-") not in NO_FILES:
            return found.name
    except (LookupError, ValueError, TypeError):
        pass
    raise AuditInputError(f"encoding={encoding!r} is no encoding that is known; name one such as utf-8 or cp1252.")


def codec_of(path: str, head: bytes, encoding: str | None) -> str:
    """The encoding to read with: what the mark at the beginning says, else the one named, else UTF-8."""
    marked = next((name for mark, name in MARKS.items() if head.startswith(mark)), None)
    if marked is None:
        return encoding or "utf-8"
    family = "-".join(marked.split("-")[:2])
    if encoding is not None and "-".join(encoding.split("-")[:2]) != family:
        raise AuditInputError(
            f"{path!r} begins with the mark of {family}, not {encoding}; leave encoding= (--encoding) out."
        )
    return marked


def blocks(path: str, pieces: Iterator[bytes], encoding: str | None) -> Iterator[str]:
    """Text in blocks that end with a line break (the last one may not), without NUL."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= 4:
            break
    if not head:
        raise AuditInputError(f"{path!r} is empty.")
    codec = codec_of(path, head, encoding)
    decoder = codecs.getincrementaldecoder(codec)()
    line, held, piece, last = 1, "", head, False
    while True:
        try:
            text = held + decoder.decode(piece, last)
        except UnicodeError as error:
            raise _undecodable(path, codec, encoding, error, line + breaks(held)) from error
        end = len(text) if last else whole_lines(text)
        block, held = text[:end], text[end:]
        if block:
            _check_block(path, block, line)
            line += breaks(block)
            yield block
        if last:
            return
        if len(held) > LONGEST:
            raise AuditInputError(f"{path!r}, line {line:,}: no line break for {LONGEST:,} characters; it is no table.")
        piece = next(pieces, b"")
        last = not piece


def _check_block(path: str, block: str, line: int) -> None:
    if (place := block.find("\0")) >= 0:
        raise AuditInputError(
            f"{path!r}, line {line + breaks(block[:place]):,}: a NUL byte, which text does not have; "
            "the file is damaged, no text, or UTF-16 without its mark (then name encoding=, --encoding)."
        )
    try:
        block.encode()
    except UnicodeEncodeError:  # some encodings spell it
        raise AuditInputError(f"{path!r}: half a character (a surrogate) from line {line:,} on.") from None


def _undecodable(path: str, codec: str, encoding: str | None, error: UnicodeError, line: int) -> AuditInputError:
    where, what = f"line {line:,} or later", "what stands there"
    if isinstance(error, UnicodeDecodeError):
        before = error.object[: error.start].decode(codec.removesuffix("-sig"), "ignore")
        where, what = f"line {line + breaks(before):,}", f"byte 0x{error.object[error.start]:02x}"
    advice = "name the encoding it has, with" if encoding is None else "name another encoding with"
    return AuditInputError(
        f"{path!r}, {where}: {what} cannot be read as {codec.removesuffix('-sig')}; "
        f"if the file is text, {advice} encoding= (--encoding), such as cp1252."
    )


def whole_lines(text: str) -> int:
    """Where the last line break ends. A carriage return at the very end may be half of one."""
    return max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1


def breaks(text: str) -> int:
    """Number of line breaks: LF, CR or CRLF.

    >>> breaks("a\\nb\\r\\nc\\rd")
    3
    """
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def lines(block: str) -> io.StringIO:
    """A block as an iterable of lines, split at LF, CR and CRLF and nowhere else."""
    return io.StringIO(block, newline="")
