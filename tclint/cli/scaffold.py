"""The rule that ``tclint new-rule`` writes: complete, and true of torch as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from tclint.cli.terminal import fail
from tclint.lint.registry import known_rules
from tclint.records import record
from tclint.source.errors import reason

_CODE = re.compile(r"[A-Z]{2,}[0-9]{3,}")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")

_RULE = Template('''\
"""$code: the global seed is set in a compiled region."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call


class $class_name(Rule[Call]):
    """The seed of torch's global random generator is set in compiled code."""

    code = "$code"
    name = "$name"
    summary = "The global seed is set in compiled code"
    instead = "Set the seed before the compiled function is called"
    on = Call
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007",)

    def check(self, event: Call) -> Finding | None:
        """Report the call by its dotted name, whatever it was imported as."""
        if event.function != "torch.manual_seed":
            return None
        return Finding("`torch.manual_seed` breaks the graph")
''')

_PAGE = Template("""\
# $name ($code)

The seed of torch's global random generator is set in compiled code.

## What it does
Reports calls of `torch.manual_seed` that a compiled region reaches.

## Why it hurts
Dynamo cannot trace the call, so the graph breaks there.

## Fix safety
No fix is offered: only the author knows where the seed belongs.

## What to do instead
Set the seed before the compiled function is called.

## When to leave it
Where the function runs once, and one break costs nothing.

## References
- [Graph break GB0007](https://meta-pytorch.org/compile-graph-break-site/gb/gb0007.html)

## Examples

### Bad: the seed is set before each draw

- proves: GB0007

```python
def f(x):
    torch.manual_seed(0)
    return x + torch.rand(3)
```

### Good: nothing is drawn

```python
def f(x):
    return x + torch.ones(3)
```
""")


@record(frozen=True)
class NewRule:
    """A rule that was written: its module, its page, and its class."""

    module: Path
    page: Path
    class_name: str


def scaffold(code: str, name: str, folder: Path) -> NewRule:
    """Write the two files of a rule."""
    _require_new(code, name)
    if not folder.is_dir():
        fail(f"no such folder: {folder}")
    class_name = "".join(part.capitalize() for part in name.split("-"))
    module = folder / f"{name.replace('-', '_')}.py"
    new = NewRule(module, module.with_suffix(".md"), class_name)
    for path in (new.module, new.page):
        if path.exists():
            fail(f"{path} exists already")
    _write(new.module, _RULE.substitute(code=code, name=name, class_name=class_name))
    _write(new.page, _PAGE.substitute(code=code, name=name))
    return new


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        fail(f"{path} exists already")
    except OSError as error:
        fail(f"cannot write {path}: {reason(error)}")


def _require_new(code: str, name: str) -> None:
    """End the command if the code or the name is malformed or taken."""
    if not _CODE.fullmatch(code):
        fail(f"`{code}` is not a code: capital letters, then digits, as in ABC101")
    if not _NAME.fullmatch(name):
        fail(f"`{name}` is not a name: words with hyphens, as in item-in-compiled-region")
    for rule in known_rules():
        if code == rule.code or name == rule.name:
            fail(f"{rule.code} ({rule.name}) exists already")
