"""TCL416: a model is compiled, and whatever runs of it runs eagerly all the same."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final

from tclint.diagnostics import Advice, Confidence, Decline, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.events import CompileCall
from tclint.semantics.site import Site
from tclint.semantics.syntax import children, end_of, nodes, start_of
from tclint.semantics.values import Function, Object
from tclint.torch_facts.modules import ASKED_OF_MODULES, GIVE_THE_MODULE

from ..lib.facts.wrapped_modules import DDP, wrapped_before
from .behind import follows, is_below

_UNWRAPPED: Final = ("_orig_mod", "module")
_CALLS: Final = ("forward", "__call__", "_call_impl", "_wrapped_call_impl")
"""Methods that the compiled object has of its own, or that lead to its call."""
_CONTAINERS: Final = frozenset({"torch.nn.Sequential"})


class _Use(Enum):
    """What a place does with a model that is in a variable."""

    NEUTRAL = "neither runs it nor passes it on"
    METHOD = "calls a method of it"
    FORWARD = "calls its `forward`"
    ESCAPE = "calls it, or passes it on"


@record(frozen=True)
class _Uses:
    """The uses of a variable, and the first call of a method."""

    kinds: frozenset[_Use]
    method: ast.expr | None = None


class CompiledInNameOnly(Rule[CompileCall]):
    """A model is compiled, but the code only runs parts of it that stay eager."""

    code = "TCL416"
    name = "compiled-in-name-only"
    summary = "A model is compiled, but the code only runs parts of it that stay eager"
    instead = "Call the compiled object itself, or compile in place with `model.compile()`"
    worth = Worth.HIGH
    measured = "all that compiling saves: no frame is compiled (torch 2.13)"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look at what runs of the model behind the call."""
        if "disable" in event.keywords or isinstance(event.target, Function):
            return None
        match event.call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="compile")) if (
                event.site.dotted(event.call.func) != "torch.compile"
            ):
                return _own_call(event) or _forward_alone(event, name)
            case ast.Call(args=[_, *_]):
                return _of_layers(event) or _methods_alone(event) or _methods_of_attribute(event)
        return None


def _methods_alone(event: CompileCall) -> Finding | None:
    """`compiled = torch.compile(model)`, and then `compiled.generate(...)`."""
    site, call = event.site, event.call
    match site.statement:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=value)
        ) if value is call:
            pass
        case _:
            return None
    if site.body.is_declared(name) or _reads_all_names(site, call):
        return None
    behind = [load for load in site.flow.named(name) if follows(site, load, call)]
    uses = _uses(site, name, behind, call)
    confidence = Confidence.HIGH if site.function is not None else Confidence.MEDIUM
    if uses.kinds <= {_Use.NEUTRAL, _Use.METHOD} and uses.method is not None:
        shown = _called(site, uses.method)
        return Finding(
            f"`{name}` is compiled, but its methods are not: `{shown}` runs eagerly",
            fix=_what_to_compile(),
            confidence=confidence,
            related=(uses.method,),
        )
    original = _call_of_original(event, name)
    if uses.kinds == {_Use.NEUTRAL} and original is not None:
        return Finding(
            f"`{name}` is compiled and never called: `{site.text(original)}` runs eagerly",
            fix=Advice(f"call `{name}` where the compiled model is meant to run"),
            confidence=confidence,
            related=(original,),
        )
    return None


def _methods_of_attribute(event: CompileCall) -> Finding | None:
    """`self.model = torch.compile(model)`, and then only methods are called in the file."""
    site, call = event.site, event.call
    match site.statement:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id="self"), attr=name) as kept], value=value
        ) if value is call and site.cls is not None:
            pass
        case _:
            return None
    outer = {child: node for node in nodes(site.module.tree) for child in children(node)}
    if any(isinstance(node, ast.Constant) and node.value == name for node in outer):
        return None  # `getattr(runner, "model")` may call it
    uses = [
        (_use_of_attribute(outer, node), node)
        for node in outer
        if isinstance(node, ast.Attribute) and node.attr == name and node is not kept
    ]
    uses = [(kind, node) for kind, node in uses if not _is_above(site, node, call)]
    methods = [outer[outer[node]] for kind, node in uses if kind is _Use.METHOD]
    if not methods or any(kind not in (_Use.NEUTRAL, _Use.METHOD) for kind, _ in uses):
        return None
    first = min((m for m in methods if isinstance(m, ast.Call)), key=lambda made: made.lineno)
    return Finding(
        f"`self.{name}` is compiled, but its methods are not: `{_called(site, first)}` runs "
        "eagerly",
        fix=_what_to_compile(),
        confidence=Confidence.MEDIUM,
        related=(first,),
    )


