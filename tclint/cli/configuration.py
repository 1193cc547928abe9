"""From files and options to the one configuration of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tclint.cli.terminal import fail, warn
from tclint.config import (
    Config,
    ConfigError,
    describe_keys,
    load_config,
    names_codes,
    read_config,
    requirement_problems,
    unconfigured,
    with_overrides,
)
from tclint.config_keys import nearest
from tclint.files import is_file
from tclint.gone import KEYS, gone
from tclint.lint.gathering import with_known_codes
from tclint.lint.registry import known_rules
from tclint.lint.selection import selected_rules
from tclint.records import record
from tclint.toml_text import parse_toml
from tclint.torch_bounds import NEWEST_TORCH, shown


@record(frozen=True)
class Overrides:
    """What the command line says about the configuration; None means nothing.

    ``entries`` are the values of ``--config``: files, or ``key=value`` with a TOML value.
    """

    select: Sequence[str] | None = None
    ignore: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    force_exclude: bool = False
    scope: str | None = None
    target_torch: str | None = None
    min_torch: str | None = None
    weak: bool = False
    leave_out: Sequence[str] | None = None
    entries: Sequence[str] = ()
    isolated: bool = False
    ignore_noqa: bool = False

    @property
    def names_file(self) -> bool:
        """Whether no file is looked for: one is named, or none is to be read."""
        return self.isolated or any(map(_is_file, self.entries))


def configure(overrides: Overrides, start: Path) -> Config:
    """The configuration of a run that starts at ``start``; ends the command if there is none."""
    try:
        config = _configure(overrides, start)
    except ConfigError as error:
        fail(str(error))
    warn_of_requirements(config)
    return config


def warn_of_requirements(config: Config) -> None:
    """Tell which files of the project could not be understood, and what is assumed instead."""
    for text in requirement_problems(config):
        _warn_once(text)
    if config.settings.target_torch > NEWEST_TORCH:
        target, newest = shown(config.settings.target_torch), shown(NEWEST_TORCH)
        _warn_once(f"this tclint knows torch up to {newest}: {target} is treated as {newest}")


def torch_line(configs: Iterable[Config]) -> str:
    """Which torch the findings of a run are for, and which others its fixes, and why."""
    told: dict[str, None] = {}
    for config in configs:
        settings, why = config.settings, config.torch
        text = f"for torch {shown(settings.target_torch)} ({why.target})"
        if settings.oldest_torch < settings.target_torch:
            text += f", fixes for torch {shown(settings.oldest_torch)} too ({why.oldest})"
        told[text] = None
    return f"Findings are {'; '.join(told)}." if told else ""


@cache
def _warn_once(text: str) -> None:
    # Configurations of several folders may look into the same files.
    warn(text)


def _configure(overrides: Overrides, start: Path) -> Config:
    files = [entry for entry in overrides.entries if _is_file(entry)]
    if len(files) > 1:
        raise ConfigError(f"--config: only one file can be given, not {' and '.join(files)}")
    if files and overrides.isolated:
        raise ConfigError(f"--config {files[0]}: --isolated reads no configuration file")
    config = written = _base(overrides, start, files[0] if files else None)
    for entry in overrides.entries:
        if not _is_file(entry):
            config = with_overrides(config, **_entry(entry))
    config = with_overrides(
        config,
        select=_parts(overrides.select),
        ignore=_parts(overrides.ignore),
        exclude=overrides.exclude,
        force_exclude=overrides.force_exclude or None,
        scope=overrides.scope,
        target_torch=overrides.target_torch,
        min_torch=overrides.min_torch,
        weak=overrides.weak or None,
        leave_out=_parts(overrides.leave_out),
    )
    if names_codes(config):
        config = with_known_codes(config, written)
        if not selected_rules(known_rules(), config):
            warn("no rule is left to run: `ignore` takes away all that `select` names")
    return replace(config, ignore_noqa=overrides.ignore_noqa)


def _base(overrides: Overrides, start: Path, file: str | None) -> Config:
    if overrides.isolated:
        return unconfigured(start)
    return load_config(start) if file is None else read_config(Path(file), project=start)


def _is_file(entry: str) -> bool:
    return "=" not in entry or is_file(entry)


def _entry(entry: str) -> dict[str, Any]:
    """``key=value`` as keyword arguments of ``with_overrides``."""
    try:
        table = parse_toml(entry)
    except ValueError as error:
        key = entry.partition("=")[0].strip()
        raise ConfigError(
            f"--config {entry}: not TOML ({error}); strings need quotes: '{key}=\"...\"'"
        ) from error
    if "extend" in table:
        raise ConfigError("--config: `extend` belongs in a file; name that file instead")
    names = [key.name for key in describe_keys()]
    for name in table:
        if name not in names:
            hint = gone(name, KEYS) or nearest(name, names)
            raise ConfigError(f"--config: unknown key {name!r}{hint}")
    return {name.replace("-", "_"): value for name, value in table.items()}


def _parts(given: Sequence[str] | None) -> list[str] | None:
    """``["TCL1,TCL2", "TCL301"]`` as three codes."""
    if given is None:
        return None
    return [code.strip() for part in given for code in part.split(",") if code.strip()]
