"""The page about the command line, made of the commands' signatures.

Signatures, not Typer's help texts: those change their layout from release to release.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from tclint.cli.app import COMMANDS

HEAD = """\
# Commands

Exit codes: 0 nothing to report; 1 findings, or changes with `--diff`; 2 tclint could not run
(a broken configuration, no such file), or could not check some of the files.
"""


def commands_page() -> str:
    """All commands with their arguments and options."""
    return "\n".join([HEAD, *(_section(name) for name in COMMANDS)])


def _section(name: str) -> str:
    function = name.replace("-", "_")
    module = import_module(f"tclint.cli.{function}")
    parts = [_command(name, getattr(module, function))]
    if hasattr(module, "group"):
        below = module.group.registered_commands
        parts += [_command(f"{name} {command.name}", command.callback) for command in below]
    return "\n".join(parts)


def _command(name: str, command: Callable[..., object]) -> str:
    hints = get_type_hints(command, include_extras=True)
    parameters = inspect.signature(command).parameters.values()
    told = [p for p in parameters if hints[p.name] is not typer.Context]
    rows = [_row(p, *_unwrap(hints[p.name])) for p in told]
    parts = [f"## `tclint {name}`\n", inspect.cleandoc(command.__doc__ or "") + "\n"]
    if rows:
        parts.append("| argument or option | meaning |\n| --- | --- |\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _unwrap(hint: Any) -> tuple[Any, ArgumentInfo | OptionInfo]:
    """The type and Typer's description of an annotated parameter."""
    if get_origin(hint) is Union:  # Python 3.10 wraps what may be None
        hint = next(part for part in get_args(hint) if get_origin(part) is Annotated)
    if get_origin(hint) is not Annotated:
        raise TypeError(f"a command's parameters are Annotated, unlike {hint}")
    kind, info = get_args(hint)[:2]
    return kind, info


def _row(parameter: inspect.Parameter, kind: Any, info: ArgumentInfo | OptionInfo) -> str:
    text = (info.help or "").replace("|", "\\|")
    choices = _choices(kind)
    if choices:
        text += f" One of {', '.join(f'`{choice}`' for choice in choices)}."
    if info.envvar:
        text += f" Also read from `{info.envvar}`."
    if isinstance(info, OptionInfo) and parameter.default is inspect.Parameter.empty:
        text += " Required."
    shown = _default(parameter.default)
    if shown:
        text += f" Default: `{shown}`."
    return f"| {_spelling(parameter, kind, info)} | {text} |"


def _spelling(parameter: inspect.Parameter, kind: Any, info: ArgumentInfo | OptionInfo) -> str:
    dashed = parameter.name.replace("_", "-")
    if isinstance(info, ArgumentInfo):
        return f"`{(info.metavar or dashed).upper()}`"
    # In Annotated, Typer takes the first name for the default until the command is built.
    names = [str(n) for n in (info.default, *(info.param_decls or ())) if str(n).startswith("-")]
    if not names:
        names = [f"--{dashed}", f"--no-{dashed}"] if kind is bool else [f"--{dashed}"]
    spelled = ", ".join(f"`{name}`" for name in names)
    if kind is bool:
        return spelled
    value = info.metavar or _value_name(kind)
    return f"{spelled} `{value}`".replace("|", "\\|")


def _value_name(kind: Any) -> str:
    if _choices(kind):
        return "NAME"
    named = [t for t in (kind, *get_args(kind)) if t in {int, float}]
    return "NUMBER" if named else "TEXT"


def _choices(kind: Any) -> list[str]:
    for option in (kind, *get_args(kind)):
        if isinstance(option, type) and issubclass(option, Enum):
            return [str(member.value) for member in option]
    return []


def _default(value: object) -> str:
    if value is inspect.Parameter.empty or value is None or isinstance(value, bool):
        return ""
    return str(value.value if isinstance(value, Enum) else value)
