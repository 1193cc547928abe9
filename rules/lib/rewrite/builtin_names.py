"""Writing builtins, functions of `math` and new variables into a file that may use their names."""

from __future__ import annotations

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Import
from tclint.semantics.site import Site

Spelled = tuple[str, tuple[Import, ...]]


def builtin(site: Site, name: str) -> Spelled | Decline:
    """How to write a builtin."""
    if is_taken(site, name):
        return Decline(f"`{name}` means something else here")
    return name, ()


def library(site: Site, dotted: str) -> Spelled | Decline:
    """How to write a name of another module, with the import that it needs."""
    spelled = site.spell(dotted)
    if spelled is not None:
        return spelled, ()
    module = dotted.partition(".")[0]
    if is_taken(site, module):
        return Decline(f"`{module}` means something else here, so `{dotted}` cannot be written")
    return dotted, (Import(module),)


def is_taken(site: Site, name: str) -> bool:
    """True when the file or the function gives the name a meaning of its own."""
    module = site.module
    if name in {*module.imports, *module.functions, *module.classes, *module.assigned}:
        return True
    return bool(site.stores(name) or site.body.arguments(name))


def new_variable(site: Site, wanted: str, taken: set[str]) -> str:
    """A name that the function and the imports do not have, nor those already ``taken``."""
    name = wanted
    while site.body.names(name) or name in taken or name in site.module.imports:
        name += "_"
    taken.add(name)
    return name
