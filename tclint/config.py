"""Configuration: what ``[tool.tclint]`` may say, as one frozen object."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final, cast

from tclint.config_keys import (
    DEFAULT_EXCLUDE,
    KEYS,
    SCOPES,
    ConfigError,
    Key,
    describe_keys,
    in_words,
    nearest_code,
    parse_value,
    parse_values,
)
from tclint.config_schema import json_schema
from tclint.config_verify import VerifyTarget, plain_target
from tclint.environment import installed_torch, package_folders
from tclint.files import expanded, is_dir, is_file, read_text
from tclint.records import record
from tclint.source.discovery import FILE_NAMES
from tclint.source.errors import reason
from tclint.toml_text import parse_toml
from tclint.torch_bounds import NEWEST_TORCH, UNSTATED, Version, infer, shown
from tclint.torch_bounds.releases import BoundsError, minor_version

__all__ = [
    "DEFAULT_EXCLUDE",
    "NEWEST_TORCH",
    "SCOPES",
    "Config",
    "ConfigError",
    "Key",
    "Settings",
    "TorchSources",
    "VerifyTarget",
    "check_codes",
    "describe_keys",
    "effective",
    "find_config",
    "json_schema",
    "load_config",
    "names_codes",
    "read_config",
    "requirement_problems",
    "sources",
    "with_overrides",
]

PYPROJECT: Final = "pyproject.toml"
_OPPOSITES: Final = (
    ("select", "ignore"),
    ("extend_select", "ignore"),
    ("fixable", "unfixable"),
    ("extend_safe_fixes", "extend_unsafe_fixes"),
)


@record(frozen=True)
class Settings:
    """The part of the configuration that rules may read.

    ``target_torch`` is ``(major, minor)`` of the torch that the code will run on, ``min_torch`` of
    the oldest that it is also for, if that is another; ``options`` are code, name and value of
    single rules' options, of which the last counts. ``numbers_may_vary`` is true where the program
    itself tells Dynamo to take the integers of modules for variables.
    """

    target_torch: Version = NEWEST_TORCH
    min_torch: Version | None = None
    options: tuple[tuple[str, str, Any], ...] = ()
    numbers_may_vary: bool = False

    @property
    def oldest_torch(self) -> Version:
        """The oldest torch that the code has to run on."""
        return min(self.min_torch or self.target_torch, self.target_torch)

    def option(self, code: str, name: str, default: Any) -> Any:
        """The value of a rule's option."""
        wanted = (code, name)
        return next((value for *whose, value in self.options[::-1] if (*whose,) == wanted), default)


@record(frozen=True)
class TorchSources:
    """Where the versions of torch come from: words that read behind ``target`` and ``oldest``.

    ``stated`` are the keys that somebody set. ``problems`` are files that could not be understood,
    each with the reason; ``files`` were read, and ``folders`` looked into.
    """

    target: str = "the newest that tclint knows"
    oldest: str = ""
    stated: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@record(frozen=True)
class Config:
    """Everything a run is steered by.

    ``root`` is the folder that patterns are relative to: that of ``source``, the file it came
    from. ``partial`` says that not all of a project was named, so that a run need not see all
    callers, ``by_folder`` that folders of it were; ``ignore_noqa``, that comments silence nothing.
    ``tclint.config_keys`` documents the other fields.
    """

    root: Path
    settings: Settings = field(default_factory=Settings)
    torch: TorchSources = field(default_factory=TorchSources)
    extend: str = ""
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    weak: bool = False
    fixable: tuple[str, ...] = ()
    unfixable: tuple[str, ...] = ()
    extend_safe_fixes: tuple[str, ...] = ()
    extend_unsafe_fixes: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    leave_out: tuple[str, ...] = ()
    include: tuple[str, ...] = ("*.py", "*.ipynb")
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    scope: str = "modules"
    compiled: tuple[str, ...] = ()
    third_party: bool = True
    python_environment: str = ""
    verify_targets: tuple[VerifyTarget, ...] = ()
    source: Path | None = None
    partial: bool = False
    by_folder: bool = False
    ignore_noqa: bool = False

    def package_folders(self) -> tuple[Path, ...]:
        """The folders with the packages that the code is meant to run with.

        Raises:
            ConfigError: the configured environment holds no packages.
        """
        named_by = str(self.source or "command line")
        return package_folders(self.root, self.python_environment, named_by)


