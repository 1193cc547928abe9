"""Where a rule is explained."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tclint.lint.registry import UnknownRuleError, pack_of, rule_by_code

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GRAPH_BREAKS: Final = "https://meta-pytorch.org/compile-graph-break-site/gb/{}.html"
DOCUMENTATION: Final = "Documentation"
"""The label of the project URL below which a pack's pages are, as ``rules/CODE/``."""


def page_of(code: str) -> str | None:
    """The address of the rule's own page: on its package's site, or else its file; None without.

    Files are for this machine alone: :func:`on_web` leaves them out.
    """
    site = _site(code)
    return _file(code) if site is None else f"{site}/rules/{code}/"


def on_web(page: str | None) -> str | None:
    """The address of a page that others can open, too."""
    return page if page is not None and page.startswith(("https://", "http://")) else None


def graph_break_page(gb_id: str) -> str:
    """Torch's own page of a graph break, such as GB0124."""
    return GRAPH_BREAKS.format(gb_id.lower())


def _site(code: str) -> str | None:
    """The documentation of the package that a rule comes with."""
    pack = pack_of(code)
    return None if pack is None else _site_of(pack)


@cache
def _file(code: str) -> str | None:
    """The page beside the rule's module, as `tclint rule` reads it."""
    try:
        module = sys.modules.get(type(rule_by_code(code)).__module__)
    except UnknownRuleError:
        return None
    file = getattr(module, "__file__", None)
    page = Path(file).with_suffix(".md") if file else None
    return page.absolute().as_uri() if page is not None and page.is_file() else None


@cache
def _site_of(pack: EntryPoint) -> str | None:
    """What the metadata of a pack's package says, which takes long to read."""
    if pack.dist is None:
        return None
    urls = pack.dist.metadata.get_all("Project-URL") or []
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    return named[DOCUMENTATION].rstrip("/") if DOCUMENTATION in named else None
