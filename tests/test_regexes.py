"""A regular expression of a module answers as one that is compiled at once."""

from __future__ import annotations

import re

import pytest

from tclint.regexes import regex


def test_it_answers_as_a_compiled_one() -> None:
    lazy, plain = regex(r"(?P<word>\w+)!", re.IGNORECASE), re.compile(r"(?P<word>\w+)!", re.I)
    text = "one! Two! three"
    for _ in range(2):  # the second time it is compiled
        found, expected = lazy.search(text), plain.search(text)
        assert found is not None
        assert expected is not None
        assert found.groupdict() == expected.groupdict()
        assert [m.span() for m in lazy.finditer(text)] == [m.span() for m in plain.finditer(text)]
        assert lazy.sub(r"\g<word>", text) == plain.sub(r"\g<word>", text)
        assert (lazy.pattern, lazy.flags) == (plain.pattern, plain.flags)
    assert regex(rb"\r|\n").split(b"a\nb") == [b"a", b"b"]


def test_one_that_is_wrong_says_so_when_it_is_used() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.search("")
    with pytest.raises(AttributeError):
        _ = regex("a").no_such_method  # type: ignore[attr-defined]