def load_config(
    start: Path, known_codes: Collection[str] | None = None, top: Path | None = None
) -> Config:
    """The configuration that holds for ``start``, a file or a folder.

    The nearest folder upwards with a ``tclint.toml``, or a ``pyproject.toml`` that has a table
    ``[tool.tclint]``, decides alone. With ``known_codes`` the codes in it are checked too.
    What no file sets of torch's versions is inferred, from files no further up than ``top``.

    Raises:
        ConfigError: the file found cannot be read or says something it must not.
    """
    found = find_config(start)
    if found is not None:
        return read_config(found, known_codes, top)
    return unconfigured(start, top)


def unconfigured(start: Path, top: Path | None = None) -> Config:
    """The defaults for ``start``, a file or a folder; torch's versions are those of the project."""
    root = Path(os.path.realpath(start))
    return _inferring(Config(root if is_dir(root) else root.parent), top)


def find_config(start: Path) -> Path | None:
    """The file that configures ``start``, or None.

    Raises:
        ConfigError: a file on the way cannot be read.
    """
    start = Path(os.path.realpath(start))
    found = (config_in(folder) for folder in (start, *start.parents))
    return next((file for file in found if file is not None), None)


def config_in(folder: Path) -> Path | None:
    """The file in this very folder that configures what is below it, or None.

    Raises:
        ConfigError: a file there cannot be read.
    """
    for name in FILE_NAMES:
        file = folder / name
        if is_file(file) and (name != PYPROJECT or _table(file) is not None):
            return file
    return None


def read_config(
    file: Path,
    known_codes: Collection[str] | None = None,
    top: Path | None = None,
    project: Path | None = None,
) -> Config:
    """Read one configuration file, and those that it extends.

    It configures the files in ``project``, which need not be where the file lies.

    Raises:
        ConfigError: one cannot be read or says something it must not.
    """
    base = Config(Path(os.path.realpath(file)).parent, source=file)
    for source, values in _layers(file):
        stated = _assign(replace(Config(base.root), source=source), values)
        if known_codes is not None:
            check_codes(stated, known_codes)
        _check_contradictions(stated, str(source))
        base = _put_over(base, values, str(source))
    return _inferring(base, top, project)


def _layers(file: Path) -> list[tuple[Path, dict[str, Any]]]:
    """A file and those that it extends, with their values, the outermost first."""
    layers: list[tuple[Path, dict[str, Any]]] = []
    seen: dict[Path, Path] = {}
    following: Path | None = file
    while following is not None:
        if layers and not is_file(following):
            raise ConfigError(f"{layers[-1][0]}: extend: there is no file {following}")
        real = Path(os.path.realpath(following))
        if real in seen:
            circle = " -> ".join(str(path) for path in (*seen.values(), following))
            raise ConfigError(f"{file}: extend: the files extend each other: {circle}")
        seen[real] = following
        table = _table(following)
        if table is None and following is not file:
            raise ConfigError(f"{file}: extend: {following} has no table [tool.tclint]")
        values = parse_values(table or {}, str(following))
        extended = values.pop("extend", "") if layers else values.get("extend", "")
        if layers and values.get("python-environment"):
            folder = real.parent / values["python-environment"]
            values["python-environment"] = str(folder)
        layers.append((following, values))
        following = real.parent / expanded(extended) if extended else None
    return layers[::-1]


def with_overrides(config: Config, **given: Any) -> Config:
    """Put what the command line says over a configuration; None means not said.

    The arguments are named and shaped like the keys, with underscores. A ``select`` replaces the
    file's whole selection, ``ignore`` and the ``extend_`` keys add to it, others replace.

    Raises:
        ConfigError: a value is not of the key's type.
    """
    values = {}
    for key in KEYS:
        raw = given.pop(key.name.replace("-", "_"), None)
        if raw is not None:
            values[key.name] = parse_value(key, raw, "--" + key.name)
    if given:
        raise TypeError(f"no such configuration keys: {', '.join(given)}")
    stated = _assign(Config(config.root), values)
    _check_contradictions(stated, "command line")
    return _put_over(config, values, "command line")


