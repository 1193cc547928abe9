"""The configuration's keys in one table: parsing, documentation and JSON schema come from it."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from typing import Any, Final

from tclint.config_places import WORDS
from tclint.config_verify import TARGET_PATTERN, VERIFY_KEYS, VerifyTarget, verify_target
from tclint.errors import UserError
from tclint.gone import CODES, gone
from tclint.gone import KEYS as GONE_KEYS
from tclint.records import record
from tclint.regexes import regex
from tclint.source.patterns import is_valid
from tclint.torch_bounds.releases import COMPILING_TORCH, shown

SCOPES: Final = ("compiled", "modules", "all")
DEFAULT_EXCLUDE: Final = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".tclint_cache",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "build",
    "node_modules",
    "site-packages",
    "venv",
)


class ConfigError(UserError):
    """A configuration that cannot be used: the message names the file, the key and a way out."""


@record(frozen=True)
class Key:
    """One key: ``kind`` names the shape of its value, ``field`` the attribute that holds it.

    A dotted ``field`` (``settings.target_torch``) belongs to what rules may read.
    """

    name: str
    field: str
    kind: str
    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    codes: bool = False

    @property
    def adds(self) -> bool:
        """Whether a value adds to that of an extended file, or of a file to the command line's."""
        listed = {"ignore", "per-file-ignores", "rules"}
        return self.name in listed or self.name.startswith("extend-")

    @property
    def type(self) -> str:
        """The shape of the value in words for people."""
        return " | ".join(f'"{c}"' for c in self.choices) if self.choices else _TYPES[self.kind]


_TYPES: Final = {
    "strings": "list of strings",
    "globs": "list of patterns as in .gitignore",
    "string": "string",
    "path": "string, a path relative to the configuration file",
    "bool": "true or false",
    "version": 'string such as "2.13"',
    "globs-to-codes": "table: pattern = list of codes",
    "rule-options": "table: code = table of options",
    "targets": "tables with target, name, how to run it, and a budget",
}

KEYS: Final = (
    Key("extend", "extend", "path", "", "A configuration file to inherit from. This file's values "
        "win. Inherited patterns are relative to this file. `ignore`, `per-file-ignores`, "
        "`rules` and the `extend-` keys add up."),
    Key("select", "select", "strings", (), "Rules to enable: codes, prefixes or names. Empty or "
        '"ALL" means every rule.', codes=True),
    Key("extend-select", "extend_select", "strings", (), "Rules to enable in addition to `select`.",
        codes=True),
    Key("ignore", "ignore", "strings", (), "Rules to disable: codes or prefixes.",
        codes=True),
    Key("weak", "weak", "bool", False, "Also report weak findings: those that depend on a setting "
        "that is off by default, on an exception that is raised, or on how the code is used (`low` "
        "confidence; `fix --verify` tries their fixes where the run hits the break), and hints, "
        "which save under 1% of a step in most programs. The summary counts those that are not "
        "shown. A rule that is selected by its full code reports all of its findings."),
    Key("fixable", "fixable", "strings", (), "Rules whose fixes may be applied. Empty means all.",
        codes=True),
    Key("unfixable", "unfixable", "strings", (), "Rules whose fixes are never applied.",
        codes=True),
    Key("extend-safe-fixes", "extend_safe_fixes", "strings", (), "Rules whose unsafe fixes are "
        "applied without `--unsafe-fixes`.", codes=True),
    Key("extend-unsafe-fixes", "extend_unsafe_fixes", "strings", (), "Rules whose safe fixes are "
        "applied only with `--unsafe-fixes`.", codes=True),
    Key("per-file-ignores", "per_file_ignores", "globs-to-codes", (), "Rules to disable in files "
        "that match a pattern; with a leading `!`, in files that do not match it.", codes=True),
    Key("leave-out", "leave_out", "globs", (), "Code whose findings are left out, though it is "
        f"read to know what it calls: {', '.join(f'`{p}`' for p in WORDS)}, or `ALL` for all of "
        "these, as the names of folders and files tell them, and patterns; with a leading `!`, "
        "what is not left out after all. The last entry that fits decides. The summary counts "
        "the findings."),
    Key("include", "include", "globs", ("*.py", "*.ipynb"), "Files to check in the folders "
        "on the command line."),
    Key("exclude", "exclude", "globs", DEFAULT_EXCLUDE, "Files and folders to exclude. "
        "Replaces the default list."),
    Key("extend-exclude", "extend_exclude", "globs", (), "Files and folders to exclude in "
        "addition to `exclude`."),
    Key("force-exclude", "force_exclude", "bool", False, "Apply excludes even to files that are "
        "named on the command line, as pre-commit names them."),
    Key("respect-gitignore", "respect_gitignore", "bool", True, "Exclude files that .gitignore and "
        ".git/info/exclude ignore."),
    Key("target-torch", "settings.target_torch", "version", None, "The torch release that the "
        "code will run on. The default is the release in a lock file, else the one installed for "
        "the project or beside tclint, else the newest that tclint knows. The last two stay within "
        "the project's requirements; those that allow only a torch without `torch.compile` are "
        "left to `min-torch`."),
    Key("min-torch", "settings.min_torch", "version", None, "The oldest torch release that the "
        "code must also run on. Fixes use only what that release has, and code behind a "
        "check for an older one (`torch.__version__ < ...`) is not reported. The default "
        "is the lower bound in the project's requirements, else the oldest release in a lock file, "
        "else what the README names, else `target-torch` where that is known, else 2.1."),
    Key("scope", "scope", "string", "modules", "Which functions count as compiled: those that a "
        "`torch.compile` call in the project reaches (`compiled`), those and what is written to be "
        "compiled (`modules`): the `forward` of every module and autograd function, the `step` of "
        "every optimizer, and methods called on a compiled object; or every function (`all`). "
        "What a framework compiles "
        "counts as compiled, too: the steps of a Lightning module, and the models of a `Trainer` "
        "of transformers (`torch_compile=True`) or an `Accelerator` (`dynamo_backend`).",
        choices=SCOPES),
    Key("compiled", "compiled", "strings", (), "Functions and classes that other code compiles, "
        "as `package.module:name` with `*` for anything: `pkg.model:Net` for its `forward`, "
        "`*:training_step` for the function or method of that name wherever it is. tclint warns "
        "about a pattern that matches nothing; `tclint check --show-regions` shows what is "
        "compiled."),
    Key("third-party", "third_party", "bool", True, "Read the source of installed packages that "
        "compiled code calls, to know what they return and whether they break the graph. tclint "
        "never imports them."),
    Key("python-environment", "python_environment", "string", "", "The environment whose "
        "packages are read: a folder such as `.venv`, relative to the configuration file. The "
        "default is the project's `.venv` if it has one, else the environment that runs tclint."),
    Key("rules", "settings.options", "rule-options", (), "Options of a rule, in a table such as "
        "`[tool.tclint.rules.TCL410]`. The rule's page lists its options.", codes=True),
    Key("verify", "verify_targets", "targets", (), "Programs that `tclint verify` compiles: "
        "`target` is `pkg.mod:factory` or `file.py:factory`, `name` is what reports call it. "
        "`mode`, `backend`, `phase`, `device` and `inputs` say how to run it; `max-graph-breaks`, "
        "`max-recompiles`, `max-syncs`, `min-speedup` and `max-cold-start` (seconds) are its "
        "budget."),
)  # fmt: skip
"""Every key of ``[tool.tclint]``."""

