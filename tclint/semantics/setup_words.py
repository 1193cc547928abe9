"""The words without which a file sets no compilation, training or hooks up, by its text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tclint.regexes import regex

# Nor do regular expressions, or what is merely optimal or compilable. Each word is asked apart: a
# pattern that starts with a word is found much faster.
_COMPILING: Final = (
    ("compile", regex(r"compile(?!able|r\.is_)(?<!\bre\.compile)(?<![Pp]recompile)")),
    ("jit", regex(r"script(?:_if_tracing)?\(")),
    ("_dynamo", regex(r"_dynamo(?!\.is_|\.(?:eval_frame\.)?OptimizedModule)")),
    ("dynamo_", regex("dynamo_(?:backend|plugin)")),
)
_TRAINING: Final = (("optim", regex(r"optim(?!al|um|i[sz](?:ed|ing|ation))")),)

_QUESTION: Final = regex(r"\b(?:is|has)_\w*$")
"""What asks whether something is compiled (`is_unet_compiled`) compiles nothing."""
_IMPORTED: Final = regex(r"from torch\.optim(?:\.\w+)* import (\([^)]*\)|[^\n(]*)")
_HOOKING: Final = (("register_forward", regex(r"register_forward_(?:pre_)?hook\(")),)


def places(text: str) -> Iterator[int]:
    """Where such words stand in a file."""
    for word, pattern in (*_COMPILING, *_TRAINING, *_HOOKING):
        if word in text:
            starts = (found.start() for found in pattern.finditer(text))
            yield from (at for at in starts if not _QUESTION.search(text, max(at - 40, 0), at))
    for name in _imported(text):
        called = re.compile(rf"{name}\((?<!\w{name}\()")  # not the end of another name
        yield from (found.start() for found in called.finditer(text))


def _imported(text: str) -> Iterator[str]:
    """The names of optimizers that a file imports: `self.opt = Adam(...)` has no other word."""
    if "from torch.optim" in text:
        for found in _IMPORTED.finditer(text):
            for part in found[1].strip("()").split(","):
                yield from re.findall(r"\w+(?=\s*(?:#.*)?$)", part)


def may_compile(text: str) -> bool:
    """Whether a file may compile something."""
    return any(word in text and pattern.search(text) for word, pattern in _COMPILING)


def may_train(text: str) -> bool:
    """Whether a file may make an optimizer."""
    return any(word in text and pattern.search(text) for word, pattern in _TRAINING)
