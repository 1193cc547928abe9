"""Calling the project's own functions and classes: binding arguments, remembering results."""

from __future__ import annotations

import ast
from functools import partial
from typing import Final

from tclint.diagnostics import ChainLink
from tclint.semantics.collect import class_info, dotted_name, function_info, with_inner
from tclint.semantics.events import Call
from tclint.semantics.interpreter.always_raises import never_returns
from tclint.semantics.interpreter.analysis import Analysis, Root
from tclint.semantics.interpreter.annotations import annotation_value, kept_promise
from tclint.semantics.interpreter.arguments import (
    AUTOGRAD_CONTEXT,
    GRADIENT,
    Arguments,
    bind,
    informed,
    is_passed,
)
from tclint.semantics.interpreter.changes import is_model
from tclint.semantics.interpreter.containers import hold
from tclint.semantics.interpreter.contexts import Filled, MethodCall
from tclint.semantics.interpreter.evaluate import evaluate
from tclint.semantics.interpreter.frame import Env, Frame
from tclint.semantics.interpreter.memory import give_up, is_too_deep, walk_once
from tclint.semantics.interpreter.not_traced import is_disabled, not_traced
from tclint.semantics.interpreter.parameters import assumed_value, keywords_value
from tclint.semantics.interpreter.reshaping import forget_shapes
from tclint.semantics.interpreter.wrappers import wrappers_of
from tclint.semantics.lattice import join, may_be_unknown, options
from tclint.semantics.site import Reach
from tclint.semantics.symbols import ClassInfo, FunctionInfo, FunctionNode, ModuleInfo
from tclint.semantics.syntax import nodes
from tclint.semantics.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Class,
    External,
    Function,
    Mapping,
    Object,
    Sequence,
    Static,
    Unknown,
    Value,
    set_by_default,
)
from tclint.torch_facts.compiling import COMPILE

PROPERTIES: Final = frozenset({"property", "functools.cached_property"})


def local_function(frame: Frame, node: FunctionNode, cls: ClassInfo | None = None) -> FunctionInfo:
    """Describe a nested function or lambda and remember the variables around it."""
    analysis = frame.analysis
    analysis.closures[node] = frame
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            evaluate(frame, default)
    known = analysis.local_functions.get(node)
    if known is None:
        owner = frame.body.function
        prefix = f"{owner.qualname}." if owner else ""
        if isinstance(node, ast.Lambda):
            known = FunctionInfo(frame.body.module, f"{prefix}<lambda>", node, cls)
        else:
            known = function_info(frame.body.module, node, prefix, cls, partial(_meant, frame))
        analysis.local_functions[node] = known
    return known


def local_class(frame: Frame, node: ast.ClassDef) -> ClassInfo:
    """Describe a class in a function; its methods read the variables around it."""
    analysis, module, owner = frame.analysis, frame.body.module, frame.body.function
    prefix = f"{owner.qualname}." if owner else ""
    made = class_info(module, node, prefix, partial(_meant, frame))
    known = analysis.local_classes.setdefault((node, made.meant), made)
    if known is not made:
        made.methods.clear()
    for cls in with_inner(known):
        for method in cls.methods.values():
            if node.lineno <= method.node.lineno <= (node.end_lineno or node.lineno):
                analysis.closures[method.node] = frame
    return known


def _meant(frame: Frame, module: ModuleInfo, node: ast.expr) -> ClassInfo | str | None:
    """What a name stands for in a function: what it, or one around it, imports or defines."""
    root = node.value if isinstance(node, ast.Subscript) else node
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and frame.enclosed(root.id) is not None:
        match evaluate(frame, node.value if isinstance(node, ast.Subscript) else node):
            case Class(info=info):
                return info
            case External(name=name):
                return name
    return dotted_name(module, node)


def call_function(frame: Frame, function: Function, arguments: Arguments, node: ast.expr) -> Value:
    """Walk a project function with the given arguments and answer what it returns."""
    result = _result(frame, function, arguments, node)
    definition = function.info.node
    if frame.region is None or not isinstance(definition, ast.FunctionDef):
        return result
    if function.info.decorators and not _TRANSPARENT.issuperset(function.info.decorators):
        return result
    promised = annotation_value(frame.analysis, function.info, definition.returns)
    return kept_promise(result, promised)


_TRANSPARENT: Final = frozenset({"staticmethod", "classmethod", "property", "torch.no_grad"})


