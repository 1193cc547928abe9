"""Calls: what is called decides who answers."""

from __future__ import annotations

import ast
from typing import Final

from tclint import torch_facts
from tclint.semantics.events import Call, CompiledOutputUsed, Sink
from tclint.semantics.interpreter.abstract import is_any_below
from tclint.semantics.interpreter.arguments import Arguments, bind, takes
from tclint.semantics.interpreter.attributes import attribute_of
from tclint.semantics.interpreter.builtin_calls import BUILTINS
from tclint.semantics.interpreter.callables import call_value, calls
from tclint.semantics.interpreter.compiling import (
    compile_module,
    compile_target,
    compiled_function,
    library_setup,
    note_scheduler,
)
from tclint.semantics.interpreter.contexts import ask
from tclint.semantics.interpreter.evaluate import evaluate, handles
from tclint.semantics.interpreter.factories import MOVES
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.frameworks import compiled_by_framework
from tclint.semantics.interpreter.functions import call_function
from tclint.semantics.interpreter.given import call_given, completed
from tclint.semantics.interpreter.higher_order import call_higher_order
from tclint.semantics.interpreter.hooked import after_forward, before_forward, hooks_of
from tclint.semantics.interpreter.iteration import element_of
from tclint.semantics.interpreter.library import call_library
from tclint.semantics.interpreter.memory import CONSTRUCTORS
from tclint.semantics.interpreter.methods import call_bound
from tclint.semantics.interpreter.narrowing import has_members
from tclint.semantics.interpreter.objects import make, named_tuple, sets_up_objects, take_over
from tclint.semantics.interpreter.operators import computed_in, elements
from tclint.semantics.interpreter.reshaping import forget_shapes, reshapes
from tclint.semantics.interpreter.sinks import BAR, can_wait, is_reordered, report_sink, sink_of
from tclint.semantics.interpreter.special import asked, with_iterated
from tclint.semantics.interpreter.standard_library import STANDARD
from tclint.semantics.interpreter.tensor_calls import call_method, fresh_dtype, read_numbers
from tclint.semantics.lattice import join, may_be_tensor, options, same, spread
from tclint.semantics.syntax import ATTRIBUTE, CALL, PLAIN, STARRED
from tclint.semantics.values import (
    NONE,
    TRUE,
    UNKNOWN,
    BoundExternal,
    Class,
    Compiled,
    External,
    Function,
    Mapping,
    Object,
    Partial,
    Sequence,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
)
from tclint.torch_facts.compiling import COMPILE, COMPILING_NAMES
from tclint.torch_facts.modules import ANY_MODULE, CONTAINERS, WRAPPERS


@handles(ast.Call)
def _call(frame: Frame, node: ast.Call) -> Value:
    result = _answer(frame, node)
    func = node.func
    if isinstance(func, ATTRIBUTE) and type(frame.body.values.get(func.value)) is Union:
        has_members(frame, func.value)
    if reshapes(node):
        forget_shapes(frame)
    return result


def _answer(frame: Frame, node: ast.Call) -> Value:
    func = node.func
    if isinstance(func, ATTRIBUTE) and func.attr in MOVES and isinstance(func.value, CALL):
        frame.moves[func.value] = node
    callee = evaluate(frame, func)
    sink = sink_of(node, callee)
    if sink is not None:
        return _call_sink(frame, node, callee, sink)
    if isinstance(callee, External) and callee.name == "builtins.super":
        return _super(frame, node)
    if frame.region is None and _only_configured(frame, callee):
        arguments = arguments_of_call(frame, node, calls_only=True)
    else:
        arguments = arguments_of_call(frame, node)
    if frame.region is None:
        compiled_by_framework(frame, node, callee)
        if frame.analysis.optimizers:
            note_scheduler(frame, node, callee)
    if type(callee) is not Union:
        return call_value(frame, node, callee, arguments)
    meant = _taking(frame, callee, arguments)
    if type(meant) is Union and is_any_below(meant):
        given = [call_value(frame, node, kind, arguments) for kind in meant.options]
        return given[0] if all(same(one, given[0]) for one in given) else UNKNOWN
    return spread(lambda kind: call_value(frame, node, kind, arguments), meant)


