"""Findings and fixes for all versions of torch that a project is for.

A finding that holds on some of them says on which. A fix that the oldest cannot run is declined:
rules write the names of today, and here, nowhere else, these are compared with ``min-torch``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from tclint.config import Settings
from tclint.diagnostics import Confidence, Decline
from tclint.lint.rewrite import AddArgument, Import, Local, Repair
from tclint.lint.rule import Finding
from tclint.lint.templates import KEPT_TEMPLATES, parsed, part_of
from tclint.records import record
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.torch_bounds import NEWEST_TORCH, shown
from tclint.torch_facts.lifetimes import (
    Lifetime,
    Version,
    lifetime,
    lifetimes,
    method_lifetime,
)

# Operators of other libraries live there, which no release of torch is asked about.
_FOREIGN: Final = ("torch.ops.", "torch.classes.")

# Before the registry that was read first, nobody knows which ids a release had.
_WITH_IDS: Final = (2, 11)

Parts = Mapping[str, ast.expr | ast.stmt]


@record(frozen=True)
class Written:
    """A name of torch's in a template, with an argument that is passed to it.

    ``is_method`` says that its owner is not known.
    """

    name: str
    argument: str | None = None
    is_method: bool = False

    @property
    def lifetime(self) -> Lifetime | None:
        """The releases that have it; None where that is not known."""
        return (method_lifetime if self.is_method else lifetime)(self.name, self.argument)

    @property
    def first(self) -> Version | None:
        """The first release that has it; None where that is not known."""
        return None if self.lifetime is None else self.lifetime.since

    def is_in(self, version: Version) -> bool:
        """Whether a release surely has it; methods that torch's own types lack are Python's."""
        found = self.lifetime
        return self.is_method if found is None else found.holds(version)

    def __str__(self) -> str:
        spelled = f".{self.name}" if self.is_method else self.name
        return f"{spelled}({self.argument}=...)" if self.argument else spelled


def in_range(finding: Finding, settings: Settings) -> Finding | None:
    """The finding, and on which of the project's versions it holds; None where that is on none."""
    oldest, target = settings.oldest_torch, settings.target_torch
    since, before = finding.since, finding.before
    if (since is not None and target < since) or (before is not None and before <= oldest):
        return None
    limits = [f">= {shown(since)}"] if since is not None and oldest < since else []
    limits += [f"< {shown(before)}"] if before is not None and before <= target else []
    if not limits:
        return finding
    # Where the code is to run it holds no more.
    weak = Confidence.LOW if before is not None and before <= target else finding.confidence
    said = f"{finding.message} (torch {', '.join(limits)})"
    return replace(finding, message=said, confidence=weak)


def of_releases(gb_ids: Iterable[str], settings: Settings) -> tuple[str, ...]:
    """The ids of graph breaks that some torch of the project knows."""
    known, oldest, target = lifetimes("graph_breaks"), settings.oldest_torch, settings.target_torch
    return tuple(
        gb_id
        for gb_id in gb_ids
        if (one := known.get(gb_id)) is None
        or (one.since <= target and (one.until is None or oldest < one.until))
        or target < _WITH_IDS
    )


def for_oldest(fix: Repair | Decline | None, site: Site) -> Repair | Decline | None:
    """The fix, or the reason why the project's oldest torch cannot run it.

    What had a private name before it had a public one is not there: a fix writes no private name.
    """
    oldest = site.settings.oldest_torch
    if not isinstance(fix, Repair) or oldest >= NEWEST_TORCH:
        return fix
    for rewrite in fix.rewrites:
        if isinstance(rewrite, Local):
            for written in names_written(fix, rewrite, site):
                if not written.is_in(oldest):
                    return Decline(_obstacle(written, site.settings))
    return fix


def _obstacle(written: Written, settings: Settings) -> str:
    oldest = shown(settings.oldest_torch)
    if written.first is None:
        return f"it is not known whether torch {oldest} has `{written}`"
    runs = f"fixes are for torch {oldest} too (`min-torch`)"
    if settings.oldest_torch == settings.target_torch:
        runs = f"this project runs on torch {oldest} (`target-torch`)"
    return f"`{written}` needs torch {shown(written.first)}; {runs}"


def names_written(fix: Repair, rewrite: Local, site: Site) -> Iterator[Written]:
    """The names of torch's that a template writes, and arguments that it passes to them."""
    known = {**site.module.imports, **_imported(fix), "torch": "torch"}
    for node, is_inner in _spoken_of(rewrite.template):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                yield from _argument(node.func, keyword.arg, known, rewrite.parts, site)
            continue
        name = _dotted(node, known, rewrite.parts, site)
        if not is_inner and name is not None and _is_torch(name):
            yield Written(name)
        if isinstance(node, ast.Attribute) and name is None:
            yield Written(node.attr, is_method=True)
    if isinstance(rewrite, AddArgument):
        yield from _argument(rewrite.call.func, rewrite.keyword, known, {}, site)


@lru_cache(maxsize=KEPT_TEMPLATES)
def _spoken_of(template: str) -> tuple[tuple[ast.expr, bool], ...]:
    """The names, attributes and calls of a template, and whether an attribute of it is read."""
    found = nodes(parsed(template))
    inner = {node.value for node in found if isinstance(node, ast.Attribute)}
    spoken_of = [node for node in found if isinstance(node, (ast.Name, ast.Attribute, ast.Call))]
    return tuple((node, node in inner) for node in spoken_of)


def _argument(
    function: ast.expr, argument: str | None, known: Mapping[str, str], parts: Parts, site: Site
) -> Iterator[Written]:
    name = _dotted(function, known, parts, site)
    if name is None and isinstance(function, ast.Attribute):
        written = Written(function.attr, argument, is_method=True)
    elif name is not None and _is_torch(name):
        written = Written(name, argument)
    else:
        return
    # The call may be the user's: then the torch that has the function is there.
    if argument is not None and written.first != replace(written, argument=None).first:
        yield written


def _dotted(node: ast.expr, known: Mapping[str, str], parts: Parts, site: Site) -> str | None:
    """The name that an expression of a template, or of the program, stands for; None if unknown."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    part = parts.get(part_of(node) or "")
    base = known.get(node.id) if part is None else _of_part(part, site)
    return None if base is None else ".".join([base, *reversed(names)])


def _of_part(part: ast.expr | ast.stmt, site: Site) -> str | None:
    """The library name that the user's own code uses here."""
    dotted = site.dotted(part) if isinstance(part, ast.expr) else None
    return dotted if dotted is not None and _is_torch(dotted) else None


def _imported(fix: Repair) -> dict[str, str]:
    """What the fix's own imports bind."""
    bound: dict[str, str] = {}
    for rewrite in fix.rewrites:
        if isinstance(rewrite, Import):
            module, name = rewrite.module, rewrite.name
            local = module.partition(".")[0] if name is None else name
            bound[local] = local if name is None else f"{module}.{name}"
    return bound


def _is_torch(dotted: str) -> bool:
    return dotted.startswith("torch.") and not dotted.startswith(_FOREIGN)