def _result(frame: Frame, function: Function, arguments: Arguments, node: ast.expr) -> Value:
    info = function.info
    analysis = frame.analysis
    _note_caller(frame, info)
    if info in analysis.answers:
        return analysis.answers[info]
    kept = not_traced(analysis, info)
    if kept:
        if is_disabled(kept) and isinstance(node, ast.Call):
            analysis.emit(frame, Call, node, function="torch.compiler.disable", call=node)
        return UNKNOWN
    if info in analysis.active or _is_setup_of_others(frame, info):
        return UNKNOWN
    env = bind(analysis, function, arguments)
    if frame.region is not None and isinstance(function.bound, Object):
        _note_method(frame, function.bound, info.name, arguments, node)
    _note_call(frame, function, env, node)
    chain = (*frame.chain, frame.link(node.lineno))
    reach = frame.facts.reach
    if frame.region is not None and (reach.once or never_returns(analysis, info)):
        reach = _reach(frame, info)
    result = walk_once(analysis, info, env, frame.region, chain, reach)
    if analysis.filled and frame.region is not None:
        _take_back(frame, function, analysis.filled, arguments, node)
    if info in analysis.reshaping:
        forget_shapes(frame)
    analysis.changes.called(frame, info)
    if frame.region is not None:
        walk_gradient(frame, function, arguments, node, result, chain)
    if info.decorators and frame.region is not None:
        walk_wrappers(frame, function, arguments, chain, result)
    return result


def _note_caller(frame: Frame, info: FunctionInfo) -> None:
    if frame.body.function is not None:
        frame.analysis.changes.callers.setdefault(info, {})[frame.body.function] = None


def _reach(frame: Frame, info: FunctionInfo) -> Reach:
    """How often a function is called here; one that only raises is not, in an ordinary call."""
    reach = frame.facts.reach
    drops = frame.facts.drops_frame if reach.drops is None else reach.drops
    return Reach(reach.off or never_returns(frame.analysis, info), reach.once, drops)


def _take_back(
    frame: Frame, function: Function, filled: Filled, arguments: Arguments, node: ast.expr
) -> None:
    """Let the lists and dicts that a call put something into stand for what they are now."""
    if not isinstance(node, ast.Call):
        return
    hidden = int(function.bound is not None and is_passed(function))
    names = frame.analysis.signature(function.info.node).names[hidden:]
    for part, given, name in zip(node.args, arguments.positional, names, strict=False):
        if name in filled and frame.body.values.get(part) is given:
            hold(frame, part, filled[name])
    for keyword in node.keywords:
        part, key = keyword.value, keyword.arg or ""
        if key in filled and frame.body.values.get(part) is arguments.keywords.get(key):
            hold(frame, part, filled[key])


def _note_method(
    frame: Frame, bound: Object, name: str, arguments: Arguments, node: ast.expr
) -> None:
    """Remember how a method is called: one of another class may be called so, too."""
    asked = frame.analysis.asked.get(bound.cls) if bound.cls is not None else None
    if asked is None or name not in asked or not isinstance(node, ast.Call):
        return
    if asked[name] is None:
        asked[name] = MethodCall(frame.body, frame.statement, frame.facts, arguments, node)


def _note_call(frame: Frame, function: Function, env: Env, node: ast.expr) -> None:
    """Remember who calls, and with what."""
    analysis, info = frame.analysis, function.info
    if frame.region is None:
        if isinstance(node, ast.Call):
            analysis.observe(info, env, eager=True)
        if not COMPILE.isdisjoint(info.decorators):
            analysis.note_loop(frame, info)
        return
    if info.name == "forward":
        analysis.observe(info, env)
    body = analysis.body(info.module, info, compiled=True)
    if isinstance(node, ast.Call) and node not in body.calls:
        hidden = int(function.bound is not None and is_passed(function))
        body.calls[node] = (frame.site(), hidden)
        frame.body.called.setdefault(node, {})[body] = hidden
        dotted = dotted_name(frame.body.module, node.func)
        if dotted and analysis.project.is_contested(dotted, frame.body.module):
            frame.body.contested.add(node)


