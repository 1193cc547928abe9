"""The loader that a training loop runs over, and the batch that it takes from it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tclint.records import record
from tclint.regexes import regex
from tclint.semantics.collect import dotted_name
from tclint.semantics.events import TrainingCall
from tclint.semantics.flow import Definition
from tclint.semantics.site import Site, once
from tclint.semantics.symbols import ModuleInfo, parameters_of
from tclint.semantics.syntax import names_in, nodes, start_of
from tclint.semantics.syntax import own_nodes as nodes_of
from tclint.semantics.training import StepBody

from ..lib.facts.training_loops import called, differentiated, own_nodes

_LOADERS: Final = frozenset(
    {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"}
)
_PASSED_ON: Final = ("enumerate", "tqdm", "iter", "trange")
_WRAPPING: Final = frozenset({"prepare", "prepare_data_loader", "setup_dataloaders"})
_LARGE: Final = regex(r"image|torchvision|video|audio|spectrogram|pixel", re.IGNORECASE)

Scope = ast.FunctionDef | ast.Module


@record(frozen=True)
class Batches:
    """The loader of a loop, and the variables that hold a batch of it, or a part of one.

    Those of a ``wrapped`` loader are on the device already: a framework copies them.
    """

    loader: ast.Call
    names: frozenset[str]
    wrapped: bool


@once
def batches_of(site: Site, loop: StepBody) -> Batches | None:
    """What a loop takes from a loader: what it runs over, or what ``next`` gives in it."""
    if isinstance(loop, ast.For):
        return _batches(site, loop.iter, loop.target)
    for node in own_nodes(loop):
        match node:
            case ast.Assign(
                targets=[target], value=ast.Call(func=ast.Name(id="next"), args=[source, *_])
            ):
                batches = _batches(site, source, target)
                if batches is not None:
                    return batches
    return None


def _batches(site: Site, source: ast.expr, target: ast.expr) -> Batches | None:
    """The batches of the one `DataLoader` of the file that is run over.

    It is followed through variables, attributes of `self`, arguments of the function's calls and
    what functions of the file return, as long as there is only one that it can be.
    """
    scope = site.body.scope
    if not isinstance(scope, (ast.FunctionDef, ast.Module)):
        return None
    search = _Search(site.module)
    loader = search.made(scope, source)
    if loader is None:
        return None
    return Batches(loader, frozenset(names_in(target)), search.wrapped)


def is_first_over(site: Site, loop: StepBody, loader: ast.Call, calls: frozenset[str]) -> bool:
    """True for the first training loop of the file over a loader that makes one of the calls."""
    search = _Search(site.module)
    others = [
        node
        for scope in search.scopes()
        for node in nodes_of(scope)
        if isinstance(node, ast.For)
        and any(differentiated(node))
        and not calls.isdisjoint(map(called, own_nodes(node)))
        and search.made(scope, node.iter) is loader
    ]
    return not others or min(others, key=start_of) is loop


class _Search:
    """The search for what an expression holds, through one file."""

    def __init__(self, module: ModuleInfo) -> None:
        self._module = module
        self.wrapped = False
        self._known: dict[ast.expr, ast.Call | None] = {}

    def made(self, scope: Scope, node: ast.expr) -> ast.Call | None:
        """The one loader that an expression of a scope can be."""
        if node not in self._known:
            self._known[node] = None  # while it is looked for: it may lead to itself
            self._known[node] = self._made(scope, node)
        return self._known[node]

    def _made(self, scope: Scope, node: ast.expr) -> ast.Call | None:
        match node:
            case ast.Call(
                func=ast.Name(id=passed) | ast.Attribute(attr=passed), args=[inner, *_]
            ) if passed in _PASSED_ON:
                return self.made(scope, inner)
            case ast.Call(func=func) if dotted_name(self._module, func) in _LOADERS:
                return node
            case ast.Call(func=ast.Name(id=name)):
                return self._only(self._returned(name, None))
            case ast.Name(id=name):
                return self._only(self._held(scope, name))
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return self._only(self._kept(scope, name))
        return None

    def _only(self, found: Iterator[tuple[Scope, ast.expr] | None]) -> ast.Call | None:
        made = [None if one is None else self.made(*one) for one in found]
        return made[0] if made and all(one is made[0] for one in made) else None

    def _held(self, scope: Scope, name: str) -> Iterator[tuple[Scope, ast.expr] | None]:
        """What a variable is assigned, or what calls give for a parameter; None for all else."""
        stores = [
            node
            for node in nodes_of(scope)
            if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        ]
        statements = [node for node in nodes_of(scope) if isinstance(node, ast.Assign)]
        for store in stores:
            made = next((s for s in statements if store in ast.walk(s.targets[0])), None)
            if made is None:
                yield None
            elif _is_passed_on(made, store):
                self.wrapped = True
            else:
                yield from self._assigned(scope, made, store)
        if stores or isinstance(scope, ast.Module):
            return
        if name in [one.arg for one, _ in parameters_of(scope)]:
            yield from self._given(scope, name)
        else:
            yield from self._held(self._module.tree, name)

    def _assigned(
        self, scope: Scope, statement: ast.Assign, store: ast.Name
    ) -> Iterator[tuple[Scope, ast.expr] | None]:
        match statement:
            case ast.Assign(targets=[ast.Name()], value=value):
                yield scope, value
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Call(func=ast.Name(id=function))
            ) if store in targets:
                yield from self._returned(function, targets.index(store))
            case _:
                yield None

    def _returned(self, function: str, place: int | None) -> Iterator[tuple[Scope, ast.expr]]:
        """What a function of the file returns; of a tuple, what is at a place."""
        info = self._module.functions.get(function)
        if info is None or not isinstance(info.node, ast.FunctionDef):
            return
        for node in nodes_of(info.node):
            match node:
                case ast.Return(value=ast.Tuple(elts=parts)) if place is not None:
                    if place < len(parts):
                        yield info.node, parts[place]
                case ast.Return(value=ast.expr() as value) if place is None:
                    yield info.node, value

    def _kept(self, scope: Scope, name: str) -> Iterator[tuple[Scope, ast.expr]]:
        """What an attribute of `self` is assigned in the class of a method."""
        for cls in self._module.classes.values():
            methods = [m.node for m in cls.methods.values() if isinstance(m.node, ast.FunctionDef)]
            if scope not in methods:
                continue
            for method in methods:
                for node in nodes_of(method):
                    match node:
                        case ast.Assign(
                            targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)],
                            value=value,
                        ) if attribute == name:
                            yield method, value

    def _given(self, function: ast.FunctionDef, name: str) -> Iterator[tuple[Scope, ast.expr]]:
        """What the calls of a function in this file pass for a parameter."""
        if self._module.functions.get(function.name) is None:
            return
        place = [one.arg for one, _ in parameters_of(function)].index(name)
        for scope in self.scopes():
            for node in nodes_of(scope):
                match node:
                    case ast.Call(func=ast.Name(id=called), args=args, keywords=keywords) if (
                        called == function.name
                    ):
                        by_name = [k.value for k in keywords if k.arg == name]
                        by_place = args[place : place + 1]
                        yield from ((scope, value) for value in (*by_place, *by_name))

    def scopes(self) -> Iterator[Scope]:
        """The file itself, and all its functions."""
        yield self._module.tree
        for node in nodes(self._module.tree):
            if isinstance(node, ast.FunctionDef):
                yield node


def _is_passed_on(statement: ast.Assign, store: ast.Name) -> bool:
    """True where a framework wraps a loader: `loader = accelerator.prepare(loader)`."""
    match statement:
        case ast.Assign(targets=[target], value=ast.Call(func=func, args=args)) if (
            isinstance(func, ast.Attribute) and func.attr in _WRAPPING
        ):
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            place = targets.index(store) if store in targets else len(args)
            given = args[place] if place < len(args) else None
            return isinstance(given, ast.Name) and given.id == store.id
    return False


def is_given(loader: ast.Call, name: str) -> bool:
    """True where a loader is given something other than nothing, or what nobody can see."""
    given = [k.value for k in loader.keywords if k.arg in (name, None)]
    return any(not isinstance(value, ast.Constant) or value.value for value in given)


def is_batch(event: TrainingCall, batches: Batches, call: ast.Call) -> bool:
    """True where a call is a method of a batch, or of a part of it, as the loader gave it."""
    method = call.func
    return isinstance(method, ast.Attribute) and _is_loaded(event, batches, method.value, set())


def _is_loaded(
    event: TrainingCall, batches: Batches, node: ast.expr, seen: set[Definition]
) -> bool:
    """True for what nothing but the loader, or a part of a batch, can be bound to here."""
    while isinstance(node, ast.Subscript):
        node = node.value
    sources = event.site.flow.sources(node)
    new = [one for one in sources if one not in seen]
    seen.update(new)
    return bool(sources) and all(_is_part(event, batches, one, seen) for one in new)


def _is_part(
    event: TrainingCall, batches: Batches, made: Definition, seen: set[Definition]
) -> bool:
    """True for `x, y = batch`, `x = batch[0]`, `batch = next(loader)` and `for x in batch`."""
    match made.node:
        case ast.Assign(value=ast.Call(func=ast.Name(id="next"))):
            return made.name in batches.names
        case ast.Assign(value=ast.Name() | ast.Subscript() as whole):
            return _is_loaded(event, batches, whole, seen)
        case ast.comprehension(iter=whole):
            match whole:
                case ast.Call(func=ast.Attribute(value=inner, attr="items" | "values"), args=[]):
                    whole = inner
            return _is_loaded(event, batches, whole, seen)
    return made.node is event.loop and made.name in batches.names


def loads_what_is_large(site: Site) -> bool:
    """True for a file that speaks of images, sound or films."""
    return _LARGE.search(site.module.file.text) is not None
