"""Write tclint's tables about torch from the installed torch, and from others beside it.

    python -m scripts.torch_facts [--check] [--releases FOLDER]

They are committed, so that linting never needs torch; and so is which release is the newest.
``--check`` writes nothing, and names the files that the installed torch would change. FOLDER holds
a folder for each other release, named like it (``2.12``, ``2.12.1``): an environment that has it,
such as ``make torch-facts`` makes, or the Python files of its wheel alone. An environment is asked
what its ``torch.compile`` accepts and what Dynamo skips; files tell which names and arguments are
new.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import warnings
from pathlib import Path

import torch

from scripts.torch_facts import api, lifetimes
from scripts.torch_facts.releases import Release, Version
from scripts.torch_facts.told import told_by
from tclint.torch_bounds import releases as bounds_module
from tclint.torch_bounds.releases import minor_version
from tclint.torch_facts import lifetimes as lifetimes_table
from tclint.torch_facts import table as api_table
from tclint.torch_facts.lifetimes import parsed, version_of

_NEWEST = re.compile(r"^(NEWEST_TORCH: Final = ).*", re.MULTILINE)


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
    api_committed = json.loads(api_table.FILE.read_text("utf-8"))
    files, pythons = releases(folder)
    known = {*parsed(committed["names"])}
    told = []
    for each in files:
        if each.version in pythons:
            told.append(told_by(each, pythons[each.version], known))
            known |= {name.removeprefix("torch.") for name in told[-1].names}
    bounds = Path(bounds_module.__file__).read_text("utf-8")
    return {
        Path(bounds_module.__file__): _NEWEST.sub(rf"\g<1>{files[-1].version}", bounds),
        lifetimes_table.FILE: lifetimes.text(lifetimes.carried_on(committed, files, told)),
        api_table.FILE: api.text(api.carried_on(api_committed, api.build())),
    }


def releases(folder: Path | None) -> tuple[list[Release], dict[Version, Path]]:
    """The releases in the folder and the installed one, and the Pythons that can run them."""
    installed = version_of(".".join(torch.__version__.split(".")[:2]))
    files = {installed: Release(Path(torch.__file__).parent.parent, installed)}
    pythons = {installed: Path(sys.executable)}
    for each in folder.resolve().iterdir() if folder else ():
        version, python = minor_version(each.name), each / "bin" / "python"
        if version != installed:
            packages = [*each.glob("lib/python*/site-packages"), each]
            files[version] = Release(packages[0], version)
            pythons |= {version: python} if python.exists() else {}
    return [files[version] for version in sorted(files)], pythons


if __name__ == "__main__":
    sys.exit(main())
