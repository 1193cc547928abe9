"""Keeps what tclint prints, to show that a change of the code changes none of it.

``python -m scripts.goldens before FOLDER ...`` writes what ``check`` (as JSON and as SARIF), ``fix
--diff`` and ``rule --all`` print over the fixtures and the given folders; after the change,
``python -m scripts.goldens after --against before FOLDER ...`` does so again, shows what differs,
and fails where anything does. Folders are named by their last part and checked one by one, with
``--scope all`` as well: then nearly every function is asked about.
"""

from __future__ import annotations

import argparse
import difflib
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent
COMMANDS: Final = {
    "check.json": ("check", "--no-cache", "--output-format", "json"),
    "check.sarif": ("check", "--no-cache", "--output-format", "sarif"),
    "all.json": ("check", "--no-cache", "--scope", "all", "--output-format", "json"),
    "fix.diff": ("fix", "--diff"),
    "unsafe.diff": ("fix", "--diff", "--unsafe-fixes"),
}
_SHOWN: Final = 40
"""How many lines of one difference are shown."""


def main() -> int:
    """Write the goldens; with ``--against``, compare them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("output", type=Path, help="the folder to write to")
    parser.add_argument("folders", type=Path, nargs="*", help="code to check, besides the fixtures")
    parser.add_argument("--against", type=Path, help="the goldens to compare with")
    options = parser.parse_intermixed_args()
    options.output.mkdir(parents=True, exist_ok=True)
    write(options.output / "rules.md", ("rule", "--all"), REPOSITORY)
    for folder in (REPOSITORY / "fixtures", *options.folders):
        for name, command in COMMANDS.items():
            write(options.output / f"{folder.name}.{name}", (*command, folder.name), folder)
    if options.against is None:
        return 0
    different = [*differences(options.against, options.output)]
    print(*different, sep="\n")
    return int(bool(different))


def write(file: Path, arguments: tuple[str, ...], folder: Path) -> None:
    """Keep what a command prints; its exit code and complaints as well."""
    done = subprocess.run(
        [sys.executable, "-m", "tclint", *arguments],
        cwd=folder.resolve().parent,
        capture_output=True,
        check=False,
    )
    said = done.stdout + done.stderr + b"exit code %d\n" % done.returncode
    file.write_bytes(said.replace(bytes(folder.resolve().parent), b"."))


def differences(before: Path, after: Path) -> Iterator[str]:
    """The beginning of what differs, file by file."""
    names = sorted({path.name for folder in (before, after) for path in folder.iterdir()})
    for name in names:
        old, new = (_lines(folder / name) for folder in (before, after))
        if old != new:
            shown = difflib.unified_diff(old, new, f"before/{name}", f"after/{name}", "", "", 0, "")
            yield from islice(shown, _SHOWN)


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8", "replace").splitlines() if file.exists() else []


if __name__ == "__main__":
    sys.exit(main())
