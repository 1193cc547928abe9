"""``%%tclint``: what is known of a notebook's cell, and what Dynamo did when it ran."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tclint.api.recording import recorded
from tclint.run.launch import Settings
from tclint.run.report import words
from tclint.run.report.text import render
from tclint.run.session import Answer

_USAGE = "%%tclint takes no arguments: write the code on the lines below it"


def load(shell: Any) -> None:
    """Add the cell magic to a shell of IPython's."""
    shell.register_magic_function(partial(run_cell, shell), "cell", "tclint")


def run_cell(shell: Any, line: str, cell: str) -> None:
    """Run a cell as ever; then tell its findings, and what was compiled."""
    if line.strip():
        raise _usage_error()(_USAGE)
    name = shell.compile.get_code_name(cell, shell.transform_cell(cell), shell.execution_count)
    with recorded(Settings(), also=lambda: [name]) as block:
        # What the cell raises is shown by the shell, as for any cell.
        shell.run_cell(cell, store_history=False)
    shown = f"In[{shell.execution_count}]"
    print("\n".join([*_findings(block.answer, shown), render(block.answer, Path.cwd())]), end="")


def _findings(answer: Answer, shown: str) -> Iterator[str]:
    """The findings of the cell at whose lines nothing happened: the report has the others."""
    for line in answer.idle:
        if line.filename == shown and line.finding is not None:
            place, what = words.place(line, Path.cwd()), words.says(line, answer)
            yield f"{place}  {what}  {words.remedy(line)}; did not happen"


def _usage_error() -> Any:
    from IPython.core.error import UsageError

    return UsageError
