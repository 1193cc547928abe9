"""What a finding about output says, and the way round it that the configuration asks for."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.events import SideEffectCall
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, Tensor

from ..facts.branch_tests import leaves
from ..facts.compiling import is_compiled_only
from ..facts.output_arguments import (
    arguments,
    binds_or_waits,
    is_fixed,
    is_known_when_traced,
    may_show_tensor,
    prints_alike,
    reads_tensor,
    skipped_effects,
    written_files,
)
from .placement import insert_above, own_statement, why_not_alone
from .torch_name import torch_name

_REORDERABLE = "torch._dynamo.config.reorderable_logging_functions"
_PRINT = "torch._higher_order_ops.print"
_CONVERSIONS = {-1: "", 115: "!s", 114: "!r", 97: "!a"}
_ASSUME_CONSTANT = "torch.compiler.assume_constant_result"
IS_COMPILING = "torch.compiler.is_compiling"
_VERBS = {"print": "prints it", "stdout": "writes it", "warnings": "warns", "bar": "shows it"}
_LOG_METHODS = frozenset(
    "debug info warning warn error exception critical log isEnabledFor".split()
)
# What they change is there for all that comes: nothing that may be left out.
_CHANGING = frozenset(
    "setLevel addHandler removeHandler addFilter removeFilter basicConfig disable addLevelName "
    "captureWarnings setLoggerClass setLogRecordFactory".split()
)
_IDENTITY = (ast.Is, ast.IsNot)


def repair_output(event: SideEffectCall) -> Repair | Decline:
    """Repair an output call in the style of ``side-effects``."""
    if event.sink in {"logger", "logging"} and event.method in _CHANGING:
        return Decline(
            f"`{event.method}` changes what is logged: call it before compiled code runs"
        )
    return _STYLES[event.site.settings.side_effects](event)


def _guard(event: SideEffectCall) -> Repair | Decline:
    """Put the statement, or the ``if`` that exists only for it, under a guard."""
    target = _decision_around(event) or own_statement(event)
    if target is None:
        return Decline(why_not_alone(event))
    if is_compiled_only(event.site, target):
        return Decline("only compiled code runs this: a guard would leave it out for good")
    obstacle = binds_or_waits(target)
    if obstacle is not None:
        return Decline(obstacle)
    spelled = torch_name(event.site, IS_COMPILING)
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    skipped = skipped_effects(event.site, target, lambda node: _is_output(event, node))
    changes = [f"no longer writes to {file}" for file in written_files(event.site, target)]
    changes += [f"no longer evaluates {skipped}"] if skipped else []
    changes += ["no longer moves the bar"] if _moves_bar(event) else []
    return Repair(
        f"Skip it while compiling: compiled code no longer {_VERBS.get(event.sink, 'logs it')}",
        (*imports, Replace(target, f"if not {name}():\n    $output", {"output": target})),
        Change.BEHAVIOUR if changes else Change.SAME_BITS,
        f"compiled code {', and '.join(changes)}" if changes else "",
    )


def _moves_bar(event: SideEffectCall) -> bool:
    return event.sink == "bar" and event.method != "write"


def _decision_around(event: SideEffectCall) -> ast.If | None:
    """The outermost ``if`` that is there only for output and ends the graph by its own test.

    Guarding the call inside would leave that graph break.
    """
    site, found = event.site, None
    node: ast.AST | None = site.statement
    if node is event.statement:
        node = site.parent(site.statement)
    while isinstance(node, ast.If) and _is_only_output(event, node):
        if any(_breaks(event, leaf) for leaf in leaves(node.test)):
            found = node
        node = site.parent(node)
    return found


def _is_only_output(event: SideEffectCall, node: ast.If) -> bool:
    """True for an ``if`` that is no ``elif``, has no ``else``, and only puts something out."""
    if node.orelse or event.site.text(node).startswith("elif"):
        return False
    return all(
        _is_output(event, statement.value)
        if isinstance(statement, ast.Expr)
        else isinstance(statement, ast.If) and _is_only_output(event, statement)
        for statement in node.body
    )


def _is_output(event: SideEffectCall, node: ast.AST) -> bool:
    """True for the event's call, and for prints, warnings and calls of the same logger."""
    if node is event.call:
        return True
    if not isinstance(node, ast.Call):
        return False
    if event.site.dotted(node.func) in {"print", "warnings.warn"}:
        return True
    mine, other = event.call.func, node.func
    if not isinstance(mine, ast.Attribute) or not isinstance(other, ast.Attribute):
        return False
    is_logger = event.sink in {"logger", "logging"} and other.attr in _LOG_METHODS
    return is_logger and ast.dump(mine.value) == ast.dump(other.value)


