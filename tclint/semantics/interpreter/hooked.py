"""Functions that a module calls before and after its ``forward``: Dynamo traces them with it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.callables import call_value
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.functions import attributes_of
from tclint.semantics.interpreter.hooks import Hook
from tclint.semantics.lattice import join, options
from tclint.semantics.values import NONE, TRUE, UNKNOWN, Mapping, Object, Sequence, Value

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis
    from tclint.semantics.symbols import ClassInfo

_PLACES: Final = {"register_forward_pre_hook": True, "register_forward_hook": False}


def register(frame: Frame, node: ast.Call, owner: Object, name: str, arguments: Arguments) -> None:
    """Remember what eager code registers on a module.

    What compiled code registers breaks the graph, and is compiled with the module from then on: it
    is called here, with what nobody knows.
    """
    before = _PLACES.get(name)
    if before is None:
        return
    function = next(iter(arguments.values()), UNKNOWN)
    hook = Hook(function, node, before, arguments.keywords.get("with_kwargs") == TRUE)
    if frame.region is not None:
        result = () if before else (UNKNOWN,)
        _call(frame, hook, owner, Arguments((), {}, exact=False), *result)
        return
    key = _key(frame, owner)
    if key is not None:
        frame.analysis.hooks.add(key, hook)


def _key(frame: Frame, owner: Object) -> ClassInfo | ast.AST | None:
    """What has the hook: a class, in whose method it may be inherited, or the layer made there."""
    function = frame.body.function
    if owner.cls is None:
        return owner.site
    own = function.cls if function is not None else None
    above = frame.analysis.project.ancestry(owner.cls)
    return own if own is not None and own in above else owner.cls


def hooks_of(analysis: Analysis, owner: Value) -> list[Hook]:
    """What a module calls besides its ``forward``, in order."""
    if not isinstance(owner, Object) or not owner.is_module:
        return []
    if owner.cls is None:
        return analysis.hooks.of(owner.site)
    keys = analysis.project.ancestry(owner.cls)
    if analysis.hooks.may_be_of(keys):
        attributes_of(analysis, owner.cls)
    return [hook for key in keys for hook in analysis.hooks.of(key)]


def before_forward(
    frame: Frame, hooks: list[Hook], owner: Value, arguments: Arguments
) -> Arguments:
    """Call what comes before ``forward``; what it answers are the arguments, if anything."""
    for hook in [hook for hook in hooks if hook.before]:
        answer = _call(frame, hook, owner, arguments)
        given = [option for option in options(answer) if option is not NONE]
        if given and not hook.with_keywords:
            [first, *others] = given
            known = first.items if isinstance(first, Sequence) and not others else None
            positional = known if known is not None else (join(given),)
            arguments = Arguments(positional, arguments.keywords, arguments.exact)
    return arguments


def after_forward(
    frame: Frame, hooks: list[Hook], owner: Value, arguments: Arguments, result: Value
) -> Value:
    """Call what comes after ``forward``; what it answers is the result, if anything."""
    for hook in [hook for hook in hooks if not hook.before]:
        kinds = options(_call(frame, hook, owner, arguments, result))
        result = join([result if kind in (NONE, UNKNOWN) else kind for kind in kinds])
    return result


def _call(frame: Frame, hook: Hook, owner: Value, arguments: Arguments, *result: Value) -> Value:
    given = Sequence("tuple", items=arguments.positional)
    keywords = Mapping(tuple(arguments.keywords.items()))
    between = (given, keywords) if hook.with_keywords else (given,)
    return call_value(frame, hook.call, hook.function, Arguments((owner, *between, *result)))
