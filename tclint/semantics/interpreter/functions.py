"""Calling the project's own functions and classes: binding arguments, remembering results."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tclint.diagnostics import ChainLink
from tclint.semantics.collect import decorator_name
from tclint.semantics.events import Call
from tclint.semantics.interpreter.analysis import MAX_CONTEXTS, MAX_DEPTH, Analysis, Root
from tclint.semantics.interpreter.evaluate import evaluate
from tclint.semantics.interpreter.frame import Env, Frame
from tclint.semantics.interpreter.parameters import (
    annotation_value,
    arguments_of,
    assumed_value,
)
from tclint.semantics.site import Facts, Region
from tclint.semantics.symbols import ClassInfo, FunctionInfo, FunctionNode
from tclint.semantics.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Function,
    Iteration,
    Mapping,
    Object,
    Sequence,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    bounded,
    join,
    options,
    present,
    with_dtype,
)

DISABLED = frozenset({"torch.compiler.disable", "torch._dynamo.disable", "torch._disable_dynamo"})
OPAQUE = frozenset({"torch.compiler.assume_constant_result", "torch.compiler.allow_in_graph"})
PROPERTIES = frozenset({"property", "functools.cached_property"})


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call; ``exact`` is false when ``*`` or ``**`` hides some of them."""

    positional: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    exact: bool = True

    def values(self) -> Iterable[Value]:
        """All argument values."""
        yield from self.positional
        yield from self.keywords.values()


def local_function(frame: Frame, node: FunctionNode, cls: ClassInfo | None = None) -> FunctionInfo:
    """Describe a nested function or lambda and remember the variables around it."""
    analysis = frame.analysis
    analysis.closures[node] = frame
    known = analysis.local_functions.get(node)
    if known is None:
        owner = frame.body.function
        prefix = f"{owner.qualname}." if owner else ""
        name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
        decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
        names = (decorator_name(frame.body.module, d) for d in decorators)
        known = FunctionInfo(
            frame.body.module, f"{prefix}{name}", node, cls, tuple(filter(None, names))
        )
        analysis.local_functions[node] = known
    return known


def call_function(frame: Frame, function: Function, arguments: Arguments, node: ast.expr) -> Value:
    """Walk a project function with the given arguments and answer what it returns."""
    info = function.info
    analysis = frame.analysis
    if DISABLED & set(info.decorators):
        if isinstance(node, ast.Call):
            analysis.emit(frame, Call, node, function="torch.compiler.disable", call=node)
        return UNKNOWN
    if OPAQUE & set(info.decorators):
        return UNKNOWN
    if info in analysis.active or analysis.depth >= MAX_DEPTH:
        return UNKNOWN
    env = bind(analysis, function, arguments)
    if frame.region is not None and info.name == "forward":
        analysis.observe(info, env)
    chain = (*frame.chain, frame.link(node.lineno))
    return walk_once(analysis, info, env, frame.region, chain, frame.facts.default_off)


def walk_once(
    analysis: Analysis,
    info: FunctionInfo,
    env: Env,
    region: Region | None,
    chain: tuple[ChainLink, ...] = (),
    default_off: bool = False,
) -> Value:
    """Walk a function unless it was walked with such arguments, or often enough, before."""
    # Outside of regions a base class's ``__init__`` counts for each of the classes that call it.
    surrounding = region.behaviour if region else _class_of(next(iter(env.values()), UNKNOWN))
    memory = analysis.memory.setdefault((info, surrounding), {})
    exact = (*env.items(), *_surroundings(analysis, info))
    if exact in memory:
        return memory[exact]
    rough = tuple((name, _without_dtype(value)) for name, value in exact)
    if rough in memory:
        return memory[rough]
    if len(memory) >= MAX_CONTEXTS and chain:
        return _without_dtype(join(memory.values()))
    result = walk(analysis, info, env, region, chain, default_off)
    memory[exact] = result
    memory.setdefault(rough, _without_dtype(result))
    return result


def _class_of(value: Value) -> ClassInfo | None:
    return value.cls if isinstance(value, Object) else None


