"""``tclint check --watch``: check again whenever a file changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Final

import typer

from tclint.cli.inputs import Inputs
from tclint.cli.terminal import complain, note
from tclint.errors import UserError
from tclint.files import Version, version_of
from tclint.report.view import count
from tclint.source.discovery import FILE_NAMES

PAUSE: Final = 0.5
"""Seconds between two looks; more when a look itself costs much."""
SHARE: Final = 10
"""Looking may take one part in so many of a processor's time."""

State = dict[str, Version | None]


def watch(inputs: Inputs, gather: Callable[[], Inputs], run: Callable[[Inputs], int]) -> None:
    """Run for ever, until somebody interrupts.

    A configuration that is broken meanwhile is complained of, and looked at again when it changes;
    so is what else keeps a run from its end, such as a baseline that cannot be read.
    """
    state: State | None = None
    broken: State | None = None
    while True:
        began = time.process_time()
        looked = _configurable(inputs)
        if looked != broken:
            try:
                inputs, broken = gather(), None
            except typer.Exit:
                broken = looked
        now = _state(inputs)
        if broken is None and any(looked.get(name) != now[name] for name in _sources(inputs)):
            continue  # It was written while it was read: what was read may be half of it.
        if broken is None and now != state:
            state = now
            _clear()
            try:
                run(inputs)
            except UserError as error:
                complain(str(error))
            except typer.Exit:
                pass  # it has been told
            note(f"Watching {count(len(inputs.files), 'file')}; press Ctrl-C to end.")
            began = time.process_time()
        time.sleep(max(PAUSE, SHARE * (time.process_time() - began)))


def _state(inputs: Inputs) -> State:
    names = (*map(str, inputs.files), *_sources(inputs))
    return {name: version_of(name) for name in names}


def _sources(inputs: Inputs) -> list[str]:
    """The configuration files."""
    return [str(config.source) for config, _ in inputs.parts if config.source]


def _configurable(inputs: Inputs) -> State:
    """The state, with all files that could configure: one that is new may be the broken one."""
    names = (str(Path(*one)) for one in product(inputs.walked, FILE_NAMES))
    return _state(inputs) | {name: version_of(name) for name in names}


def _clear() -> None:
    if sys.stdout.isatty():
        sys.stdout.write("\x1b[2J\x1b[3J\x1b[H")