def _breaks(event: SideEffectCall, leaf: ast.expr) -> bool:
    if leaf is event.call:
        return True
    asked = [leaf]
    if isinstance(leaf, ast.Compare) and not any(isinstance(op, _IDENTITY) for op in leaf.ops):
        asked += [leaf.left, *leaf.comparators]
    return any(_is_data(event.site, part) for part in asked)


def _is_data(site: Site, node: ast.expr) -> bool:
    return any(isinstance(option, (Tensor, DataScalar)) for option in options(site.value(node)))


def _graph_print(event: SideEffectCall) -> Repair | Decline:
    """Turn a plain ``print`` into the operator of the same name."""
    site, call = event.site, event.call
    obstacle = _why_no_graph_print(event)
    if obstacle is not None:
        return Decline(obstacle)
    spelled = torch_name(site, _PRINT)
    if isinstance(spelled, Decline):
        return spelled
    texts: list[str] = []
    shown: list[ast.expr] = []
    for argument in call.args:
        field = _field(argument, shown)
        if field is None:
            return Decline(f"the format of `{site.text(argument)}` is computed at run time")
        texts.append(field)
    if not all(_is_at_its_place(site, value) for value in shown):
        return Decline("the values cannot be taken out of the f-string")
    formats = any(isinstance(argument, ast.JoinedStr) for argument in call.args)
    if formats and len(shown) > 1 and skipped_effects(site, call, lambda node: node is call):
        return Decline(
            "evaluating a later value may change what the f-string has already formatted"
        )
    name, imports = spelled
    parts = {f"value{i}": value for i, value in enumerate(shown)}
    # A JSON string is a Python string, in double quotes.
    text = json.dumps(" ".join(texts), ensure_ascii=False)
    template = f"{name}({', '.join([text, *(f'${part}' for part in parts)])})"
    other = [f"`{site.text(v)}`" for v in shown if not prints_alike(site, v)]
    return Repair(
        f"Print from inside the graph with `{name}`",
        (*imports, Replace(call, template, parts)),
        Change.BEHAVIOUR if other else Change.SAME_BITS,
        f"the text of {', '.join(other)} may differ: shapes print as tuples" if other else "",
    )


def _why_no_graph_print(event: SideEffectCall) -> str | None:
    site, call = event.site, event.call
    if event.sink != "print" or site.dotted(call.func) != "print":
        return f"`{_PRINT}` can only replace `print`"
    if event.statement is None:
        return why_not_alone(event)
    if call.keywords:
        return f"`{_PRINT}` has no `{call.keywords[0].arg or '**'}=`"
    if "$" in site.text(call):
        return "the text has a `$`, which a fix cannot write"
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return "the number of values to print is not known"
    if reads_tensor(site, call):
        return "a value to print is read from a tensor, which breaks the graph before the print"
    return binds_or_waits(call)


def _field(argument: ast.expr, shown: list[ast.expr]) -> str | None:
    """What stands for an argument in the format string; its values are added to ``shown``."""
    if isinstance(argument, ast.Constant):
        return _escaped(str(argument.value))
    if not isinstance(argument, ast.JoinedStr):
        shown.append(argument)
        # print() shows str(tensor); a bare {} would show the number of a tensor without dimensions.
        return "{!s}"
    text = ""
    for piece in argument.values:
        if isinstance(piece, ast.Constant):
            text += _escaped(str(piece.value))
            continue
        spec = _spec(piece) if isinstance(piece, ast.FormattedValue) else None
        if spec is None or not isinstance(piece, ast.FormattedValue):
            return None
        shown.append(piece.value)
        text += "{" + _CONVERSIONS[piece.conversion] + spec + "}"
    return text


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _spec(piece: ast.FormattedValue) -> str | None:
    """``:.3f`` as written; None when it holds values of its own."""
    if piece.format_spec is None:
        return ""
    values = piece.format_spec.values if isinstance(piece.format_spec, ast.JoinedStr) else []
    if not all(isinstance(v, ast.Constant) for v in values):
        return None
    return ":" + "".join(str(v.value) for v in values if isinstance(v, ast.Constant))


def _is_at_its_place(site: Site, value: ast.expr) -> bool:
    """Before Python 3.12 the parser misplaces what stands in f-strings over several lines."""
    try:
        found = ast.parse(site.text(value), mode="eval").body
    except SyntaxError:
        return False
    return ast.dump(found) == ast.dump(value)