def _surroundings(analysis: Analysis, info: FunctionInfo) -> Iterator[tuple[str, Value]]:
    """The variables of the functions around that a nested function or lambda may read."""
    outer = analysis.closures.get(info.node)
    if outer is None:
        return
    for name in analysis.names_in(info.node):
        value = outer.enclosed(name)
        if value is not None:
            yield name, value


def _without_dtype(value: Value) -> Value:
    """The value without symbols that hold for one call's arguments only."""
    if isinstance(value, Tensor):
        keep = value.dtype is not None and value.dtype.concrete
        return value if keep else with_dtype(value, None)
    if isinstance(value, Sequence):
        items = None if value.items is None else tuple(map(_without_dtype, value.items))
        return Sequence(value.type, _without_dtype(value.element), items)
    if isinstance(value, Union):
        return join([_without_dtype(option) for option in value.options])
    return value


def walk(
    analysis: Analysis,
    info: FunctionInfo,
    env: Env,
    region: Region | None,
    chain: tuple[ChainLink, ...] = (),
    default_off: bool = False,
) -> Value:
    """Walk a function's body with its parameters bound."""
    from tclint.semantics.interpreter.statements import walk_block

    node = info.node
    body = analysis.body(info.module, info)
    facts = Facts(default_off=default_off)
    outer = analysis.closures.get(node)
    frame = Frame(analysis, body, region, chain, env, _first_statement(node), outer, facts)
    if region is not None:
        analysis.visited.add(info)
    analysis.active.add(info)
    analysis.depth += 1
    try:
        if isinstance(node, ast.Lambda):
            return evaluate(frame, node.body)
        walk_block(frame, node.body)
    except RecursionError:  # an expression of thousands of terms: the function is left out
        return UNKNOWN
    finally:
        analysis.depth -= 1
        analysis.active.discard(info)
    if frame.yields:
        return Iteration(join(frame.yields))
    if frame.live:
        frame.returns.append(NONE)
    return join(frame.returns)


def _first_statement(node: FunctionNode) -> ast.stmt:
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Expr(node.body), node.body)
    return node.body[0]


def bind(analysis: Analysis, function: Function, arguments: Arguments) -> Env:
    """The parameters' values for a call; what the call hides comes from the annotations."""
    info = function.info
    env: Env = {}
    positional = list(arguments.positional)
    if function.bound is not None and "staticmethod" not in info.decorators:
        positional.insert(0, function.bound)
    spec = info.node.args
    named = arguments_of(info.node)
    by_position = len(spec.posonlyargs) + len(spec.args)
    for place, (argument, default) in enumerate(named):
        name = argument.arg
        if place < by_position and place < len(positional):
            value = positional[place]
        elif name in arguments.keywords:
            value = arguments.keywords[name]
        elif default is not None and arguments.exact:
            value = default_value(analysis, info, default)
        else:
            value = UNKNOWN
        if UNKNOWN in options(value):
            value = _informed(value, annotation_value(analysis, info, argument.annotation))
        if isinstance(default, ast.Constant) and default.value is False:
            value = _passed_flag(value)
        env[name] = value
    if spec.vararg:
        rest = tuple(positional[by_position:])
        given = Sequence("tuple", items=rest) if arguments.exact else Sequence("tuple")
        env[spec.vararg.arg] = bounded(given)
    if spec.kwarg:
        taken = {argument.arg for argument, _ in named}
        extra = [(k, v) for k, v in arguments.keywords.items() if k not in taken]
        env[spec.kwarg.arg] = bounded(Mapping(tuple(extra))) if arguments.exact else Mapping()
    return env


def _passed_flag(value: Value) -> Value:
    """A flag that is off by default, passed on from somewhere: off unless somebody turns it on."""
    vague = (o == UNKNOWN or (isinstance(o, Static) and not o.known) for o in present(value))
    return Static("bool", default_off=True) if all(vague) else value


def _informed(value: Value, promised: Value) -> Value:
    """A value that is not known on some paths, completed by what the annotation promises."""
    known = [option for option in options(value) if option != UNKNOWN]
    return join([*known, promised])


