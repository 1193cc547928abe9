"""Read Dynamo's texts about graph breaks, and find the user's line in a stack (child only)."""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import torch

from tclint.verify.events import Break, Frame

_FRAME = re.compile(r'^ *File "(.+?)", line (\d+), in (.+)$', re.M)
_PLACE = re.compile(r"Graph break in user code at (.*):(\d+)")
_GB_ID = re.compile(r"/(gb\d+)\.html")
# Torch's own advice, as in "Set `torch._dynamo.config.capture_scalar_outputs = True`".
_SETTING = re.compile(r"torch\._dynamo\.config\.(\w+) = True")
_PREFACES = (
    "Encountered graph break when attempting to",
    "Failed to handle graph break gracefully",
    "Graph Break Reason:",
    "Graph break in user code at",
)
# "User-inserted graph break": inside torch's own files it is meant to be there.
_INSERTED = "GB0025"

_TORCH = str(Path(torch.__file__).parent)
# Stepping an optimizer that has a scheduler calls a wrapper that Dynamo is told to leave alone.
_OPTIMIZERS = str(Path(_TORCH, "optim"))
# What DistributedDataParallel and fully_shard do around the module, by themselves.
_PARALLEL = (
    str(Path(_TORCH, "nn", "parallel", "distributed.py")),
    str(Path(_TORCH, "distributed", "fsdp")),
)
_STANDARD = sysconfig.get_paths()["stdlib"]
_OURS = str(Path(__file__).parent)


def read_break(payload: str) -> Break:
    """Read one graph break from Dynamo's text about it."""
    head = payload.split("\nTraceback (most recent call last)", maxsplit=1)[0]
    message, _, user = head.partition("User code traceback:")
    if not user:
        message, _, user = head.partition("from user code:")
    stack = read_stack(user or message)
    place = _PLACE.search(message)
    if not stack and place:
        stack = (Frame(place[1], int(place[2]), "?"),)
    gb_ids = tuple(dict.fromkeys(found.upper() for found in _GB_ID.findall(message)))
    at = user_frame(stack)
    reason, explanation = _reason(message)
    innermost = stack[-1].filename if stack else ""
    inserted = innermost.startswith(_TORCH) and gb_ids[:1] == (_INSERTED,)
    return Break(
        gb_id=gb_ids[0] if gb_ids else None,
        gb_ids=gb_ids,
        reason=reason,
        explanation=explanation,
        filename=at.filename,
        row=at.row,
        stack=stack,
        drops_frame="falling back to eager" in message,
        settings=tuple(dict.fromkeys(_SETTING.findall(message))),
        by_torch=inserted or f"`{_OPTIMIZERS}" in explanation or _wraps_module(stack),
    )


def merge_breaks(found: Iterator[Break]) -> tuple[Break, ...]:
    """Drop repetitions: Dynamo meets a break once per frame that it tries to compile around it."""
    unique: dict[tuple[str | None, str, int], Break] = {}
    for one in found:
        inner = one.stack[-1] if one.stack else Frame(one.filename, one.row, "?")
        unique.setdefault((one.gb_id, inner.filename, inner.row), one)
    return tuple(unique.values())


def user_frame(stack: tuple[Frame, ...]) -> Frame:
    """The last frame of the user's code; of a library's, where the user has none."""
    own = [frame for frame in stack if not _is_library(frame.filename)]
    outside_torch = [frame for frame in stack if not frame.filename.startswith(_TORCH)]
    for frames in (own, outside_torch, stack):
        if frames:
            return frames[-1]
    return Frame("?", 0, "?")


def _wraps_module(stack: tuple[Frame, ...]) -> bool:
    own = [number for number, frame in enumerate(stack) if not _is_library(frame.filename)]
    below = stack[own[-1] + 1 if own else 0 :]
    return any(frame.filename.startswith(_PARALLEL) for frame in below)


def _is_library(filename: str) -> bool:
    generated = os.environ.get("TORCHINDUCTOR_CACHE_DIR", _OURS)
    return (
        filename.startswith((_TORCH, _STANDARD, _OURS, generated, "<"))
        or "site-packages" in filename
        or "dist-packages" in filename
    )


def read_stack(text: str) -> tuple[Frame, ...]:
    """The frames in a printed stack, from below this program's own ones."""
    frames = [Frame(file, int(row), name) for file, row, name in _FRAME.findall(text)]
    return own_frames(tuple(frames))


def own_frames(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """What the target called, without how this program came to call it."""
    ours = [i for i, frame in enumerate(frames) if frame.filename.startswith(_OURS)]
    return tuple(frames[ours[-1] + 1 :] if ours else frames)


def _reason(message: str) -> tuple[str, str]:
    lines = [line.strip() for line in message.splitlines()]
    explanation = next((s[13:] for s in lines if s.startswith("Explanation: ")), "")
    bare = [line.removeprefix("Graph Break Reason: ") for line in lines]
    for line in bare:
        if line and not line.startswith(_PREFACES):
            return line, explanation
    return "unknown reason", explanation
