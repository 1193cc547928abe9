"""The commands that agents' tools run, each in a process of its own, and what they print."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tclint.children import module_command
from tclint.files import exists
from tclint.records import record

_TOLD = 2_000
"""Characters of what a command says when it fails: the last ones say why."""


class CommandError(Exception):
    """A command could not do what was asked; the message is what it said."""


@record(frozen=True)
class Printed:
    """What a command printed, and what it told beside that."""

    text: str
    told: str

    def json(self) -> Any:
        """The text as JSON.

        Raises:
            CommandError: it is none.
        """
        try:
            return json.loads(self.text)
        except ValueError:
            raise CommandError(self.told or "the command printed nothing") from None


@record(frozen=True)
class Commands:
    """Runs tclint in one folder; nothing outside of it is named to a command."""

    folder: Path

    def run(self, *arguments: str, seconds: float) -> Printed:
        """Run a command to its end.

        Raises:
            CommandError: it fails, or takes longer than ``seconds``.
        """
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
        try:
            done = subprocess.run(
                module_command("tclint", *arguments),
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CommandError(f"not done after {seconds:g} seconds: name less at once") from None
        except (OSError, ValueError) as error:  # too many arguments, or a NUL in one
            raise CommandError(f"cannot be run: {error}") from error
        text, told = (part.decode("utf-8", "replace") for part in (done.stdout, done.stderr))
        if done.returncode not in (0, 1) and not text:
            raise CommandError(told[-_TOLD:].strip())
        return Printed(text, told.strip())

    def within(self, paths: Sequence[str]) -> list[str]:
        """The paths as a command takes them.

        Raises:
            CommandError: one is outside of the folder, or not there.
        """
        return [self._within(path) for path in paths] or ["."]

    def _within(self, path: str) -> str:
        try:
            # `Path.resolve` raises RuntimeError on a loop of links.
            root, full = map(Path, map(os.path.realpath, (self.folder, self.folder / path)))
        except ValueError:
            raise CommandError(f"{path!r}: no file can have that name") from None
        if not full.is_relative_to(root):
            raise CommandError(f"{path} is outside of {root}, where this server works")
        if not exists(full):
            raise CommandError(f"{path} is not there; the folder is {root}")
        # A name never looks like an option.
        return f"./{full.relative_to(root).as_posix()}"