def _call_sink(frame: Frame, node: ast.Call, callee: Value, sink: tuple[Sink, str]) -> Value:
    if is_reordered(frame, callee):
        with frame.silencing("format"):
            arguments = arguments_of_call(frame, node)
        if not can_wait(frame, node, arguments):
            report_sink(frame, node, *sink)
        return NONE
    is_bar = sink[0] == "tqdm"  # which goes on with what it is given
    with frame.silencing("format"), frame.within(output=None if is_bar else node):
        positional = arguments_of_call(frame, node).positional
    report_sink(frame, node, *sink)
    if not is_bar:
        return UNKNOWN
    return positional[0] if positional else Object(BAR, site=node)


def _taking(frame: Frame, callee: Union, arguments: Arguments) -> Value:
    """The functions of a table that may be called so, unless none of them seems to be."""
    fitting = [
        option
        for option in callee.options
        if not isinstance(option, Function) or takes(frame.analysis, option, arguments)
    ]
    return join(fitting) if fitting else callee


_NO_ARGUMENTS: Final = Arguments(exact=False)


def _only_configured(frame: Frame, callee: Value) -> bool:
    """True for what is the same whatever it is made with, as far as the analysis goes.

    That is a layer of torch, or an object of the project outside of compiled code.
    """
    if isinstance(callee, External):
        name = torch_facts.canonical(callee.name)
        return torch_facts.is_module(name) and name not in CONTAINERS and name not in WRAPPERS
    if not isinstance(callee, Class):
        return False
    is_module = frame.analysis.project.is_module_class(callee.info)
    return is_module or callee.info.module.installed or not sets_up_objects(frame)


def arguments_of_call(frame: Frame, node: ast.Call, *, calls_only: bool = False) -> Arguments:
    """Evaluate a call's arguments, spreading ``*`` and ``**`` where their content is known.

    With ``calls_only`` the values do not matter, only what their evaluation says about compiling.
    """
    if calls_only:
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            if type(part) not in PLAIN:
                evaluate(frame, part)
        return _NO_ARGUMENTS
    positional: list[Value] = []
    exact = True
    rest: Value = UNKNOWN
    for argument in node.args:
        value = evaluate(frame, argument)
        if not exact:
            continue  # nobody knows at which place it arrives
        if not isinstance(argument, STARRED):
            positional.append(value)
        elif isinstance(value, Sequence) and value.items is not None:
            positional.extend(value.items)
        else:
            exact = False
            if argument is node.args[-1]:
                rest = element_of(value)
    keywords, all_known = _keywords(frame, node)
    return Arguments(tuple(positional), keywords, exact and all_known, rest)


def _keywords(frame: Frame, node: ast.Call) -> tuple[dict[str, Value], bool]:
    """What is passed by name, and whether that is all."""
    keywords: dict[str, Value] = {}
    exact = True
    for keyword in node.keywords:
        value = evaluate(frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Mapping):
            keywords.update({k: v for k, v in value.items if isinstance(k, str)})
            exact = exact and value.element is UNKNOWN and bool(value.items)
        else:
            exact = False
    return keywords, exact


@calls(Compiled)
def _call_compiled(frame: Frame, node: ast.Call, callee: Compiled, arguments: Arguments) -> Value:
    for kind in options(callee.inner) if frame.region is None else ():
        root = compiled_function(frame, kind)
        if root is not None:
            frame.analysis.note_loop(frame, root.info)
    result = spread(lambda kind: _run_compiled(frame, node, kind, arguments), callee.inner)
    return spread(_from_compiled, result)


def _run_compiled(frame: Frame, node: ast.Call, inner: Value, arguments: Arguments) -> Value:
    """Call what is compiled: output of other compiled code that it takes stays in a graph."""
    if isinstance(inner, Function):
        return _run_project(frame, node, inner, arguments)
    return call_value(frame, node, inner, arguments)


@calls(Class)
def _call_class(frame: Frame, node: ast.Call, callee: Class, arguments: Arguments) -> Value:
    if frame.region is not None:
        ask(frame.analysis.asked, callee.info, "__init__")
    return make(frame, callee.info, arguments, node)