def _what_to_compile() -> Decline:
    return Advice(
        "compile the method that is called; if it calls the model itself, compile the model in "
        "place with `compile()`"
    )


def _use_of_attribute(outer: Mapping[ast.AST, ast.AST], node: ast.Attribute) -> _Use:
    """What a mention of `self.model` does with the model."""
    method = outer[node]
    call = outer.get(method)
    if not isinstance(method, ast.Attribute) or isinstance(node.ctx, ast.Store):
        return _Use.ESCAPE
    if not isinstance(method.ctx, ast.Load) or method.attr in (*_UNWRAPPED, *_CALLS):
        return _Use.ESCAPE
    if not isinstance(call, ast.Call) or call.func is not method:
        return _Use.NEUTRAL
    if method.attr in GIVE_THE_MODULE:
        return _Use.NEUTRAL if isinstance(outer.get(call), ast.Expr) else _Use.ESCAPE
    if method.attr in ASKED_OF_MODULES:
        return _Use.NEUTRAL
    return _Use.METHOD


def _is_above(site: Site, node: ast.Attribute, call: ast.expr) -> bool:
    """True for what the same function does with the model before it is compiled."""
    inside = node in nodes(site.body.scope)
    return inside and start_of(node) < end_of(call)


def _call_of_original(event: CompileCall, name: str) -> ast.expr | None:
    """A call of the model itself, behind that which compiles it."""
    site = event.site
    match event.call:
        case ast.Call(args=[ast.Name(id=model), *_]) if model != name:
            pass
        case _:
            return None
    for load in site.flow.named(model):
        outer = site.parent(load)
        if isinstance(outer, ast.Call) and outer.func is load and follows(site, load, event.call):
            return outer
    return None


def _forward_alone(event: CompileCall, name: str) -> Finding | None:
    """`model.compile()`, and then `model.forward(x)`, which compiling in place does not change."""
    site = event.site
    if (
        site.body.is_declared(name)
        or _reads_all_names(site, event.call)
        or not _is_made_here(site, name)
    ):
        return None
    inside = {*nodes(event.call)}
    loads = [load for load in site.flow.named(name) if load not in inside]
    uses = _uses(site, name, loads, event.call)
    if _Use.FORWARD not in uses.kinds or not uses.kinds <= {_Use.FORWARD, _Use.NEUTRAL}:
        return None
    if uses.method is None:
        return None
    return Finding(
        f"`{_called(site, uses.method)}` runs eagerly: compiling in place changes `{name}(...)` "
        "alone",
        fix=Advice(f"call `{name}(...)`, which also runs its hooks"),
        confidence=Confidence.HIGH if site.function is not None else Confidence.MEDIUM,
        related=(uses.method,),
    )


def _own_call(event: CompileCall) -> Finding | None:
    """`model.compile()` where the class of the model has a `__call__` of its own."""
    target = event.target
    own = target.cls.methods.get("__call__") if isinstance(target, Object) and target.cls else None
    if own is None or own.cls is None:
        return None
    for node in nodes(own.node):
        match node:
            case ast.Name(id="super") | ast.Attribute(attr="__call__"):
                return None
            case ast.Attribute(attr="_call_impl" | "_wrapped_call_impl" | "_compiled_call_impl"):
                return None
    return Finding(
        f"`{own.qualname}` replaces the call that `compile()` compiles: it runs eagerly",
        fix=Advice("use `torch.compile(model)`, which compiles the `__call__` that is there"),
        confidence=Confidence.HIGH,
    )


def _of_layers(event: CompileCall) -> Finding | None:
    """`torch.compile(DDP(nn.Sequential(...)))`: DDP and torch's own layers are not traced."""
    wrapper = wrapped_before(event, DDP)
    if wrapper is None or "python_reducer" in event.site.module.file.text:
        return None
    if not wrapper.args or not _is_of_layers(event.site, wrapper.args[0]):
        return None
    return Finding(
        "Nothing is compiled: Dynamo traces neither `DistributedDataParallel` nor torch's layers",
        fix=Advice(
            "compile the module before it is wrapped; that changes the names in the state dict"
        ),
        confidence=Confidence.HIGH,
        related=(wrapper,),
    )


