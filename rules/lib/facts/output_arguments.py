"""What would be missed if the arguments of an output call were not evaluated?"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tclint.semantics.lattice import is_tensor, may_be_tensor, options
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import UNKNOWN, Static, Tensor
from tclint.torch_facts.memory import gives_no_tensor

from .purity import computes

_BUILTINS = frozenset(
    "len str repr format type id isinstance hasattr getattr int float bool abs round hex".split()
)
_CONSUMING = frozenset("list tuple set dict sorted sum min max any all enumerate zip".split())
_OBSERVING = frozenset(
    {
        "os.getpid",
        "time.monotonic",
        "time.perf_counter",
        "time.time",
        "torch.cuda.max_memory_allocated",
        "torch.cuda.memory_allocated",
        "torch.distributed.get_rank",
        "traceback.format_exc",
    }
)
_STREAMS = frozenset({"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"})
_TEXT_METHODS = frozenset("format join upper lower strip ljust rjust center".split())


def skipped_effects(site: Site, node: ast.AST, output: Callable[[ast.AST], bool]) -> str:
    """The calls in ``node`` that may do more than compute, as they are written.

    ``output`` tells the calls that are meant to be left out.
    """
    found: dict[str, None] = {}
    for part in nodes(node):
        if isinstance(part, ast.Call) and not output(part) and not _only_computes(site, part):
            found[f"`{site.text(part)}`"] = None
        if isinstance(part, ast.comprehension) and site.value(part.iter) == UNKNOWN:
            found[f"`{site.text(part.iter)}`"] = None
    return ", ".join(found)


def written_files(site: Site, node: ast.AST) -> list[str]:
    """The files that prints in ``node`` write to, as they are written, apart from the terminal."""
    found: dict[str, None] = {}
    for part in nodes(node):
        if isinstance(part, ast.Call) and site.dotted(part.func) == "print":
            for keyword in part.keywords:
                if keyword.arg is None:
                    found[f"what `{site.text(keyword.value)}` may name"] = None
                elif keyword.arg == "file" and not _is_terminal(site, keyword.value):
                    found[f"`{site.text(keyword.value)}`"] = None
    return list(found)


def _is_terminal(site: Site, node: ast.expr) -> bool:
    is_none = isinstance(node, ast.Constant) and node.value is None
    return is_none or site.dotted(node) in _STREAMS


def binds_or_waits(node: ast.AST) -> str | None:
    """What makes an expression impossible to move: it binds a name, awaits or yields."""
    for part in nodes(node):
        if isinstance(part, ast.NamedExpr):
            return f"the call binds `{part.target.id}`"
        if isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom)):
            return "the call awaits or yields"
    return None


def arguments(call: ast.Call) -> Iterator[ast.expr]:
    """Every argument of a call, without the keywords' names."""
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def may_show_tensor(site: Site, call: ast.Call) -> bool:
    """True when an argument's text is made from a tensor, for which the CPU waits."""
    shown = (part for argument in arguments(call) for part in _shown(argument))
    return any(may_be_tensor(site.value(part)) for part in shown)


def shows_tensor(site: Site, call: ast.Call) -> bool:
    """True where that is certain, and not only on some paths."""
    shown = (part for argument in arguments(call) for part in _shown(argument))
    return any(is_tensor(site.value(part)) for part in shown)


def _shown(argument: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose text an argument puts out."""
    if isinstance(argument, ast.JoinedStr):
        yield from (v.value for v in argument.values if isinstance(v, ast.FormattedValue))
    else:
        yield argument


def _only_computes(site: Site, call: ast.Call) -> bool:
    function = call.func
    dotted = site.dotted(function)
    if dotted in _BUILTINS or dotted in _OBSERVING:
        return True
    if dotted in _CONSUMING:
        return all(site.value(a) != UNKNOWN or isinstance(a, ast.GeneratorExp) for a in call.args)
    if dotted is not None and dotted.startswith("torch."):
        return computes(dotted, call)
    if not isinstance(function, ast.Attribute):
        return False
    owner = list(options(site.value(function.value)))
    is_text = all(isinstance(o, Static) and o.type == "str" for o in owner)
    if is_text or isinstance(function.value, (ast.Constant, ast.JoinedStr)):
        return function.attr in _TEXT_METHODS
    is_read = function.attr == "numpy" or gives_no_tensor(function.attr)
    is_tensor = all(isinstance(o, Tensor) for o in owner)
    return is_tensor and (is_read or computes(function.attr, call))
