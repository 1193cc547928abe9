"""Dynamo's texts and stacks, read in the process that they come from (child only)."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import torch

from tclint.verify import break_text
from tclint.verify.break_text import Libraries, frames_below
from tclint.verify.events import Break, Frame, Recompile

_OURS = str(Path(__file__).parent)
_TORCH = str(Path(torch.__file__).parent)
_STANDARD = sysconfig.get_paths()["stdlib"]


def read_break(payload: str) -> Break:
    """Read one graph break from Dynamo's text about it."""
    return break_text.read_break(payload, _libraries(), _OURS)


def read_recompile(compile_id: str, reason: str, failed: str, at: Frame) -> Recompile:
    """Read why a guard failed."""
    return break_text.read_recompile(compile_id, reason, failed, at, _libraries(), _OURS)


def user_frame(stack: tuple[Frame, ...]) -> Frame:
    """The last frame of the user's code; of a library's, where the user has none."""
    return break_text.user_frame(stack, _libraries())


def read_stack(text: str) -> tuple[Frame, ...]:
    """The frames in a printed stack, from below this program's own ones."""
    return break_text.read_stack(text, _OURS)


def own_frames(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """What the target called, without how this program came to call it."""
    return frames_below(frames, _OURS)


def _libraries() -> Libraries:
    # Each child compiles to a folder of its own.
    generated = os.environ.get("TORCHINDUCTOR_CACHE_DIR", _OURS)
    return Libraries(_TORCH, (_STANDARD, _OURS, generated))
