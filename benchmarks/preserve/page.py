"""The page with the figures: each command writes the part that it measured."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.preserve.compare import Case, Difference

INTRODUCTION = """\
# Do fixes keep what programs do?

<!-- Written by `make bench-preserve`; do not edit. -->

A grammar generates programs, each from its number: functions and modules that read, check, print,
count, branch, draw, store, view and write tensors in many forms, some under `from torch import *`.
Others are functions of torch's own Python sources with such pieces inserted (`--real`). tclint
fixes each of them, and every program that a fix changes runs before and after the fix, in these
ways:

- several dtypes (half, bfloat16, float8, double, integers, complex, a mixture), empty, expanded,
  strided and 0-d inputs, NaN, infinities and numbers out of range, one tensor for all arguments, a
  subclass of `Tensor`, numpy arrays, lists, numbers and None where no type is declared
- under autocast, `no_grad`, `inference_mode` and another default dtype
- modules in half and double precision, copied, pickled, subclassed, hooked, with their layers
  replaced; whatever TorchScript takes, scripted (gradients of the first call)
- with arguments, buffers or parameters written before `backward()`
- with `torch.compiler.is_compiling()` true, where a fix asks for it: results, gradients and state
- on a GPU, and with arguments, parameters or buffers on a second device (`--device cuda,cpu`)

After a safe fix all of these agree bit for bit: results with their types, dtypes, devices and
shared memory, what arguments hold afterwards, gradients, exceptions with their text and moment,
output and files, state, signatures, globals and the random generators. Unsafe fixes may differ as
they say, but may not crash on ordinary tensors of one device. Only what [safe does not
cover](fixing.md#what-safe-does-not-cover) may differ, torch's own messages about reads and about
arguments that it refuses, and calls that fail before the fix because TorchScript does not take
them. A use in which the program found differs from one run to the next says nothing, and is
counted apart.
"""


def update(path: Path, heading: str, lines: Sequence[str]) -> None:
    """Write one part of the page, and leave the others as they are."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    parts = {part.split("\n")[0]: part.strip() for part in text.split("\n## ")[1:]}
    parts[heading] = "\n".join([heading, "", *lines])
    whole = "\n".join([INTRODUCTION, *(f"## {part}\n" for part in parts.values())])
    path.write_text(whole, encoding="utf-8")


def fixes_table(fixes: Counter[tuple[str, str]]) -> Iterator[str]:
    """How often each rule's fixes were applied, safe and unsafe."""
    yield "| rule | safe fixes | unsafe fixes |"
    yield "| --- | --- | --- |"
    for code in sorted({code for code, _ in fixes}):
        yield f"| [{code}](rules/{code}.md) | {fixes[code, 'safe']} | {fixes[code, 'unsafe']} |"


def described(case: Case, told: Difference) -> Iterator[str]:
    """A difference, and what the fix does to the program."""
    fixed = case.unsafe if told.kind == "unsafe" else case.safe
    yield f"### {told.kind}: program {case.program.number}, {told.codes}"
    yield f"use {told.use!r}: {told.what}"
    yield "```diff"
    lines = (case.program.text.splitlines(), fixed.text.splitlines())
    yield from [*difflib.unified_diff(*lines, n=50, lineterm="")][3:]
    yield "```"
