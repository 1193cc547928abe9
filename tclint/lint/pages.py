"""A rule's page: the Markdown file beside its module, or else its docstring and ``examples``.

A page begins with the rule's name and code and says in prose what the rule is about. Then come its
examples, each below a heading of its own, with facts about it as a list::

    # item-in-compiled-region (TCL101)

    A tensor's value is fetched with `.item()` where Dynamo traces.

    ## What it does
    ...

    ## Examples

    ### Bad: the number meets only tensors

    - proves: GB0124, host-sync

    ```python
    def f(x: torch.Tensor):
        return x / x.max().item()
    ```

    Fixed:

    ```python
    def f(x: torch.Tensor):
        return x / x.max().detach()
    ```

The examples below ``## More examples`` are tested like all others, and printed nowhere. Nothing
reads a page while files are checked; reports read those of the rules that found something.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from tclint.errors import UserError
from tclint.lint.claims import releases, split
from tclint.lint.rule import Bad, Example, Good, Rule, Untouched
from tclint.records import record
from tclint.regexes import regex
from tclint.source.errors import reason

EXAMPLES: Final = "## Examples"
MORE: Final = "## More examples"
EFFECTS: Final = ("recompile", "host-sync", "launches", "raises", "warns")
"""What an example may prove, besides graph breaks."""

_RESULTS: Final = ("Fixed:", "Unsafe:")
_GRAPH_BREAK: Final = regex(r"GB\d{4}")


class PageError(UserError):
    """A page that cannot be understood; the message names the file and the line."""


@record(frozen=True)
class Page:
    """What a rule says of itself.

    ``text`` is prose: a first paragraph, then sections. ``examples`` stand after it wherever the
    page is printed; ``more`` would crowd it.
    """

    text: str
    examples: tuple[Example, ...] = ()
    more: tuple[Example, ...] = ()


def page_of(rule: Rule[Any]) -> Page:
    """The page of a rule; with a warning, its docstring alone where the file is no page."""
    return _page_of(type(rule))


@cache
def _page_of(rule: type[Rule[Any]]) -> Page:
    try:
        return read_page(rule)
    except PageError as error:
        warnings.warn(
            f"tclint: {error}; its docstring is shown instead", RuntimeWarning, stacklevel=2
        )
        return Page(_docstring(rule))


def read_page(rule: type[Rule[Any]]) -> Page:
    """The page of a rule: the file unless its class gives ``examples``, or there is no file.

    Raises:
        PageError: there is a file that cannot be read or understood.
    """
    path = page_file(rule)
    if rule.examples or path is None or not path.is_file():
        return Page(_docstring(rule), tuple(rule.examples))
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PageError(f"{path}: not UTF-8: byte {error.start}") from error
    except OSError as error:
        raise PageError(f"{path}: cannot be read: {reason(error)}") from error
    return parse_page(text, path, f"# {rule.name} ({rule.code})")


def page_file(rule: type[Rule[Any]]) -> Path | None:
    """Where the page of a rule belongs; None for a class that is in no file."""
    file = getattr(sys.modules.get(rule.__module__), "__file__", None)
    return Path(file).with_suffix(".md") if file else None


def _docstring(rule: type[Rule[Any]]) -> str:
    return inspect.cleandoc(rule.__doc__ or "")


def parse_page(text: str, path: Path, title: str) -> Page:
    """A page of its text.

    Raises:
        PageError: at the first line that has no place there.
    """
    lines = _Lines(path, text)
    if lines.next() != title:
        raise lines.error(f"the first line is not `{title}`")
    prose = "\n".join(_prose(lines)).strip("\n")
    if not prose or prose.startswith("#"):
        raise lines.error("no paragraph between the title and the first section says what it is", 1)
    examples = tuple(_examples(lines, EXAMPLES))
    more = tuple(_examples(lines, MORE))
    if (line := lines.skip_blank()) is not None:
        lines.next()
        raise lines.error(f"`{line}` is not part of an example: prose comes before `{EXAMPLES}`")
    return Page(prose, examples, more)


class _Lines:
    """The lines of a page, one after the other, and the place for errors."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.lines = text.split("\n")
        self.number = 0

    def peek(self) -> str | None:
        """The next line, None at the end."""
        return self.lines[self.number] if self.number < len(self.lines) else None

    def next(self) -> str | None:
        """Go past a line."""
        line = self.peek()
        self.number += 1
        return line

    def skip_blank(self) -> str | None:
        """The next line that is not blank."""
        while (line := self.peek()) is not None and not line.strip():
            self.number += 1
        return line

    def block(self) -> str | None:
        """A fenced block if the next line opens one: its text, from the line break before it."""
        line = self.skip_blank()
        if line is None or not line.startswith("```"):
            return None
        self.next()
        if line != "```python":
            raise self.error(f"a block of code opens with ```python, not with {line}")
        opened, code = self.number, []
        while (line := self.next()) != "```":
            if line is None:
                raise self.error("the block is not closed with ```", opened)
            code.append(line)
        if not any(map(str.strip, code)):
            raise self.error("the block is empty", opened)
        return "".join(f"\n{line}" for line in code) + "\n"

    def error(self, message: str, number: int | None = None) -> PageError:
        """An error at a line: that which was gone past last, unless another is given."""
        return PageError(f"{self.path}:{number or self.number}: {message}")


