"""``tclint.check``: the findings of some files, as records."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tclint.config import (
    Config,
    ConfigError,
    describe_keys,
    load_config,
    requirement_problems,
    unconfigured,
    with_overrides,
)
from tclint.config_keys import nearest
from tclint.diagnostics import Diagnostic
from tclint.lint.engine import check_files, in_one
from tclint.lint.gathering import gather_files, with_known_codes
from tclint.records import record
from tclint.source.errors import FileError


@record(frozen=True)
class Checked:
    """The findings of some files in the order of their places; iterating gives them.

    ``errors`` are the paths that could not be read, ``files`` is how many could be.
    ``notes`` say what was assumed, since something could not be understood.
    """

    findings: tuple[Diagnostic, ...]
    errors: tuple[FileError, ...] = ()
    files: int = 0
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)


def check(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = ".",
    *,
    config: Mapping[str, Any] | None = None,
    isolated: bool = False,
) -> Checked:
    """Check files and folders, as ``tclint check`` does; neither torch nor their code is imported.

    Args:
        paths: one path, or several; files belong together and are checked as one program.
        config: keys of ``[tool.tclint]`` with their values, put over what the files say:
            ``{"select": ["TCL1"], "weak": True}``.
        isolated: read no configuration file.

    Raises:
        UserError: the configuration says something it must not.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else [*paths]
    read = partial(_configured, given=config or {}, isolated=isolated)
    found = gather_files([Path(path) for path in given], read, alone=isolated)
    run = in_one([check_files(files, one) for one, files in found.nesting.parts(found.files)])
    return Checked(
        tuple(result.diagnostic for result in run.results),
        (*found.errors, *run.errors),
        run.files,
        tuple(requirement_problems(found.nesting.outer)),
    )


def _configured(start: Path, *, given: Mapping[str, Any], isolated: bool) -> Config:
    names = [key.name for key in describe_keys()]
    keys = {name.replace("_", "-"): value for name, value in given.items()}
    for name in keys:
        if name not in names:
            raise ConfigError(f"config: unknown key {name!r}{nearest(name, names)}")
    written = unconfigured(start) if isolated else load_config(start)
    named = {name.replace("-", "_"): value for name, value in keys.items()}
    return with_known_codes(with_overrides(written, **named), written)