def walk_wrappers(
    frame: Frame,
    function: Function,
    arguments: Arguments,
    chain: tuple[ChainLink, ...],
    result: Value,
) -> None:
    """Walk what decorators do around a function; their calls of it give the ``result``.

    What the wrappers return is taken to be of that kind, too.
    """
    analysis = frame.analysis
    wrappers = wrappers_of(analysis, function.info)
    if not wrappers:
        return
    inside = [function.info, *(wrapper.function for wrapper in wrappers)]
    before = analysis.answers
    analysis.answers = {**dict.fromkeys(inside, result), **before}
    try:
        for wrapper in wrappers:
            info = wrapper.function
            if info not in analysis.active:
                _note_caller(frame, info)
                analysis.closures[info.node] = wrapper.closure
                env = bind(analysis, Function(info, function.bound), arguments)
                walk_once(analysis, info, env, frame.region, chain, frame.facts.reach)
    finally:
        analysis.answers = before


def _is_setup_of_others(frame: Frame, info: FunctionInfo) -> bool:
    """True where uncompiled code of the project calls an installed package.

    What a trainer or a loader does there is much, and nothing of it is compiled.
    """
    if frame.region is not None or not info.module.installed:
        return False
    return not frame.body.module.installed and info.name != "__init__"


def _is_applied(analysis: Analysis, function: Function) -> bool:
    """True for the ``forward`` that ``apply`` of an autograd function calls."""
    info = function.info
    if function.bound is None and info.cls is not None and info.name == "forward":
        return analysis.project.method(info.cls, "setup_context") is not None
    return function.bound == AUTOGRAD_CONTEXT


def walk_gradient(
    frame: Frame,
    function: Function,
    arguments: Arguments,
    node: ast.AST,
    result: Value,
    chain: tuple[ChainLink, ...] = (),
) -> None:
    """Walk what Dynamo traces with the ``forward`` of an autograd function."""
    if not _is_applied(frame.analysis, function):
        return
    inputs = Sequence("tuple", items=arguments.positional)
    _walk_with(frame, function.info, "setup_context", (inputs, result), node, chain)
    _walk_with(frame, function.info, "backward", None, node, chain)
    _emit_apply(frame, node, arguments)


def _emit_apply(frame: Frame, node: ast.AST, arguments: Arguments) -> None:
    if isinstance(node, ast.Call):
        name, given = "torch.autograd.Function.apply", arguments.positional
        frame.analysis.emit(frame, Call, node, function=name, call=node, arguments=given)


def _walk_with(
    frame: Frame,
    forward: FunctionInfo,
    name: str,
    given: tuple[Value, ...] | None,
    node: ast.AST,
    chain: tuple[ChainLink, ...],
) -> None:
    """Walk what Dynamo traces with an autograd function's ``forward``, by default for gradients."""
    analysis = frame.analysis
    method = analysis.project.method(forward.cls, name) if forward.cls else None
    if method is None or method in analysis.active:
        return
    kept = not_traced(analysis, method)
    if is_disabled(kept) and isinstance(node, ast.Call):
        analysis.emit(frame, Call, node, function="torch.compiler.disable", call=node)
    if kept:
        return
    if given is None:
        given = (GRADIENT,) * len(analysis.parameters(method.node))
    env = bind(analysis, Function(method, AUTOGRAD_CONTEXT), Arguments(given))
    walk_once(analysis, method, env, frame.region, chain, frame.facts.reach)


def root_env(analysis: Analysis, root: Root) -> Env:
    """The parameters of a region's root, from what calls pass, annotations, defaults and names."""
    info = root.function.info
    seen = analysis.observed.get(info, {})
    env: Env = {}
    arguments = analysis.parameters(info.node)
    is_method = info.cls is not None and is_passed(root.function)
    applied = _is_applied(analysis, root.function)
    gradients = _with_gradients(analysis, info) if applied else None
    for place, (argument, default) in enumerate(arguments):
        if place == 0 and is_method:
            env[argument.arg] = root.function.bound or UNKNOWN
            continue
        observed = seen.get(argument.arg, UNKNOWN)
        if gradients is not None and argument.annotation is None and default is None:
            env[argument.arg] = GRADIENT if place - is_method in gradients else UNKNOWN
        elif isinstance(observed, Unknown) or observed is NONE:
            env[argument.arg] = assumed_value(analysis, info, argument, default)
            if place == is_method and is_model(root.region):
                analysis.changes.believe(env[argument.arg])
        elif may_be_unknown(observed):
            promised = annotation_value(analysis, info, argument.annotation)
            env[argument.arg] = informed(_generalised(observed), promised)
        else:
            env[argument.arg] = _generalised(observed)
    spec = info.node.args
    if spec.vararg:
        env[spec.vararg.arg] = Sequence("tuple", assumed_value(analysis, info, spec.vararg, None))
    if spec.kwarg:
        env[spec.kwarg.arg] = keywords_value(analysis, info, spec.kwarg)
    return env