@calls(External)
def _call_external(frame: Frame, node: ast.Call, callee: External, arguments: Arguments) -> Value:
    name = callee.name
    if name in ("collections.namedtuple", "typing.NamedTuple"):
        return named_tuple(frame, node, arguments)
    if name.startswith("builtins."):
        called = name.removeprefix("builtins.")
        answer = asked(frame, node, called, arguments)
        if answer is not None:
            return answer
        arguments = with_iterated(frame, node, called, arguments)
    builtin = BUILTINS.get(name) or STANDARD.get(name)
    if builtin is not None:
        return builtin(frame, node, arguments)
    if name.startswith("torch.Tensor.") and arguments.positional:
        owner, *others = arguments.positional
        if isinstance(owner, Tensor):
            rest = Arguments(tuple(others), arguments.keywords, arguments.exact)
            return call_method(frame, node, owner, name.removeprefix("torch.Tensor."), rest)
    setup = library_setup(frame, node, name, arguments)
    if setup is not None:
        return setup
    result = call_library(frame, node, name, arguments)
    if name == "types.SimpleNamespace":
        return Object(name, fields=tuple(arguments.keywords.items()))
    passed = call_higher_order(frame, node, name, arguments)
    return result if passed is UNKNOWN else passed


_SIZED: Final = frozenset({"expand", "repeat", "reshape", "view"})


@calls(Unknown)
def _call_unknown(frame: Frame, node: ast.Call, _callee: Unknown, arguments: Arguments) -> Value:
    """What is not known has a size all the same, and the tensor that says it is read."""
    if frame.region is not None and isinstance(node.func, ATTRIBUTE) and node.func.attr in _SIZED:
        given = arguments.positional
        sure = tuple(v if isinstance(v, Tensor) and not v.assumed else UNKNOWN for v in given)
        read_numbers(frame, node, node.func.attr, Arguments(sure, exact=arguments.exact))
    return UNKNOWN


@calls(BoundExternal)
def _call_method(
    frame: Frame, node: ast.Call, callee: BoundExternal, arguments: Arguments
) -> Value:
    if isinstance(callee.owner, Tensor):
        name = callee.name.removeprefix("torch.Tensor.")
        return call_method(frame, node, callee.owner, name, arguments)
    if isinstance(callee.owner, Function):
        return _bind(frame, node, callee.owner, callee.name, arguments)
    compiled = compile_module(frame, node, callee, arguments)
    return compiled if compiled is not None else call_bound(frame, node, callee, arguments)


def _bind(
    frame: Frame, node: ast.Call, function: Function, dotted: str, arguments: Arguments
) -> Value:
    """``function.__get__(owner)``: a method, made by hand."""
    given = tuple(arguments.positional)
    frame.analysis.emit(frame, Call, node, function=dotted, call=node, arguments=given)
    return Function(function.info, given[0]) if given and given[0] is not NONE else UNKNOWN


def _from_compiled(value: Value) -> Value:
    """Mark what compiled code returns."""
    if isinstance(value, Tensor):
        return value.changed(from_compiled=True)
    if isinstance(value, Sequence) and value.items is not None:
        return Sequence(value.type, value.element, tuple(map(_from_compiled, value.items)))
    return value if value is not UNKNOWN else Tensor(from_compiled=True, assumed=True)


_UNDECIDED: Final = Static("bool")


@calls(Function)
def _call_project(frame: Frame, node: ast.Call, callee: Function, arguments: Arguments) -> Value:
    analysis = frame.analysis
    before = analysis.operations
    result = _run_project(frame, node, callee, arguments)
    eager = frame.region is not None and not frame.region.explicit
    if eager and any(_is_compiled_output(value) for value in arguments.values()):
        analysis.emit(
            frame, CompiledOutputUsed, node, function=callee.info.qualname,
            operations=analysis.operations - before,
        )  # fmt: skip
    return result


def _run_project(frame: Frame, node: ast.Call, callee: Function, arguments: Arguments) -> Value:
    result = call_function(frame, callee, arguments, node)
    if callee.info.name in CONSTRUCTORS and result is not UNKNOWN:
        take_over(frame, node, result)
        return NONE
    if frame.region is not None and result == _UNDECIDED and callee.info.name in COMPILING_NAMES:
        return TRUE  # on one of the versions of torch that it tells apart
    return result


def _is_compiled_output(value: Value) -> bool:
    return any(isinstance(option, Tensor) and option.from_compiled for option in options(value))


