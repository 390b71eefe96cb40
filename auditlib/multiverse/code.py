"""What the functions of a run are made of, so that a record made by other ones is noticed."""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any


def code_of(*functions: Any) -> str | None:
    """A fingerprint of the functions' own code: the same under another name, in another place, with other comments.

    What they call, what they close over, and data are not in it. None where a function has no code in Python. Versions
    of Python compile differently, so the fingerprint begins with that.

    Examples
    --------
    >>> code_of(lambda x: x + 1) == code_of(lambda x: x + 1), code_of(lambda x: x + 1) == code_of(lambda x: x + 2)
    (True, False)
    """
    found = hashlib.sha256()
    for function in functions:
        code = _code(function)
        if code is None:
            return None
        for part in _parts(code):
            found.update(part)
    return f"{sys.implementation.cache_tag} {found.hexdigest()[:16]}"


def differs(one: Any, other: Any) -> bool:
    """Whether two fingerprints are known to be of other code: of one version of Python, and not equal.

    >>> differs("cpython-311 a", "cpython-311 b"), differs("cpython-311 a", "cpython-312 b"), differs(None, "a b")
    (True, False, False)
    """
    if not (isinstance(one, str) and isinstance(other, str)):
        return False
    return one != other and one.split(" ")[0] == other.split(" ")[0]


def _code(function: Any) -> CodeType | None:
    """The code behind a function, a partial one, a decorated one, a method, or an object that can be called."""
    while isinstance(function, functools.partial):
        function = function.func
    try:
        function = inspect.unwrap(function)
    except ValueError:  # wrapped in itself
        return None
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__"):
        function = inspect.getattr_static(type(function), "__call__", None)
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _parts(code: CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr(code.co_names).encode()
    for held in code.co_consts:
        if isinstance(held, CodeType):
            yield from _parts(held)
        else:  # a set is written in an order that changes from process to process
            yield repr(sorted(map(repr, held)) if isinstance(held, frozenset) else held).encode()
