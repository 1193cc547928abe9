"""Code lenses: what in a file `tclint verify` can be run on, as far as the text tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.config import Config
from tclint.diagnostics import ChainLink, Effect
from tclint.records import record
from tclint.semantics.collect import dotted_name
from tclint.semantics.symbols import FunctionInfo, ModuleInfo
from tclint.torch_facts.modules import MODULE_CLASSES

if TYPE_CHECKING:
    from tclint.server.document import Analysis


@record(frozen=True)
class Target:
    """A target of `tclint verify`, and the row where it is defined."""

    text: str
    row: int


@record(frozen=True)
class Told:
    """What is said above a function that is compiled."""

    text: str
    row: int


def compiled_in(analysis: Analysis) -> Iterator[Told]:
    """The functions of a document that are compiled: where, and how often they break here."""
    path = str(analysis.document.path)
    for region in analysis.looked.regions:
        if region.root.filename != path:
            continue
        places = ", ".join(f"{Path(each.filename).name}:{each.row}" for each in region.places)
        where = f"Compiled at {places}" if places else "Compiled by other code"
        number = _break_count(analysis, region.root)
        breaks = "1 graph break" if number == 1 else f"{number or 'no'} graph breaks"
        yield Told(f"{where}: {breaks} in this file", region.root.row)


def _break_count(analysis: Analysis, root: ChainLink) -> int:
    found = [each.result.diagnostic for each in analysis.reported]
    roots = [one.chain[0] for one in found if one.effect is Effect.GRAPH_BREAK and one.chain]
    # The row of a step is that of the call that it makes.
    return sum(each[:2] == (root.function, root.filename) for each in roots)


def targets_in(module: ModuleInfo, config: Config) -> Iterator[Target]:
    """The configured targets of a file, its factories, and modules that need no arguments."""
    place = _place(module.file.path, config.root)
    configured = (target.target.rpartition(":") for target in config.verify_targets)
    wanted = {name for where, _, name in configured if where in (module.name, place)}
    for function in module.functions.values():
        if function.name in wanted or _is_factory(function):
            yield Target(f"{place}:{function.name}", function.node.lineno)
    for cls in module.classes.values():
        if cls.name != cls.qualname:
            continue  # in another class
        bases = {dotted_name(module, base) for base in cls.bases}
        init = cls.methods.get("__init__")
        is_simple = bool(bases & MODULE_CLASSES) and "forward" in cls.methods
        if cls.name in wanted or (is_simple and (init is None or _needs_nothing(init, 1))):
            yield Target(f"{place}:{cls.name}", cls.node.lineno)


def _place(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _is_factory(function: FunctionInfo) -> bool:
    """True where the last thing that a function does is to return a module and its arguments."""
    node = function.node
    if isinstance(node, ast.Lambda) or not _needs_nothing(function, 0):
        return False
    match node.body[-1]:
        case ast.Return(value=ast.Tuple(elts=[_, ast.Tuple() | ast.List(), *_])):
            return True
        case ast.Return(value=ast.Dict(keys=keys)):
            names = {key.value for key in keys if isinstance(key, ast.Constant)}
            return {"model", "inputs"} <= names
    return False


def _needs_nothing(function: FunctionInfo, given: int) -> bool:
    """True where a call without arguments, but for those that are ``given``, is complete."""
    spec = function.node.args
    required = len(spec.posonlyargs) + len(spec.args) - len(spec.defaults) - given
    return required <= 0 and all(default is not None for default in spec.kw_defaults)
