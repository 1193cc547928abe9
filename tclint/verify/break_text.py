"""Read what Dynamo says of breaks and recompiles, and find the user's line; needs no torch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tclint.records import record
from tclint.verify.events import Break, Frame, Recompile

_FRAME = re.compile(r'^ *File "(.+?)", line (\d{1,9}), in (.+)$', re.M)
# Neither is tried again within what it has gone through: a text may repeat the beginning.
_PLACE = re.compile(r"Graph break in user code at ((?:(?!Graph break in ).)*):(\d{1,9})")
_GUARDED = re.compile(r"(?<!\S)(\S+\.py|In\[\d{1,9}\]):(\d{1,9}) in ")
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

# Stepping an optimizer that has a scheduler calls a wrapper that Dynamo is told to leave alone.
_OPTIMIZERS = "optim"
# What DistributedDataParallel and fully_shard do around the module, by themselves.
_PARALLEL = ("nn/parallel/distributed.py", "distributed/fsdp")
_PACKAGES = ("site-packages", "dist-packages")
# Where Inductor writes the code that it makes, unless told otherwise.
_GENERATED = "torchinductor_"


@record(frozen=True)
class Libraries:
    """The folders whose code is not the user's, on the machine where the stacks were made.

    ``torch`` is torch's own folder, ``others`` are those of the standard library, of generated
    code, and of this program.
    """

    torch: str
    others: tuple[str, ...] = ()

    def holds(self, filename: str) -> bool:
        """Whether a file is a library's."""
        return filename.startswith((self.torch, *self.others, "<")) or any(
            name in filename for name in (*_PACKAGES, _GENERATED)
        )

    def within_torch(self, *parts: str) -> tuple[str, ...]:
        """Folders and files of torch, as stacks name them."""
        return tuple(str(Path(self.torch, part)) for part in parts)


def read_break(payload: str, libraries: Libraries, ours: str = "") -> Break:
    """Read one graph break from Dynamo's text about it; frames from ``ours`` up are left out."""
    head = payload.split("\nTraceback (most recent call last)", maxsplit=1)[0]
    message, _, user = head.partition("User code traceback:")
    if not user:
        message, _, user = head.partition("from user code:")
    stack = read_stack(user or message, ours)
    place = _PLACE.search(message)
    if not stack and place:
        stack = (Frame(place[1], int(place[2]), "?"),)
    gb_ids = tuple(dict.fromkeys(found.upper() for found in _GB_ID.findall(message)))
    at = user_frame(stack, libraries)
    reason, explanation = _reason(message)
    innermost = stack[-1].filename if stack else ""
    inserted = innermost.startswith(libraries.torch) and gb_ids[:1] == (_INSERTED,)
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
        by_torch=inserted
        or any(f"`{folder}" in explanation for folder in libraries.within_torch(_OPTIMIZERS))
        or _wraps_module(stack, libraries),
    )


def read_recompile(
    compile_id: str, reason: str, failed: str, at: Frame, libraries: Libraries, ours: str = ""
) -> Recompile:
    """Read why a guard failed; ``at`` is where the function begins, the place if no better is."""
    first = reason.split("\n", maxsplit=1)[0].split(": ", 1)[-1]
    guard, _, where = first.partition("  # ")
    file, row = at.filename, at.row
    if stack := read_stack(reason, ours):
        inner = user_frame(stack, libraries)
        file, row = inner.filename, inner.row
    elif place := _GUARDED.search(where):
        file, row = (at.filename if at.filename != "?" else place[1]), int(place[2])
    return Recompile(
        compile_id=compile_id,
        reason=guard.strip(),
        filename=file,
        row=row,
        limit_reached="limit" in failed.split("\n", maxsplit=1)[0],
    )


def placed(recompiles: Iterable[Recompile]) -> tuple[Recompile, ...]:
    """Older torch does not say where the limit was reached: where the frame was last compiled."""
    known: dict[str, Recompile] = {}
    found = []
    for again in recompiles:
        frame = again.compile_id.split("/", maxsplit=1)[0]
        last = known.get(frame)
        if again.row == 0 and last is not None:
            again = replace(again, filename=last.filename, row=last.row)  # noqa: PLW2901
        known[frame] = again
        found.append(again)
    return tuple(found)


def merge_breaks(found: Iterable[Break]) -> tuple[Break, ...]:
    """Drop repetitions: Dynamo meets a break once per frame that it tries to compile around it."""
    unique: dict[tuple[str | None, str, int], Break] = {}
    for one in found:
        inner = one.stack[-1] if one.stack else Frame(one.filename, one.row, "?")
        unique.setdefault((one.gb_id, inner.filename, inner.row), one)
    return tuple(unique.values())


def user_frame(stack: tuple[Frame, ...], libraries: Libraries) -> Frame:
    """The last frame of the user's code; of a library's, where the user has none."""
    own = [frame for frame in stack if not libraries.holds(frame.filename)]
    outside_torch = [frame for frame in stack if not frame.filename.startswith(libraries.torch)]
    for frames in (own, outside_torch, stack):
        if frames:
            return frames[-1]
    return Frame("?", 0, "?")


def _wraps_module(stack: tuple[Frame, ...], libraries: Libraries) -> bool:
    own = [number for number, frame in enumerate(stack) if not libraries.holds(frame.filename)]
    below = stack[own[-1] + 1 if own else 0 :]
    return any(frame.filename.startswith(libraries.within_torch(*_PARALLEL)) for frame in below)


def read_stack(text: str, ours: str = "") -> tuple[Frame, ...]:
    """The frames in a printed stack, from below this program's own ones, those in ``ours``."""
    frames = [Frame(file, int(row), name) for file, row, name in _FRAME.findall(text)]
    return frames_below(tuple(frames), ours)


def frames_below(frames: tuple[Frame, ...], ours: str) -> tuple[Frame, ...]:
    """What the target called, without how the program in ``ours`` came to call it."""
    own = [i for i, frame in enumerate(frames) if ours and frame.filename.startswith(ours)]
    return tuple(frames[own[-1] + 1 :] if own else frames)


def _reason(message: str) -> tuple[str, str]:
    lines = [line.strip() for line in message.splitlines()]
    explanation = next((s[13:] for s in lines if s.startswith("Explanation: ")), "")
    bare = [line.removeprefix("Graph Break Reason: ") for line in lines]
    for line in bare:
        if line and not line.startswith(_PREFACES):
            return line, explanation
    return "unknown reason", explanation
