"""A rule's page as it is printed: what it says of itself, and facts from its class."""

from __future__ import annotations

import difflib
import json
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tclint.diagnostics import USUAL_WORTH, Worth
from tclint.lint.links import graph_break_page
from tclint.lint.pages import page_of
from tclint.lint.rule import Bad, Example, Good, Untouched
from tclint.torch_bounds import NEWEST_TORCH, shown
from tclint.torch_facts.dynamo_settings import with_needed

if TYPE_CHECKING:
    from tclint.lint.rule import Rule

_AROUND = 3
"""Lines of a diff on each side of what changes."""
_LEFT_OUT = "...\n"


def page(rule: Rule[Any]) -> str:
    """The whole page."""
    told = page_of(rule)
    first, _, rest = (told.text or rule.summary).partition("\n\n")
    parts = [f"# {rule.name} ({rule.code})", first, facts(rule), rest]
    if told.examples:
        parts.append("## Examples")
        parts.extend(part for example in told.examples for part in _example(example))
    return "\n\n".join(part for part in parts if part) + "\n"


def facts(rule: Rule[Any]) -> str:
    """What the rule costs, which graph breaks it is about, and what kinds of fixes it has."""
    lines = ["- Effect: " + ", ".join(effect.value for effect in rule.effects)]
    lines.append(f"- Worth: {worth(rule)}")
    if rule.gb_ids:
        links = (f"[{gb}]({graph_break_page(gb)})" for gb in rule.gb_ids)
        lines.append("- Graph breaks: " + ", ".join(links))
    if rule.instead:
        lines.append(f"- Do this instead: {rule.instead}")
    lines.append(f"- Fix: {fix_kinds(rule)}")
    if rule.settings:
        names = ", ".join(f"`{one.dotted}`" for one in with_needed(rule.settings))
        lines.append(f"- Setting that removes it in many cases: {names}")
    lines.append(f"- Torch: {_releases(rule)}")
    lines.append(f"- Silence it: `# tclint: ignore[{rule.code}]` on the line")
    lines += [
        f"- Option `{o.name}` ({o.type}, `{json.dumps(o.default)}` if not set): {o.doc}"
        for o in rule.options
    ]
    return "\n".join(lines)


def _releases(rule: Rule[Any]) -> str:
    """The releases of torch that the rule is about, by its examples."""
    some = only_for(rule)
    only = f"; parts of it apply to {some} only" if some else ""
    return f"any release, as known up to {shown(NEWEST_TORCH)}{only}"


def only_for(rule: Rule[Any]) -> str:
    """The releases that some of the rule's examples are about; empty if all are about any."""
    told = page_of(rule)
    some = {example.torch for example in (*told.examples, *told.more) if example.torch}
    return ", ".join(sorted(some))


def worth(rule: Rule[Any]) -> str:
    """What removing the effect saves, and whether that was measured."""
    measured = rule.measured or "not measured, estimated from its effect"
    return f"{usual_worth(rule).value}: {measured}"


def usual_worth(rule: Rule[Any]) -> Worth:
    """What most findings of a rule are worth."""
    return rule.worth or USUAL_WORTH[rule.effects[0]]


def fix_kinds(rule: Rule[Any]) -> str:
    """Which fixes the examples show: ``safe``, ``unsafe``, both or ``none``."""
    bad = [example for example in page_of(rule).examples if isinstance(example, Bad)]
    kinds = [
        name
        for name, shown in (
            ("safe", any(example.fixed is not None for example in bad)),
            ("unsafe", any(example.unsafe is not None for example in bad)),
        )
        if shown
    ]
    return ", ".join(kinds) or "none"


def _example(example: Example) -> Iterator[str]:
    if isinstance(example, Good):
        yield _title("Not reported", example)
        yield _code(example.code)
    elif isinstance(example, Untouched):
        yield _title("Reported, not fixed", example)
        yield _code(example.code)
        yield f"Why there is no fix: {_sentence(example.reason)}"
    else:
        yield _title("Reported", example)
        yield _code(example.code)
        if example.fixed is not None:
            yield "`tclint fix` changes:"
            yield _diff(example.code, example.fixed)
        if example.unsafe is not None:
            yield "`tclint fix --unsafe-fixes` changes:"
            yield _diff(example.code, example.unsafe)


def _title(kind: str, example: Example) -> str:
    titled = f"### {kind}: {example.title}" if example.title else f"### {kind}"
    return f"{titled} (torch {example.torch})" if example.torch else titled


def _code(code: str) -> str:
    text = textwrap.dedent(code).strip("\n")
    return f"```python\n{text}\n```"


def _diff(before: str, after: str) -> str:
    """The lines that a fix changes, and those around them."""
    old, new = (textwrap.dedent(text).strip("\n").split("\n") for text in (before, after))
    _, _, *lines = difflib.unified_diff(old, new, lineterm="", n=_AROUND)
    text = "\n".join("..." if line.startswith("@@") else line for line in lines)
    return f"```diff\n{text.removeprefix(_LEFT_OUT)}\n```"


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?")) else text + "."