def _put_over(config: Config, values: dict[str, Any], where: str) -> Config:
    """Put values over a configuration: a ``select`` begins a new selection, lists of more add."""
    if "select" in values:
        config = replace(config, extend_select=(), ignore=())
    adding = {
        key.name: (*_get(config, key), *values[key.name])
        for key in KEYS
        if key.adds and key.name in values
    }
    return _agreeing(_stated(_assign(config, values | adding), values, where), where)


def _stated(config: Config, values: dict[str, Any], where: str) -> Config:
    """Note where the versions of torch among ``values`` come from."""
    torch = config.torch
    if "target-torch" in values:
        torch = replace(torch, target=where, stated=(*torch.stated, "target-torch"))
    if "min-torch" in values:
        torch = replace(torch, oldest=where, stated=(*torch.stated, "min-torch"))
    return replace(config, torch=torch)


def _agreeing(config: Config, where: str) -> Config:
    """Move the version of torch that nobody set to the one that somebody did, if it must.

    Raises:
        ConfigError: somebody set both, the oldest newer than the target.
    """
    settings, torch = config.settings, config.torch
    if torch.oldest == UNSTATED and "target-torch" in torch.stated:
        settings, torch = replace(settings, min_torch=None), replace(torch, oldest="")
        config = replace(config, settings=settings, torch=torch)
    oldest, target = settings.min_torch, settings.target_torch
    if oldest is None or oldest <= target:
        return config
    if {"target-torch", "min-torch"} <= {*torch.stated}:
        raise ConfigError(
            f"{where}: min-torch {shown(oldest)} is newer than target-torch {shown(target)}"
        )
    if "min-torch" in torch.stated:
        settings, torch = replace(settings, target_torch=oldest), replace(torch, target="min-torch")
    else:
        settings = replace(settings, min_torch=target)
        torch = replace(torch, oldest="target-torch")
    return replace(config, settings=settings, torch=torch)


def _inferring(config: Config, top: Path | None, project: Path | None = None) -> Config:
    """Look up in the project's files what nobody set of torch's versions."""
    torch, settings = config.torch, config.settings
    if {"target-torch", "min-torch"} <= {*torch.stated}:
        return config
    environment, project = config.python_environment, project or config.root
    beside = config.root if environment else project
    found = infer(project, lambda: installed_torch(beside, environment), top)
    torch = replace(torch, problems=found.problems, files=found.files, folders=found.folders)
    if "target-torch" not in torch.stated:
        settings = replace(settings, target_torch=found.target.version)
        torch = replace(torch, target=found.target.source)
    if "min-torch" not in torch.stated and found.oldest is not None:
        settings = replace(settings, min_torch=found.oldest.version)
        torch = replace(torch, oldest=found.oldest.source)
    return _agreeing(replace(config, settings=settings, torch=torch), str(config.source))


def running_on(config: Config, torch: str | None) -> Config:
    """The configuration for a torch that ran, where nothing else says which one the code is for."""
    if config.torch.oldest != UNSTATED or torch is None:
        return config
    try:
        ran = minor_version(torch)
    except BoundsError:
        return config
    settings = replace(config.settings, target_torch=ran, min_torch=None)
    told = replace(config.torch, target="the one that ran", oldest="")
    return replace(config, settings=settings, torch=told)


def _check_contradictions(config: Config, where: str) -> None:
    """Refuse a code that one place both wants and does not want.

    Raises:
        ConfigError: there is one.
    """
    for wanted, unwanted in _OPPOSITES:
        both = {*getattr(config, wanted)} & {*getattr(config, unwanted)}
        if both:
            names = f"{wanted} and {unwanted}".replace("_", "-")
            raise ConfigError(f"{where}: {min(both)} is in {names}; take it out of one of them")


def names_codes(config: Config) -> bool:
    """Whether a configuration names any rule."""
    return any(_get(config, key) for key in KEYS if key.codes)


def with_codes(config: Config, codes: Mapping[str, str]) -> Config:
    """The configuration with the codes of rules that it calls by their names."""
    values: dict[str, Any] = {}
    for key in KEYS:
        if key.codes:
            value: Any = _get(config, key)
            if key.kind == "globs-to-codes":
                values[key.name] = tuple((glob, _coded(said, codes)) for glob, said in value)
            elif key.kind == "rule-options":
                values[key.name] = tuple((codes.get(name, name), *rest) for name, *rest in value)
            else:
                values[key.name] = _coded(value, codes)
    return _assign(config, values)