def _remove(event: SideEffectCall) -> Repair | Decline:
    """Delete the call."""
    site, statement = event.site, own_statement(event)
    obstacle = why_not_alone(event) if statement is None else binds_or_waits(statement)
    if statement is None or obstacle is not None:
        return Decline(str(obstacle))
    skipped = skipped_effects(site, statement, lambda node: _is_output(event, node))
    changes = "the output is gone in eager mode, too"
    if skipped:
        changes += f", and {skipped} is no longer evaluated"
    return Repair("Remove it", (Replace(statement, ""),), Change.BEHAVIOUR, changes)


def _reorder(event: SideEffectCall) -> Repair | Decline:
    """Name the setting that makes Dynamo print after the graph has run."""
    site = event.site
    if event.sink != "print" or site.dotted(event.call.func) != "print":
        return Decline(f"`{_REORDERABLE}` works for `print` only")
    if any(k.arg == "file" for k in event.call.keywords) or not all(
        prints_alike(site, argument) for argument in arguments(event.call)
    ):
        return Decline(f"`{_REORDERABLE}` takes only tensors, constants and formatted strings")
    spelled = torch_name(site, _REORDERABLE, top_level=True)
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    return Repair(
        f"Run `{name}.add(print)` before compiling: the print then follows the graph",
        (*imports, insert_above(site, f"{name}.add(print)")),
        Change.BEHAVIOUR,
        "tensors that are written in place after the print show their later values",
        only_shown=True,
    )


def _trace_time(event: SideEffectCall) -> Repair | Decline:
    """Move the call into a helper under ``torch.compiler.assume_constant_result``."""
    site, call = event.site, event.call
    obstacle = _why_not_when_traced(event)
    if obstacle is not None:
        return Decline(obstacle)
    spelled = torch_name(site, _ASSUME_CONSTANT, top_level=True)
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    function = site.text(call.func)
    helper = f"_{function.strip('_').replace('.', '_')}_when_traced"
    template = f"@{name}\ndef {helper}(*args, **kwargs):\n    {function}(*args, **kwargs)\n"
    known = site.module.functions
    inserts = () if helper in known else (insert_above(site, template),)
    fixed = all(is_fixed(site, argument) for argument in arguments(call))
    return Repair(
        f"Emit it once per compilation, through `{helper}`",
        (*imports, *inserts, Replace(call.func, helper)),
        Change.SAME_BITS if fixed else Change.BEHAVIOUR,
        "" if fixed else "compiled code shows the values from when it was traced",
    )


def _why_not_when_traced(event: SideEffectCall) -> str | None:
    site, call = event.site, event.call
    if event.statement is None:
        return why_not_alone(event)
    if any(isinstance(a, ast.Starred) for a in call.args) or any(not k.arg for k in call.keywords):
        return "the call unpacks its arguments"
    unknown = [
        a for a in arguments(call) if not is_known_when_traced(site, a) and not is_fixed(site, a)
    ]
    if unknown:
        return f"`{site.text(unknown[0])}` is not known while tracing"
    if not _is_global(site, call.func):
        return f"`{site.text(call.func)}` cannot be reached from a helper function"
    return binds_or_waits(call)


def _is_global(site: Site, function: ast.expr) -> bool:
    """True for ``name`` and ``name.attribute`` where the name means the same in the helper."""
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    module = site.module
    is_known = root.id in {*module.imports, *module.assigned} or site.dotted(root) == "print"
    return is_known and site.dotted(root) is not None


_STYLES: dict[str, Callable[[SideEffectCall], Repair | Decline]] = {
    "guard": _guard,
    "graph-print": _graph_print,
    "remove": _remove,
    "reorder": _reorder,
    "trace-time": _trace_time,
}


def describe(event: SideEffectCall) -> str:
    """Name the call and all that it costs where it stands."""
    site = event.site
    text = f"`{site.text(event.call.func)}` breaks the graph"
    if site.region is not None and site.region.fullgraph:
        text = f"`{site.text(event.call.func)}` cannot be compiled with `fullgraph=True`"
    elif site.facts.drops_frame:
        text += f" in {'a loop' if site.facts.loops else 'a `try`'}: the function runs eagerly"
    if may_show_tensor(site, event.call):
        text += ", and the CPU waits"
    return text


def gb_ids(event: SideEffectCall, own: str) -> tuple[str, ...]:
    """What Dynamo prints: the call's own graph break, and the loop's around it."""
    return (own, "GB7000") if event.site.facts.loops else (own,)
