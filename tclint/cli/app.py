"""The Typer application: the list of commands; each one's module is imported when it is run."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from tclint import __version__
from tclint.cli.options import Grouped
from tclint.cli.terminal import fail, prepare_streams
from tclint.errors import UserError
from tclint.files import exists
from tclint.gone import COMMANDS as GONE_COMMANDS
from tclint.gone import OPTIONS, VALUES
from tclint.printable import printable

COMMANDS = {
    "check": "Report graph breaks, recompiles, host syncs and slow starts.",
    "fix": "Apply the fixes that are proved safe.",
    "verify": "Compile, run and measure programs, before and after fixes.",
    "run": "Run a command, and rank its lines by what they cost per step.",
    "trace": "Report on a recording of a command.",
    "fleet": "Measure many programs, and compare runs.",
    "upgrade": "Report what another release of torch changes.",
    "rule": "Explain a rule, or list all rules.",
    "config": "Explain the configuration.",
    "clean": "Remove the cache.",
    "server": "Run the language server (LSP over standard input and output).",
    "mcp": "Serve coding agents (Model Context Protocol).",
    "review": "Review a pull request.",
}
"""Command names and what they do; each is a function in the module of the same name."""

GROUPS = {
    "Find, fix, prove": ("check", "fix", "verify"),
    "Measure": ("run", "trace", "fleet"),
    "Look things up": ("rule", "config", "upgrade"),
    "Where you work": ("server", "mcp", "review"),
    "Other": ("clean",),
}
"""Under these words the help lists the commands."""


class LazyGroup(TyperGroup):
    """A group that knows its commands' names and imports only the one that is run."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands.update(
            {name: TyperCommand(name, short_help=text) for name, text in COMMANDS.items()}
        )

    def resolve_command(
        self, ctx: Any, args: list[str]
    ) -> tuple[str | None, TyperCommand | None, list[str]]:
        """Put the real command in the place of the one that only has a name."""
        for words in (args[:1], args[:2]):
            if told := GONE_COMMANDS.get(" ".join(words)):
                ctx.fail(f"No such command {' '.join(words)!r} ({told}).")
        if args and args[0] not in self.commands and (hint := meant(args)):
            ctx.fail(f"No such command {printable(args[0])!r}. {hint}")
        name, _, rest = super().resolve_command(ctx, [*map(_with_value, args)])
        return name, load(name) if name else None, rest

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the command's name."""
        with _readable_errors():
            return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by what they are for."""
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, COMMANDS[name]) for name in names])

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors that explain themselves end it without a traceback."""
        try:
            with _readable_errors():
                return super().invoke(ctx)
        except UserError as error:
            fail(str(error))


def meant(args: Sequence[str]) -> str:
    """What to write instead of a command that other linters have; empty where nobody can tell."""
    name, rest = args[0], args[1:]
    if name in _ELSEWHERE:
        return f"Write `{_ELSEWHERE[name]}`."
    if exists(name):
        return f"Write `{shlex.join(['tclint', 'check', name, *rest])}`."
    return ""


_ELSEWHERE = {
    "explain": "tclint rule CODE",
    "format": "tclint fix",
    "help": "tclint --help",
    "linter": "tclint rule",
    "lint": "tclint check",
    "lsp": "tclint server",
    "rules": "tclint rule",
    "version": "tclint --version",
}
"""What commands of other tools are called here."""
_OPTIONS_NOT_HERE = {
    "--fix": "`tclint fix` applies fixes",
    "--unsafe-fixes": "`tclint fix --unsafe-fixes` applies them",
    "--fix-only": "`tclint fix` applies fixes",
    "--show-fixes": "`tclint fix --diff` prints them",
    "--format": "`--output-format` names the format",
    "-f": "`--output-format` names the format",
    "-o": "`--output-file` names the file",
    "-v": "`--show-files` and `--show-settings` show more",
    "--verbose": "`--show-files` and `--show-settings` show more",
    "--add-noqa": "`--add-ignore` adds a comment to each finding",
    "--target-version": "`--target-torch` names the torch that the code runs on",
    **OPTIONS,
}
"""What options of other linters, and those that are gone, are called here."""
_UsageError: Any = typer.BadParameter.__base__  # Typer brings its own Click, or has it installed


@contextmanager
def _readable_errors() -> Iterator[None]:
    """Errors about arguments quote them, and shells make arguments of the names of files."""
    try:
        yield
    except _UsageError as error:
        error.message = printable(error.message)
        value = error.message.partition("' is not one of ")[0].removeprefix("'")
        instead = VALUES.get(value) or _OPTIONS_NOT_HERE.get(getattr(error, "option_name", ""))
        if instead is not None:
            error.message, error.possibilities = f"{error.message} ({instead})", None
        raise


def _with_value(argument: str) -> str:
    """Give ``--add-ignore`` the empty reason: Typer knows no options whose value is optional."""
    return "--add-ignore=" if argument == "--add-ignore" else argument


def load(name: str) -> TyperCommand:
    """Import a command; a module with a ``group`` has commands below its own.

    A module with a ``Parsing`` reads its arguments in its own way.
    """
    function = name.replace("-", "_")
    module = import_module(f"tclint.cli.{function}")
    if hasattr(module, "group"):
        return cast("TyperCommand", typer.main.get_command(module.group))
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name, cls=getattr(module, "Parsing", Grouped))(getattr(module, function))
    return cast("TyperCommand", typer.main.get_command(single))


def build() -> TyperGroup:
    """The whole command line."""
    return cast("TyperGroup", typer.main.get_command(app))


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tclint {__version__}")
        raise typer.Exit


@app.callback()
def tclint(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Find, fix and verify PyTorch code that torch.compile cannot digest."""
    prepare_streams()
