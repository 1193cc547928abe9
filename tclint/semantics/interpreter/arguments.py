"""The arguments of a call, and what the parameters of a function of the project are by them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from tclint.semantics.interpreter.annotations import annotation_value
from tclint.semantics.interpreter.frame import Env
from tclint.semantics.interpreter.told import use_of
from tclint.semantics.interpreter.weighing import is_unfounded, value_by_use
from tclint.semantics.lattice import bounded, join, may_be_unknown, options, present
from tclint.semantics.symbols import FunctionInfo
from tclint.semantics.values import (
    UNKNOWN,
    Function,
    Mapping,
    Object,
    Sequence,
    Static,
    Tensor,
    Value,
    constant,
)

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis


AUTOGRAD_CONTEXT: Final = Object("torch.autograd.function.FunctionCtx")
GRADIENT: Final = Tensor(assumed=True, why="gradient of an autograd function")


class Arguments:
    """The arguments of one call; ``exact`` is false when ``*`` or ``**`` hides some of them.

    ``rest`` is then any of those that a ``*`` hides.
    """

    __slots__ = ("exact", "keywords", "positional", "rest")

    def __init__(
        self,
        positional: tuple[Value, ...] = (),
        keywords: dict[str, Value] | None = None,
        exact: bool = True,
        rest: Value = UNKNOWN,
    ) -> None:
        self.rest: Final = rest
        self.positional: Final = positional
        self.keywords: Final = {} if keywords is None else keywords
        self.exact: Final = exact

    def values(self) -> Iterable[Value]:
        """All argument values."""
        yield from self.positional
        yield from self.keywords.values()


def bind(analysis: Analysis, function: Function, arguments: Arguments) -> Env:
    """The parameters' values for a call; what the call hides comes from the annotations."""
    info = function.info
    env: Env = {}
    positional = list(arguments.positional)
    if function.bound is not None and is_passed(function):
        positional.insert(0, function.bound)
    signature = analysis.signature(info.node)
    by_position = signature.by_position
    for place, (argument, default) in enumerate(signature.named):
        name = signature.names[place]
        if place < by_position and place < len(positional):
            value = positional[place]
        elif name in arguments.keywords:
            value = arguments.keywords[name]
        elif default is not None and arguments.exact:
            value = default_value(analysis, info, default)
        else:
            value = arguments.rest if default is None and place < by_position else UNKNOWN
        if may_be_unknown(value):
            value = informed(value, annotation_value(analysis, info, argument.annotation))
        elif isinstance(value, Tensor) and is_unfounded(value):
            value = _known_better(analysis, info, argument, value)
        if name in signature.off:
            value = _passed_flag(value)
        env[name] = value
    if signature.rest is not None:
        rest = tuple(positional[by_position:])
        given = (
            Sequence("tuple", items=rest) if arguments.exact else Sequence("tuple", arguments.rest)
        )
        env[signature.rest] = bounded(given)
    if signature.keywords is not None:
        extra = [(k, v) for k, v in arguments.keywords.items() if k not in signature.names]
        env[signature.keywords] = bounded(Mapping(tuple(extra))) if arguments.exact else Mapping()
    return env


def _known_better(
    analysis: Analysis, info: FunctionInfo, argument: ast.arg, guess: Tensor
) -> Value:
    """What the caller's parameter is, that was taken for a tensor, by what is done with it here."""
    promised = annotation_value(analysis, info, argument.annotation)
    if promised is not UNKNOWN:
        return promised
    return value_by_use(use_of(analysis, info, argument.arg), guess, argument.arg)


def is_passed(function: Function) -> bool:
    """Whether what a function is bound to is its first argument; autograd passes its context."""
    return "staticmethod" not in function.info.decorators or function.bound == AUTOGRAD_CONTEXT


def takes(analysis: Analysis, function: Function, arguments: Arguments) -> bool:
    """False where an argument is missing or one too many, so that the call certainly raises.

    Also where a tensor is passed for what is annotated as a number or a string.
    """
    hidden = int(function.bound is not None and is_passed(function))
    names = analysis.parameters(function.info.node)[hidden:]
    if any(
        isinstance(value, Tensor)
        and not value.assumed
        and isinstance(annotation_value(analysis, function.info, argument.annotation), Static)
        for (argument, _), value in zip(names, arguments.positional, strict=False)
    ):
        return False
    if not arguments.exact or function.info.decorators:
        return True
    signature, given = analysis.signature(function.info.node), len(arguments.positional) + hidden
    if given > signature.by_position and signature.rest is None:
        return False
    if signature.keywords is None and not arguments.keywords.keys() <= set(signature.names):
        return False
    return all(
        default is not None or place < given or argument.arg in arguments.keywords
        for place, (argument, default) in enumerate(signature.named)
    )


def _passed_flag(value: Value) -> Value:
    """A flag that is off by default, passed on from somewhere: off unless somebody turns it on."""
    vague = (o is UNKNOWN or (isinstance(o, Static) and not o.known) for o in present(value))
    return Static("bool", default=False) if all(vague) else value


def informed(value: Value, promised: Value) -> Value:
    """A value that is not known on some paths, completed by what the annotation promises."""
    known = [option for option in options(value) if option is not UNKNOWN]
    return join([*known, promised])


def default_value(analysis: Analysis, info: FunctionInfo, default: ast.expr) -> Value:
    """The value of a parameter's default expression."""
    around = analysis.closures.get(info.node)
    if around is not None:
        return around.body.values.get(default, UNKNOWN)
    if isinstance(default, ast.Constant):
        return constant(default.value)
    if isinstance(default, ast.Name):
        return analysis.global_value(info.module, default.id) or UNKNOWN
    return UNKNOWN