_BY_NAME: Final = {key.name: key for key in KEYS}
_VERSION: Final = regex(r"(\d{1,9})\.(\d{1,9})([.+].*)?")
_TARGET: Final = regex(TARGET_PATTERN)
_JSON_TYPES: Final[dict[str, tuple[tuple[type, ...], str]]] = {
    "string": ((str,), "string"),
    "integer": ((int,), "whole number"),
    "number": ((int, float), "number"),
    "array": ((list,), "list of strings"),
}


def describe_keys() -> tuple[Key, ...]:
    """Every key with its type, default and documentation, in the order of the documentation."""
    return KEYS


def parse_values(table: dict[str, Any], where: str) -> dict[str, Any]:
    """Turn a TOML table into values by key name; ``where`` begins the message of an error.

    Raises:
        ConfigError: a key is unknown or its value is not of the key's type.
    """
    values = {}
    for name, raw in table.items():
        key = _BY_NAME.get(name)
        if key is None:
            hint = gone(name, GONE_KEYS) or nearest(name, _BY_NAME)
            raise ConfigError(f"{where}: unknown key {name!r}{hint}")
        values[name] = parse_value(key, raw, f"{where}: {name}")
    return values


def parse_value(key: Key, raw: Any, where: str) -> Any:
    """Turn one raw value into what the configuration holds.

    Raises:
        ConfigError: the value is not of the key's type.
    """
    if isinstance(raw, str) and "\0" in raw:
        raise ConfigError(f"{where}: {raw!r} has a NUL character")
    if key.kind == "bool":
        return _require(raw, bool, key, where)
    if key.kind in {"string", "path"}:
        return _choice(_require(raw, str, key, where), key, where)
    if key.kind == "version":
        return _version(raw, key, where)
    if key.kind == "globs-to-codes":
        table = _require(raw, dict, key, where)
        return tuple(
            (_glob(pattern, where), _strings(codes, f"{where}: {pattern!r}"))
            for pattern, codes in table.items()
        )
    if key.kind == "rule-options":
        tables = _require(raw, dict, key, where)
        return tuple(row for code, table in tables.items() for row in _options(code, table, where))
    if key.kind == "targets":
        return tuple(_target(item, where) for item in _require(raw, list, key, where))
    strings = _strings(raw, where)
    return tuple(_glob(s, where) for s in strings) if key.kind == "globs" else strings


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a misspelled name: ``; did you mean 'x'?``, or nothing."""
    import difflib

    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def nearest_code(code: str, known: Iterable[str]) -> str:
    """A hint for a code that no rule has: the same number, or where all codes are listed.

    Codes with other numbers look alike and mean something else.
    """
    if code in CODES:
        return gone(code, CODES)
    number = code.lstrip(string.ascii_letters)
    meant = [each for each in known if number and each.lstrip(string.ascii_letters) == number]
    return f"; did you mean {meant[0]!r}?" if meant else "; `tclint rule` lists all"


def _require(raw: Any, kind: type, key: Key, where: str) -> Any:
    if not isinstance(raw, kind):
        raise ConfigError(f"{where}: expected {key.type}, got {in_words(raw)}")
    return raw


def _strings(raw: Any, where: str) -> tuple[str, ...]:
    if isinstance(raw, (list, tuple)) and all(isinstance(item, str) for item in raw):
        return tuple(raw)
    if isinstance(raw, str):
        raise ConfigError(f"{where}: expected a list of strings; write [{raw!r}]")
    raise ConfigError(f"{where}: expected a list of strings, got {in_words(raw)}")


def _choice(value: str, key: Key, where: str) -> str:
    if key.choices and value not in key.choices:
        names = ", ".join(key.choices)
        hint = nearest(value, key.choices)
        raise ConfigError(f"{where}: {value!r} is not one of {names}{hint}")
    return value


def _version(raw: Any, key: Key, where: str) -> tuple[int, int]:
    match = _VERSION.fullmatch(raw) if isinstance(raw, str) else None
    if match is None:
        # A bare 2.10 is the number 2.1, so numbers are refused even where they would be right.
        raise ConfigError(f'{where}: expected a string such as "2.13", got {in_words(raw)}')
    version = int(match[1]), int(match[2])
    if key.name == "target-torch" and version < COMPILING_TORCH:
        oldest = shown(COMPILING_TORCH)
        raise ConfigError(f"{where}: torch {raw} has no torch.compile; it came with {oldest}")
    return version


def _glob(pattern: str, where: str) -> str:
    if not is_valid(pattern):
        raise ConfigError(f"{where}: {pattern!r} is not a pattern as in .gitignore")
    return pattern


def _options(code: str, raw: Any, where: str) -> Iterator[tuple[str, str, Any]]:
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: {code}: expected a table of options, got {in_words(raw)}")
    for name, value in raw.items():
        said = _strings(value, f"{where}: {code}: {name}") if isinstance(value, list) else value
        if not isinstance(said, (bool, int, float, str, tuple)):
            raise ConfigError(f"{where}: {code}: {name}: not a value of an option: {in_words(raw)}")
        yield code, name, said


def _target(raw: Any, where: str) -> VerifyTarget:
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: expected a table with `target`, got {in_words(raw)}")
    for name, value in raw.items():
        if name not in VERIFY_KEYS:
            raise ConfigError(f"{where}: unknown key {name!r}{nearest(name, VERIFY_KEYS)}")
        _check_value(VERIFY_KEYS[name], value, f"{where}: {name}")
    target = raw.get("target")
    if not isinstance(target, str) or not _TARGET.fullmatch(target):
        raise ConfigError(
            f'{where}: target: expected "package.module:function", got {in_words(target)}'
        )
    return verify_target(raw)


def _check_value(schema: dict[str, Any], value: Any, where: str) -> None:
    kinds, words = _JSON_TYPES[schema["type"]]
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise ConfigError(f"{where}: expected a {words}, got {in_words(value)}")
    if isinstance(value, list):
        _strings(value, where)
    if isinstance(value, (int, float)) and value < 0:
        raise ConfigError(f"{where}: expected at least 0, got {in_words(value)}")
    choices = schema.get("enum")
    if isinstance(value, str) and choices and value not in choices:
        hint = nearest(value, choices)
        raise ConfigError(f"{where}: {value!r} is not one of {', '.join(choices)}{hint}")


def in_words(raw: Any) -> str:
    """A value of TOML as an error names it."""
    if raw is None or isinstance(raw, bool):
        return {None: "nothing", True: "true", False: "false"}[raw]
    return f"the {_KINDS.get(type(raw), 'value')} {raw!r:.60}"


_KINDS: Final = {
    str: "string", int: "number", float: "number", list: "list", tuple: "list", dict: "table"
}  # fmt: skip
