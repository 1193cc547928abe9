"""Write tclint's tables about torch from the installed torch.

    python -m scripts.torch_facts [--check] [--releases FOLDER]

They are committed, so that linting never needs torch. ``--check`` writes nothing, and names the
tables that the installed torch would change. FOLDER holds a folder for each older release, named
like it (``2.12``), with the Python files of its wheel: by them arguments are found that are new in
functions that are not.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import warnings
from pathlib import Path

import torch

from scripts.torch_facts import api, lifetimes
from scripts.torch_facts.releases import Release
from tclint.torch_facts import lifetimes as lifetimes_table
from tclint.torch_facts import table as api_table
from tclint.torch_facts.lifetimes import version_of


def main() -> int:
    """Write the tables, or compare them; 1 where one differs."""
    parser = argparse.ArgumentParser(prog="python -m scripts.torch_facts", allow_abbrev=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--releases", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    logging.disable()  # calls that torch refuses are a part of the measuring
    warnings.simplefilter("ignore")
    changed = []
    for file, text in tables(asked.releases).items():
        if not file.is_file() or file.read_text("utf-8") != text:
            changed.append(file.name)
            if not asked.check:
                file.write_text(text, encoding="utf-8", newline="\n")
    print(f"changed: {', '.join(changed)}" if changed else "nothing changed")
    return int(asked.check and bool(changed))


def tables(folder: Path | None) -> dict[Path, str]:
    """The text of each table; names first, because building the other imports more of torch."""
    committed = json.loads(lifetimes_table.FILE.read_text("utf-8"))
    living = lifetimes.carried_on(committed, releases(folder))
    return {
        lifetimes_table.FILE: lifetimes.text(living),
        api_table.FILE: api.text(api.build()),
    }


def releases(folder: Path | None) -> list[Release]:
    """The releases in the folder that are older than the installed one, and that."""
    major, minor = torch.__version__.split(".")[:2]
    installed = Release(Path(torch.__file__).parent.parent, (int(major), int(minor)))
    older = [Release(path, version_of(path.name)) for path in folder.iterdir()] if folder else []
    return [
        *sorted((r for r in older if r.version < installed.version), key=lambda r: r.version),
        installed,
    ]


if __name__ == "__main__":
    sys.exit(main())