def _coded(said: Iterable[str], codes: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(codes.get(each, each) for each in said)


def check_codes(config: Config, known: Collection[str], written: Config | None = None) -> None:
    """Check that every code, or prefix of codes, belongs to a rule that exists.

    ``written`` is what the file says, where the command line has added to it.

    Raises:
        ConfigError: one does not.
    """
    for key in KEYS:
        if not key.codes:
            continue
        if key.kind == "rule-options":
            continue  # these are checked with the rules that declare them
        in_file = _codes_of(key, config if written is None else written)
        for code in _codes_of(key, config):
            if code != "ALL" and not (code and any(k.startswith(code) for k in known)):
                where = _origin(config) if code in in_file else "command line"
                hint = nearest_code(code, known)
                raise ConfigError(f"{where}: {key.name}: no rule has the code {code!r}{hint}")


def _codes_of(key: Key, config: Config) -> Sequence[str]:
    value: Any = _get(config, key)
    if key.kind == "globs-to-codes":
        return [code for _, codes in value for code in codes]
    return cast("Sequence[str]", value)


def _origin(config: Config) -> str:
    """The file, or files, in which something that is wrong was read."""
    where = str(config.source or "command line")
    return f"{where}, or {config.extend} that it extends" if config.extend else where


def effective(config: Config) -> dict[str, Any]:
    """The values in force by key name, in plain types that JSON and TOML can hold."""
    settings = replace(config.settings, min_torch=config.settings.oldest_torch)
    config = replace(config, settings=settings)
    return {key.name: _plain(key, _get(config, key)) for key in KEYS}


def sources(config: Config) -> dict[str, str]:
    """Where values come from that nobody need set, by key name."""
    torch = config.torch
    return {"target-torch": torch.target, "min-torch": torch.oldest or "as target-torch"}


def requirement_problems(config: Config) -> list[str]:
    """What is wrong with files that speak of torch, and what is assumed instead."""
    now, where = effective(config), sources(config)
    assumed = " and ".join(f"{name} {now[name]} ({said})" for name, said in where.items())
    return [f"{file}: {problem}; assuming {assumed}" for file, problem in config.torch.problems]


def _get(config: Config, key: Key) -> Any:
    owner: Config | Settings = config
    if key.field.startswith("settings."):
        owner = config.settings
    return getattr(owner, key.field.rpartition(".")[2])


def _plain(key: Key, value: Any) -> Any:
    if key.kind == "version":
        return shown(value)
    if key.kind == "globs-to-codes":
        return {pattern: list(codes) for pattern, codes in value}
    if key.kind == "rule-options":
        tables: dict[str, dict[str, Any]] = {}
        for code, name, said in value:
            plain = list(said) if isinstance(said, tuple) else said
            tables.setdefault(code, {})[name] = plain
        return tables
    if key.kind == "targets":
        return [plain_target(item) for item in value]
    return list(value) if isinstance(value, tuple) else value


def _assign(config: Config, values: dict[str, Any]) -> Config:
    fields = {key.field: values[key.name] for key in KEYS if key.name in values}
    settings = {
        name.removeprefix("settings."): fields.pop(name)
        for name in list(fields)
        if name.startswith("settings.")
    }
    return replace(config, settings=replace(config.settings, **settings), **fields)


def _table(file: Path) -> dict[str, Any] | None:
    """The table that a file holds for tclint; None when a ``pyproject.toml`` has none."""
    try:
        text = read_text(file)
    except OSError as error:
        raise ConfigError(f"{file}: cannot read: {reason(error)}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8, as TOML must be (byte {error.start})") from error
    if file.name != PYPROJECT:
        return _load(file, text)
    if "tclint" not in text:
        return None
    tool = _load(file, text).get("tool")
    table = tool.get("tclint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{file}: tool.tclint: expected a table, got {in_words(table)}")
    return table


def _load(file: Path, text: str) -> dict[str, Any]:
    try:
        return parse_toml(text)
    except ValueError as error:
        raise ConfigError(f"{file}: not valid TOML: {error}") from error
