"""Writing functions of `math`, and new names, into a file that may use them for something else."""

from __future__ import annotations

from tclint.lint.rewrite import Import
from tclint.semantics.site import Site


def library(site: Site, dotted: str) -> tuple[str, tuple[Import, ...]]:
    """How to write a builtin, or a name of another module with the import that it needs."""
    spelled = site.spell(dotted)
    module, _, inside = dotted.partition(".")
    imports = (Import(module),) if inside and spelled is None else ()
    return spelled or dotted, imports


def new_variable(site: Site, wanted: str, taken: set[str]) -> str:
    """A name that the function and the imports do not have, nor those already ``taken``."""
    name = wanted
    while site.body.names(name) or name in taken or name in site.module.imports:
        name += "_"
    taken.add(name)
    return name
