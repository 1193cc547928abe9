"""The rule that ``tclint new-rule`` writes: complete, and true of torch as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from tclint.cli.terminal import fail
from tclint.lint.registry import known_rules
from tclint.source.errors import reason

_CODE = re.compile(r"[A-Z]{2,}[0-9]{3,}")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")

_RULE = Template('''\
"""$code: the global seed is set in a compiled region."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import Call


class $class_name(Rule[Call]):
    """The seed of torch's global random generator is set in compiled code.

    ## What it does
    Reports calls of `torch.manual_seed` that a compiled region reaches.

    ## Why it hurts
    Dynamo cannot trace the call, so the graph breaks there.

    ## Fix safety
    There is no fix: where the seed belongs instead is for the author to say.

    ## References
    - [Graph break GB0007](https://meta-pytorch.org/compile-graph-break-site/gb/gb0007.html)
    """

    code = "$code"
    name = "$name"
    summary = "The global seed is set in compiled code"
    on = Call
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007",)
    examples = (
        Bad(
            """
def f(x):
    torch.manual_seed(0)
    return x + torch.rand(3)
""",
            proves=("GB0007",),
        ),
        Good(
            """
def f(x):
    return x + torch.ones(3)
"""
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Report the call by its dotted name, whatever it was imported as."""
        if event.function != "torch.manual_seed":
            return None
        return Finding("`torch.manual_seed` breaks the graph; set the seed before the call")
''')


def scaffold(code: str, name: str, folder: Path) -> tuple[Path, str]:
    """Write the file; its path and the name of the class in it."""
    _require_new(code, name)
    if not folder.is_dir():
        fail(f"no such folder: {folder}")
    class_name = "".join(part.capitalize() for part in name.split("-"))
    path = folder / f"{name.replace('-', '_')}.py"
    text = _RULE.substitute(code=code, name=name, class_name=class_name)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        fail(f"{path} exists already")
    except OSError as error:
        fail(f"cannot write {path}: {reason(error)}")
    return path, class_name


def _require_new(code: str, name: str) -> None:
    """End the command if the code or the name is malformed or taken."""
    if not _CODE.fullmatch(code):
        fail(f"`{code}` is not a code: capital letters, then digits, as in ABC101")
    if not _NAME.fullmatch(name):
        fail(f"`{name}` is not a name: words with hyphens, as in item-in-compiled-region")
    for rule in known_rules():
        if code == rule.code or name == rule.name:
            fail(f"{rule.code} ({rule.name}) exists already")