def _prose(lines: _Lines) -> Iterator[str]:
    """The lines above the examples."""
    opened = 0
    while (line := lines.peek()) is not None:
        if not opened and line in {EXAMPLES, MORE}:
            return
        lines.next()
        if line.startswith("```"):
            opened = 0 if opened else lines.number
        elif not opened and _heading(line) is not None:
            raise lines.error(f"an example comes below `{EXAMPLES}` or `{MORE}`")
        yield line
    if opened:
        raise lines.error("the block is not closed with ```", opened)


def _examples(lines: _Lines, heading: str) -> Iterator[Example]:
    """The examples of a section, none where it is missing."""
    if lines.skip_blank() != heading:
        return
    lines.next()
    begun = lines.number
    while (line := lines.skip_blank()) is not None and line.startswith("### "):
        lines.next()
        found = _heading(line)
        if found is None:
            kinds = ", ".join(f"`### {kind}: title`" for kind in _FACTS)
            raise lines.error(f"`{line}` is none of {kinds}")
        yield _example(lines, *found)
        begun = 0
    if begun and (line is None or line.startswith("#")):
        raise lines.error(f"no example follows `{heading}`", begun)


def _heading(line: str) -> tuple[str, str] | None:
    """The kind and the title of an example."""
    kind, _, title = line.removeprefix("### ").partition(": ")
    return (kind, title.strip()) if line.startswith("### ") and kind in _FACTS else None


def _example(lines: _Lines, kind: str, title: str) -> Example:
    begun = lines.number
    facts = _facts(lines, kind)
    given: dict[str, Any] = {"title": title} | facts
    if kind == "Untouched" and "reason" not in facts:
        raise lines.error("`- reason: ...` is missing: part of what the rule says", begun)
    code = lines.block()
    if code is None:
        raise lines.error("a block that opens with ```python is missing", begun)
    given |= _results(lines, kind)
    if kind == "Bad":
        return Bad(code, **given)
    return Good(code, **given) if kind == "Good" else Untouched(code, **given)


def _facts(lines: _Lines, kind: str) -> dict[str, str | tuple[str, ...]]:
    """The list above an example's code."""
    facts: dict[str, str | tuple[str, ...]] = {}
    while (line := lines.skip_blank()) is not None and not line.startswith(("#", "```")):
        lines.next()
        name, _, value = line.removeprefix("- ").partition(":")
        if not line.startswith("- ") or name not in _FACTS[kind]:
            known = ", ".join(f"`- {fact}: ...`" for fact in _FACTS[kind])
            raise lines.error(f"`{line}` is none of {known}")
        field = name.replace(" ", "_")
        if field in facts:
            raise lines.error(f"`{name}` is there twice")
        facts[field] = _FACTS[kind][name](lines, value.strip())
    return facts


def _reason(lines: _Lines, value: str) -> str:
    if not value:
        raise lines.error("`reason` is empty")
    return value


def _proves(lines: _Lines, value: str) -> tuple[str, ...]:
    ids = tuple(value.split(", "))
    for one in ids:
        what, bounds = split(one)
        if bounds is None:
            raise lines.error(f"`{one}` is to end like `< 2.14` or `>= 2.13 < 2.15`")
        if what not in EFFECTS and not _GRAPH_BREAK.fullmatch(what):
            words = ", ".join(f"`{effect}`" for effect in EFFECTS)
            raise lines.error(f"`{one}` is neither a graph break like `GB0124` nor one of {words}")
    return ids


def _torch(lines: _Lines, value: str) -> str:
    if not value or releases(value) is None:
        raise lines.error("the releases of torch are written `< 2.14` or `>= 2.13 < 2.15`")
    return value


def _python(lines: _Lines, value: str) -> str:
    if len(value) < 3 or not value.startswith("`") or not value.endswith("`"):
        raise lines.error("inputs are Python in backquotes, as in `(torch.ones(3),)`")
    return value[1:-1]


_FACTS: Final[dict[str, dict[str, Callable[[_Lines, str], str | tuple[str, ...]]]]] = {
    "Bad": {"proves": _proves, "inputs": _python, "fails on": _python, "torch": _torch},
    "Good": {"inputs": _python, "torch": _torch},
    "Untouched": {"reason": _reason, "proves": _proves, "inputs": _python, "torch": _torch},
}


def _results(lines: _Lines, kind: str) -> dict[str, str]:
    """What becomes of a bad example: the blocks after its code."""
    results: dict[str, str] = {}
    while (line := lines.skip_blank()) is not None and not line.startswith("#"):
        lines.next()
        field = line.removesuffix(":").lower()
        if kind != "Bad" or line not in _RESULTS:
            wanted = "`Fixed:`, `Unsafe:` or the next example" if kind == "Bad" else "an example"
            raise lines.error(f"`{line}` is not {wanted}")
        if field in results:
            raise lines.error(f"`{line}` is there twice")
        code = lines.block()
        if code is None:
            raise lines.error(f"no block that opens with ```python follows `{line}`")
        results[field] = code
    return results