def _is_of_layers(site: Site, node: ast.expr) -> bool:
    """True for a layer of torch, and for a sequence of such, made here."""
    if isinstance(node, ast.Name):
        made = site.flow.value(node)
        return made is not None and _is_of_layers(site, made)
    match node:
        case ast.Call(func=ast.Attribute(attr="to" | "cuda", value=inner)):
            return _is_of_layers(site, inner)
        case ast.Starred(value=ast.ListComp(elt=each) | ast.GeneratorExp(elt=each)):
            return _is_of_layers(site, each)
        case ast.Starred(value=ast.List(elts=layers) | ast.Tuple(elts=layers)):
            return all(_is_of_layers(site, one) for one in layers)
        case ast.Call(func=func, args=args):
            dotted = site.dotted(func) or ""
        case _:
            return False
    if dotted in _CONTAINERS:
        return bool(args) and all(_is_of_layers(site, one) for one in args)
    return dotted.startswith("torch.nn.") and dotted.count(".") == 2


def _is_made_here(site: Site, name: str) -> bool:
    """True for a variable that only ever holds what one call of a class makes."""
    made = site.flow.made(name)
    return len(made) == 1 and isinstance(made[0].value, ast.Call)


def _uses(site: Site, name: str, loads: Sequence[ast.Name], call: ast.expr) -> _Uses:
    """What is done with a variable; a method that is called behind the call is shown."""
    used = [(load, *_use(site, name, load)) for load in loads]
    runs = (_Use.METHOD, _Use.FORWARD)
    below = (node for load, kind, node in used if kind in runs and is_below(site, load, call))
    return _Uses(frozenset(kind for _, kind, _ in used), next(below, None))


def _use(site: Site, name: str, load: ast.Name) -> tuple[_Use, ast.expr]:
    """What a read of a variable does with the model, and what is called there."""
    model = _model(site, load)
    outer = site.parent(model)
    if isinstance(outer, ast.Call) and outer.func is model and model is not load:
        return _Use.METHOD, outer  # the module that was wrapped
    if not isinstance(outer, ast.Attribute) or isinstance(outer.ctx, ast.Del):
        return _Use.ESCAPE, load
    if isinstance(outer.ctx, ast.Store):
        return (_Use.ESCAPE if _may_be_run(site, outer) else _Use.NEUTRAL), load
    call = site.parent(outer)
    if isinstance(call, ast.Call) and call.func is outer:
        return _kind_of_call(site, name, outer.attr, call), call
    return (_Use.ESCAPE if outer.attr in ("forward", "__call__") else _Use.NEUTRAL), outer


def _model(site: Site, load: ast.expr) -> ast.expr:
    """The largest expression around a read that is the same model: `model.module.eval()`."""
    while True:
        outer = site.parent(load)
        if not isinstance(outer, ast.Attribute):
            return load
        call = site.parent(outer)
        if outer.attr in _UNWRAPPED:
            load = outer
        elif (
            outer.attr in GIVE_THE_MODULE
            and isinstance(call, ast.Call)
            and isinstance(site.parent(call), ast.Attribute)
        ):
            load = call
        else:
            return load


def _kind_of_call(site: Site, name: str, method: str, call: ast.Call) -> _Use:
    if method == "forward":
        return _Use.FORWARD
    if method in GIVE_THE_MODULE:
        return _Use.NEUTRAL if _is_kept_as(site, call, name) else _Use.ESCAPE
    if method in ASKED_OF_MODULES:
        return _Use.NEUTRAL
    return _Use.ESCAPE if method in _CALLS else _Use.METHOD


def _is_kept_as(site: Site, call: ast.Call, name: str) -> bool:
    """True for a statement of its own, and for `model = model.eval()`."""
    match site.parent(call):
        case ast.Expr():
            return True
        case ast.Assign(targets=[ast.Name(id=target)]):
            return target == name
    return False


def _may_be_run(site: Site, stored: ast.Attribute) -> bool:
    """True where something compiled, or a method, is put on the model."""
    outer = site.parent(stored)
    value = getattr(outer, "value", None)
    return stored.attr == "forward" or not isinstance(value, (ast.Constant, ast.Name))


def _called(site: Site, call: ast.expr) -> str:
    return f"{site.text(call.func)}(...)" if isinstance(call, ast.Call) else site.text(call)


def _reads_all_names(site: Site, call: ast.expr) -> bool:
    """True where something behind the call may read any variable."""
    for node in nodes(site.body.scope):
        match node:
            case ast.Call(func=ast.Name(id="locals" | "globals" | "vars" | "eval" | "exec")):
                if is_below(site, node, call):
                    return True
    return False
