"""``tclint new-rule``."""

from pathlib import Path
from typing import Annotated

import typer


def new_rule(
    code: Annotated[str, typer.Argument(help="The rule's code, e.g. ABC101.")],
    name: Annotated[str, typer.Argument(help="Its name, e.g. item-in-compiled-region.")],
    folder: Annotated[
        Path, typer.Argument(help="The package folder that the rule belongs to.")
    ] = Path("rules"),
) -> None:
    """Write a working rule for you to change: its logic, documentation and examples."""
    from tclint.cli.scaffold import scaffold
    from tclint.cli.terminal import write

    new = scaffold(code, name, folder)
    write(
        f"Wrote {new.module} and {new.page}.\n"
        "Change what it listens to and its verdict in the one, its documentation and its examples"
        " in the other.\n"
        f"`tclint check --rules {folder}` uses it from there, without a package.\n"
        "A package whose entry point in the group `tclint.rules` lists its rules one by one has to"
        f" name `{new.class_name}` there,\nand to install its pages with its modules:"
        ' `package-data = { "*" = ["*.md"] }`.\n'
    )
