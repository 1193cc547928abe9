"""The tools, as the Model Context Protocol names and describes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from tclint import __version__
from tclint.agents import answers
from tclint.agents.commands import CommandError, Commands

INSTRUCTIONS = """\
tclint finds where torch.compile breaks the graph, recompiles or waits, and rewrites what it can
prove. Work in this order:
1. check reports what is wrong, and where; explain describes a rule, and why explains a line.
2. propose gives the fixes as diffs. Apply those that you want.
3. verify compiles before and after, and compares breaks, results and times. Call no change
   correct until verify has.
"""
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)

P = ParamSpec("P")
T = TypeVar("T")
Paths = Annotated[list[str], Field(description="Files and folders below the server's folder.")]
Select = Annotated[
    list[str],
    Field(description="Rules to look for: codes such as TCL101, or prefixes. Empty: all."),
]
Scope = Annotated[
    Literal["compiled", "modules", "all"],
    Field(
        description="What counts as compiled: what a torch.compile reaches, every module's forward "
        "too, or every function."
    ),
]


def make_server(folder: Path, *, runs_code: bool = True) -> MCPServer[Any]:
    """A server for one folder; without ``runs_code`` it never runs the code in it."""
    server: MCPServer[Any] = MCPServer(
        "tclint", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    tools = _Tools(Commands(folder))
    for tool in (tools.check, tools.explain, tools.why, tools.propose, tools.trace):
        server.tool(annotations=READS)(_told(tool))
    if runs_code:
        server.tool(annotations=RUNS)(_told(tools.verify))
    return server


def _told(tool: Callable[P, T]) -> Callable[P, T]:
    """A tool whose errors the agent may read."""

    @wraps(tool)
    def told(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return tool(*args, **kwargs)
        except CommandError as error:
            raise ToolError(str(error)) from error

    return told


class _Tools:
    """Each method is a tool; its docstring is what agents read."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self._folder = commands.folder

    def check(
        self,
        paths: Paths = [],  # noqa: B006 - the schema shows it, and nothing writes to it
        select: Select = [],  # noqa: B006
        scope: Scope = "modules",
        limit: Annotated[int, Field(ge=1, le=200)] = 40,
    ) -> dict[str, Any]:
        """Find graph breaks, recompiles and host syncs by reading the code. Nothing is run."""
        chosen = ["--select", ",".join(select)] if select else []
        printed = self._commands.run(
            "check", "--output-format=json", f"--scope={scope}", *chosen, "--",
            *self._commands.within(paths), seconds=300,
        )  # fmt: skip
        found = answers.findings(printed.json(), self._folder, limit)
        return {**found, "told": printed.told}

    def explain(self, rule: Annotated[str, Field(description="A code or a name.")]) -> str:
        """Explain a rule: what it reports, why that costs, what its fix does, with examples."""
        printed = self._commands.run("rule", "--", rule, seconds=60)
        return answers.cut(printed.text, answers.PAGE_CHARACTERS)

    def why(self, file: str, line: Annotated[int, Field(ge=1)], scope: Scope = "modules") -> str:
        """Explain a line: its compiled region, what its values are, what each rule says."""
        (path,) = self._commands.within([file])
        printed = self._commands.run(
            "check", f"--scope={scope}", f"--explain-types={path}:{line}", "--", path, seconds=300
        )
        return answers.cut(printed.text, answers.PAGE_CHARACTERS)

    def propose(
        self,
        paths: Paths = [],  # noqa: B006
        select: Select = [],  # noqa: B006
        unsafe: Annotated[
            bool,
            Field(description="Also unsafe fixes: each says what may differ after it."),
        ] = False,
    ) -> dict[str, Any]:
        """The fixes of these files as unified diffs. Nothing is written."""
        chosen = ["--select", ",".join(select)] if select else []
        more = ["--unsafe-fixes"] if unsafe else []
        printed = self._commands.run(
            "fix", "--diff", *chosen, *more, "--", *self._commands.within(paths), seconds=600
        )
        return {**answers.patches(printed.text), "told": printed.told}

    def trace(
        self,
        path: Annotated[
            str, Field(description="What `tclint run --keep`, TORCH_TRACE or TORCH_LOGS wrote.")
        ],
    ) -> str:
        """Report a recording of a run: its lines by price, breaks, recompiles."""
        (place,) = self._commands.within([path])
        printed = self._commands.run("trace", "--", place, seconds=300)
        return answers.cut(printed.text, answers.PAGE_CHARACTERS)

    def verify(
        self,
        target: Annotated[
            str,
            Field(description="path/file.py:factory or package.module:factory, or its name."),
        ],
        fixed: Annotated[
            bool, Field(description="Compare with the code as `tclint fix` would leave it.")
        ] = False,
        before: Annotated[
            str | None, Field(description="A git revision or a folder to compare with.")
        ] = None,
        speed: Annotated[bool, Field(description="Also time both.")] = False,
        seconds: Annotated[int, Field(ge=10, le=3600)] = 600,
    ) -> dict[str, Any]:
        """Compile a model and run it: graph breaks, recompiles, whether the results are the same.

        This runs the project's code, in child processes.
        """
        compared = ["--fixed"] if fixed else []
        compared += ["--before", before] if before is not None else []
        printed = self._commands.run(
            "verify", "--output-format=json", "--speed" if speed else "--no-speed",
            f"--time-limit={seconds}", *compared, "--", target, seconds=seconds + 60,
        )  # fmt: skip
        (report,) = printed.json()["targets"]
        return answers.verified(report, self._folder)
