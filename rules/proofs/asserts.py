"""The repair of host reads inside an assert's test: let the assert have the tensor."""

from __future__ import annotations

import ast

from tclint.diagnostics import Applicability, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import SymInt, Tensor

from .conditions import caught, host_reads, is_compiled_only, read_source
from .declared import takes_numbers
from .exactness import exact_comparison
from .messages import nearest_literal, quoted
from .verdict import PROVED, Changes, Refused, Verdict, combine

_ONE = Changes("a tensor of several elements raises an error with another text")
_WHOLE_DOUBLES = 2**53
_INTEGER = Refused("`int` cuts the fraction off before it is compared")
_EQUAL = Changes("tensors of different shapes broadcast or raise instead of being unequal")


def repair_condition(site: Site, statement: ast.Assert) -> Repair | Decline:
    """Drop every read in the test, if all of them may go."""
    refusal = caught(site)
    if refusal is not None:
        return refusal
    rewrites: list[Replace] = []
    verdicts: list[Verdict] = []
    for call in host_reads(site, statement.test):
        rewrite, verdict = _drop(site, call)
        rewrites.append(rewrite)
        verdicts.append(verdict)
    verdict = combine(verdicts)
    if isinstance(verdict, Refused):
        return Decline(verdict.why)
    message = "Let the assert have the tensor"
    if isinstance(verdict, Changes):
        exactly = _in_compiled_code(site, statement, rewrites)
        return exactly or Repair(message, tuple(rewrites), Applicability.UNSAFE, verdict.what)
    return Repair(message, tuple(rewrites))


def _in_compiled_code(site: Site, statement: ast.Assert, rewrites: list[Replace]) -> Repair | None:
    """One comparison of a number that is read: eager code as it is, compiled code in doubles.

    A double holds what a tensor of up to 32 bits holds, and rounds nothing past another number:
    with a number that it holds, too, comparisons come out as Python's.
    """
    is_compiling, test = site.spell("torch.compiler.is_compiling"), statement.test
    if is_compiling is None or is_compiled_only(site, statement) or len(rewrites) != 1:
        return None
    read = rewrites[0].node
    if not isinstance(test, ast.Compare) or read not in (test.left, test.comparators[0]):
        return None
    known = read_source(site, read) if isinstance(read, ast.Call) else None
    other = test.comparators[0] if read is test.left else test.left
    if known is None or known[0] not in ("item", "float") or not _is_double(site, other):
        return None
    if takes_numbers(site, known[1]) is not None:
        return None
    double = f"$source{'' if known[2].rank == 0 else '.reshape(())'}.double()"
    sides = [double, "$other"] if read is test.left else ["$other", double]
    condition = ast.unparse(ast.Compare(ast.Name("LEFT"), test.ops, [ast.Name("RIGHT")]))
    condition = condition.replace("LEFT", sides[0]).replace("RIGHT", sides[1])
    text = f", {quoted(nearest_literal(site, statement))}" if statement.msg else ""
    template = f"if {is_compiling}():\n    assert {condition}{text}\nelse:\n    $original"
    parts: dict[str, ast.expr | ast.stmt] = {"source": known[1], "other": other}
    rewrite = Replace(statement, template, {**parts, "original": statement})
    return Repair("Let the assert of compiled code have the tensor", (rewrite,))


def _is_double(site: Site, node: ast.expr) -> bool:
    """True for a number that a double holds exactly: a constant, or a size."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and abs(node.value) < _WHOLE_DOUBLES
    return all(isinstance(kind, SymInt) for kind in options(site.value(node)))


def _drop(site: Site, call: ast.Call) -> tuple[Replace, Verdict]:
    read = read_source(site, call)
    if read is None:
        return _function(site, call)
    via, source, tensor = read
    rewrite = Replace(call, "$source", {"source": source})
    single = PROVED if tensor.rank == 0 or via == "bool" else _ONE
    return rewrite, combine([_conversion(via, tensor), _place(site, call, tensor), single])


def _conversion(via: str, tensor: Tensor) -> Verdict:
    category = tensor.dtype.category if tensor.dtype else None
    if via == "int" and category not in ("int", "bool"):
        return _INTEGER
    return PROVED


def _place(site: Site, call: ast.Call, tensor: Tensor | None) -> Verdict:
    """A tensor may stand where only the truth is asked, and in exact comparisons."""
    parent = site.parent(call)
    negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    if isinstance(parent, (ast.Assert, ast.BoolOp)) or negated:
        return PROVED
    if isinstance(parent, ast.Compare) and tensor is not None:
        return exact_comparison(site, parent, call, tensor)
    return Refused("Python computes with the number")


def _function(site: Site, call: ast.Call) -> tuple[Replace, Verdict]:
    """`torch.allclose`, `torch.equal` and `torch.is_nonzero`: as the tensors behind them."""
    name = site.dotted(call.func)
    spelled = site.spell("torch.isclose")
    place = _place(site, call, None)
    parts = {f"a{i}": argument for i, argument in enumerate(call.args)}
    parts |= {f"k{i}": keyword.value for i, keyword in enumerate(call.keywords)}
    if any(isinstance(a, ast.Starred) for a in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    ):
        return Replace(call, ""), Refused("the arguments are unpacked")
    if name == "torch.allclose" and spelled is not None:
        arguments = [f"$a{i}" for i in range(len(call.args))]
        arguments += [f"{keyword.arg}=$k{i}" for i, keyword in enumerate(call.keywords)]
        return Replace(call, f"{spelled}({', '.join(arguments)}).all()", parts), place
    if name == "torch.is_nonzero" and len(parts) == 1:
        return Replace(call, f"${next(iter(parts))}", parts), place
    if name == "torch.equal" and len(call.args) == 2:
        return Replace(call, "($a0 == $a1).all()", parts), combine([place, _EQUAL])
    return Replace(call, ""), Refused("the arguments are passed in an unusual way")