@calls(Object)
def call_object(frame: Frame, node: ast.Call, callee: Object, arguments: Arguments) -> Value:
    """Call an instance: ``forward`` of modules, ``__call__`` of others, layers of torch."""
    hooks = hooks_of(frame.analysis, callee) if frame.region is not None else []
    if not hooks:
        return _call_instance(frame, node, callee, arguments)
    arguments = before_forward(frame, hooks, callee, arguments)
    result = _call_instance(frame, node, callee, arguments)
    return after_forward(frame, hooks, callee, arguments, result)


def _call_instance(frame: Frame, node: ast.Call, callee: Object, arguments: Arguments) -> Value:
    if callee.cls is None:
        return call_layer(frame, node, callee, arguments)
    if callee.is_module and frame.region is None:
        forward = frame.analysis.project.method(callee.cls, "forward")
        if forward is not None:
            env = bind(frame.analysis, Function(forward, callee), arguments)
            frame.analysis.observe(forward, env, eager=True)
        return UNKNOWN
    own = frame.analysis.project.method(callee.cls, "__call__")
    name = "forward" if callee.is_module and own is None else "__call__"
    method = attribute_of(frame, callee, name, node)
    if isinstance(method, Function):
        return call_function(frame, method, arguments, node)
    return UNKNOWN


def call_layer(frame: Frame, node: ast.Call, callee: Object, arguments: Arguments) -> Value:
    """Call a layer of ``torch.nn``."""
    first = next((v for v in arguments.values() if may_be_tensor(v)), None)
    returns = torch_facts.module_returns(callee.name)
    if returns is None or callee.name == ANY_MODULE:
        return UNKNOWN
    frame.analysis.operations += 1
    frame.analysis.emit(
        frame, Call, node, function=f"{callee.name}.__call__", call=node,
        arguments=tuple(arguments.positional), owner=callee,
    )  # fmt: skip
    if returns != "tensor":
        return Sequence("tuple", Tensor(why=f"output of `{callee.name}`"))
    result = torch_facts.module_result(callee.name)
    tensor = first if isinstance(first, Tensor) else None
    shift = _SHIFTS.get(result.rank) if result is not None else None
    if result is not None and tensor is not None and shift is not None:
        # A layer with parameters computes in their dtype, or in autocast's.
        plain = result.dtype == "same" and torch_facts.has_parameters(callee.name) is False
        own = computed_in(callee.name, tensor.dtype) if plain else fresh_dtype(frame, node, "float")
        rank = None if tensor.rank is None else tensor.rank + shift
        return Tensor(rank, own, None, assumed=False, why=f"output of `{callee.name}`")
    return Tensor(None, fresh_dtype(frame, node, "float"), why=f"output of `{callee.name}`")


_SHIFTS: Final = {"same": 0, "+1": 1, "-1": -1}


def _call_sequential(frame: Frame, node: ast.Call, callee: Sequence, arguments: Arguments) -> Value:
    if callee.items is None:
        element = elements(callee)
        return call_value(frame, node, element, arguments) if element is not UNKNOWN else UNKNOWN
    value: Value = arguments.positional[0] if arguments.positional else UNKNOWN
    for member in callee.items:
        given = Arguments((value,))
        value = spread(lambda kind: call_value(frame, node, kind, given), member)  # noqa: B023
    return value


@calls(Sequence)
def _call_sequence(frame: Frame, node: ast.Call, callee: Sequence, arguments: Arguments) -> Value:
    is_module = callee.type == "Sequential"
    return _call_sequential(frame, node, callee, arguments) if is_module else UNKNOWN


@calls(Partial)
def _call_partial(frame: Frame, node: ast.Call, callee: Partial, arguments: Arguments) -> Value:
    if isinstance(callee.function, External) and callee.function.name in COMPILE:
        return compile_target(frame, node, callee.function.name, completed(callee, arguments))
    return call_given(frame, node, callee, arguments, node.args[-1] if node.args else node.func)


def _super(frame: Frame, node: ast.Call) -> Value:
    """``super()`` looks like the instance itself; :func:`super_method` skips the class."""
    function = frame.body.function
    for argument in node.args:
        evaluate(frame, argument)
    if function is None or function.cls is None or not function.node.args.args:
        return UNKNOWN
    receiver = frame.lookup(function.node.args.args[0].arg)
    if isinstance(receiver, Object) and receiver.cls is not None:
        return Object(
            "super", receiver.cls, function.cls.node, receiver.is_module, fields=receiver.fields
        )
    return External("builtins.object") if function.name == "__new__" else UNKNOWN