def default_value(analysis: Analysis, info: FunctionInfo, default: ast.expr) -> Value:
    """The value of a parameter's default expression."""
    if isinstance(default, ast.Constant):
        return Static(type(default.value).__name__, default.value, known=True)
    if isinstance(default, ast.Name):
        return analysis.global_value(info.module, default.id) or UNKNOWN
    return UNKNOWN


def root_env(analysis: Analysis, root: Root) -> Env:
    """The parameters of a region's root, from what calls pass, annotations, defaults and names."""
    info = root.function.info
    seen = analysis.observed.get(info, {})
    env: Env = {}
    arguments = arguments_of(info.node)
    is_method = info.cls is not None and "staticmethod" not in info.decorators
    for place, (argument, default) in enumerate(arguments):
        if place == 0 and is_method:
            env[argument.arg] = root.function.bound or UNKNOWN
            continue
        observed = seen.get(argument.arg, UNKNOWN)
        if isinstance(observed, Unknown) or observed == NONE:
            env[argument.arg] = assumed_value(analysis, info, argument, default)
        elif UNKNOWN in options(observed):
            promised = annotation_value(analysis, info, argument.annotation)
            env[argument.arg] = _informed(_generalised(observed), promised)
        else:
            env[argument.arg] = _generalised(observed)
    spec = info.node.args
    if spec.vararg:
        env[spec.vararg.arg] = Sequence("tuple", _variadic(analysis, info, spec.vararg))
    if spec.kwarg:
        env[spec.kwarg.arg] = Mapping()
    return env


def _variadic(analysis: Analysis, info: FunctionInfo, argument: ast.arg) -> Value:
    return annotation_value(analysis, info, argument.annotation)


def _generalised(value: Value) -> Value:
    """Observed arguments stand for all later ones: known constants are not taken for fixed."""
    kinds: list[Value] = []
    for option in options(value):
        if isinstance(option, Static) and option.known and option != NONE:
            kinds.append(Static(option.type, default_off=option.value is False))
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
    if is_module and frame.region is not None:
        # What `__init__` builds is built in compiled code.
        init = project.method(cls, "__init__")
        if init is not None:
            bound = Object(cls.qualname, cls, is_module=True)
            call_function(frame, Function(init, bound), arguments, node)
    return Object(
        cls.qualname, cls, site=node, is_module=is_module,
        is_optimizer=any(name.startswith("torch.optim.") for name in names),
    )  # fmt: skip


def attributes_of(analysis: Analysis, cls: ClassInfo) -> dict[str, Value]:
    """The instance attributes that ``__init__`` sets, bases included."""
    attributes = analysis.attributes.setdefault(cls, {})
    if cls in analysis.initialised:
        return attributes
    init = analysis.project.method(cls, "__init__")
    if init in analysis.active or analysis.depth >= MAX_DEPTH:
        return attributes
    analysis.initialised.add(cls)
    if init is not None:
        bound = Object(cls.qualname, cls, is_module=analysis.project.is_module_class(cls))
        walk(analysis, init, _init_env(analysis, init, bound), None)
    return attributes


def _init_env(analysis: Analysis, init: FunctionInfo, bound: Object) -> Env:
    """``__init__`` gets configuration: parameters are constants unless annotated otherwise."""
    env: Env = {}
    for place, (argument, default) in enumerate(arguments_of(init.node)):
        if place == 0:
            env[argument.arg] = bound
            continue
        value = annotation_value(analysis, init, argument.annotation)
        if isinstance(value, Unknown):
            value = _static_default(default)
        env[argument.arg] = value
    if init.node.args.vararg:
        env[init.node.args.vararg.arg] = Sequence("tuple")
    if init.node.args.kwarg:
        env[init.node.args.kwarg.arg] = Mapping((), STATIC)
    return env


def _static_default(default: ast.expr | None) -> Value:
    if isinstance(default, ast.Constant) and default.value is not None:
        return Static(type(default.value).__name__, default_off=default.value is False)
    return STATIC