def _with_gradients(analysis: Analysis, forward: FunctionInfo) -> set[int]:
    """The places of an autograd function's inputs that get a gradient: certainly tensors."""
    method = analysis.project.method(forward.cls, "backward") if forward.cls else None
    found: set[int] = set()
    alone = len(forward.node.args.args) == 2 and forward.node.args.vararg is None
    for node in nodes(method.node) if method is not None else ():
        if isinstance(node, ast.Return) and node.value is not None:
            value = node.value
            while isinstance(value, ast.BinOp):  # `(None,) + gradients`
                value = value.left
            given = value.elts if isinstance(value, ast.Tuple) else [value] if alone else []
            for place, one in enumerate(given):
                if isinstance(one, ast.Starred):
                    break
                if not (isinstance(one, ast.Constant) and one.value is None):
                    found.add(place)
    return found


def _generalised(value: Value) -> Value:
    """Observed arguments stand for all later ones: known constants are not taken for fixed."""
    kinds: list[Value] = []
    for option in options(value):
        if isinstance(option, Static) and option.known and option is not NONE:
            kinds.append(set_by_default(option.value))
        else:
            kinds.append(option)
    return join(kinds)


def instantiate(frame: Frame, cls: ClassInfo, arguments: Arguments, node: ast.expr) -> Value:
    """An instance of a project class; its attributes come from ``__init__`` when asked for."""
    project = frame.analysis.project
    names = {base for base in project.ancestry(cls) if isinstance(base, str)}
    if any(name.startswith("torch.autograd.") for name in names):
        return UNKNOWN
    is_module = project.is_module_class(cls)
    is_optimizer = any(name.startswith("torch.optim.") for name in names)
    if is_optimizer and isinstance(node, ast.Call):
        made = "torch.optim.Optimizer"  # Dynamo runs those of the project in eager code, too
        frame.analysis.emit(frame, Call, node, function=made, call=node)
    if is_module and frame.region is not None:
        # What `__init__` builds is built in compiled code.
        init = project.method(cls, "__init__")
        if init is not None:
            bound = Object(cls.qualname, cls, is_module=True)
            call_function(frame, Function(init, bound), arguments, node)
    return Object(
        cls.qualname, cls, site=node, is_module=is_module,
        is_optimizer=is_optimizer,
    )  # fmt: skip


def attributes_of(analysis: Analysis, cls: ClassInfo) -> dict[str, Value]:
    """The instance attributes that ``__new__`` and ``__init__`` set, bases included."""
    attributes = analysis.attributes.setdefault(cls, {})
    if cls in analysis.initialised:
        return attributes
    makers = [analysis.project.method(cls, name) for name in ("__new__", "__init__")]
    if not analysis.active.isdisjoint(makers):
        return attributes
    if is_too_deep(analysis):
        give_up(analysis)
        return attributes
    analysis.initialised.add(cls)
    made = Object(cls.qualname, cls, is_module=analysis.project.is_module_class(cls))
    for init in filter(None, makers):
        bound = made if init.name == "__init__" else Class(cls)
        walk_once(analysis, init, _init_env(analysis, init, bound), None)
    return attributes


def _init_env(analysis: Analysis, init: FunctionInfo, bound: Value) -> Env:
    """``__init__`` gets configuration: parameters are constants unless annotated otherwise."""
    env: Env = {}
    for place, (argument, default) in enumerate(analysis.parameters(init.node)):
        if place == 0:
            env[argument.arg] = bound
            continue
        value = annotation_value(analysis, init, argument.annotation)
        flag = isinstance(default, ast.Constant) and isinstance(default.value, bool)
        if isinstance(value, Unknown) or (flag and isinstance(value, Static)):
            value = _static_default(default)
        env[argument.arg] = value
    if init.node.args.vararg:
        env[init.node.args.vararg.arg] = Sequence("tuple")
    if init.node.args.kwarg:
        env[init.node.args.kwarg.arg] = Mapping((), STATIC)
    return env


def _static_default(default: ast.expr | None) -> Value:
    if isinstance(default, ast.Constant) and default.value is not None:
        return set_by_default(default.value)
    return STATIC
