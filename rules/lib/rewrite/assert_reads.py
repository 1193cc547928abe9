"""The repair of host reads inside an assert's test: let the assert have the tensor."""

from __future__ import annotations

import ast

from tclint.lint.rewrite import Replace
from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import SymInt, Tensor

from ..facts.conditions import read_source
from ..facts.purity import ORDER, is_ordering
from ..judge.certainty import is_certainly_tensor
from ..judge.declared import takes_numbers
from ..judge.exactness import COMPLEX, exact_comparison
from ..judge.verdict import PROVED, Changes, Refused, Verdict, combine

_ONE = Changes("a tensor with several elements raises an error with a different message")
_WHOLE_DOUBLES = 2**53
_INTEGER = Refused("`int` drops the fraction before the comparison")
_EQUAL = Changes("tensors of different shapes broadcast or raise instead of being unequal")


@record(frozen=True)
class Written:
    """An expression as a template."""

    template: str
    parts: dict[str, ast.expr]


def as_double(site: Site, test: ast.expr, reads: list[ast.Call]) -> Written | None:
    """A comparison of one number that is read, for compiled code, in doubles.

    A double holds what a tensor of up to 32 bits holds, and rounds nothing past another number:
    with a number that it holds, too, comparisons come out as Python's.
    """
    if len(reads) != 1 or not isinstance(test, ast.Compare):
        return None
    read = reads[0]
    if read not in (test.left, test.comparators[0]):
        return None
    known = read_source(site, read)
    other = test.comparators[0] if read is test.left else test.left
    if known is None or known[0] not in ("item", "float") or not _is_double(site, other):
        return None
    if takes_numbers(site, known[1]) is not None:
        return None
    double = f"$source{'' if known[2].rank == 0 else '.reshape(())'}.double()"
    sides = [double, "$other"] if read is test.left else ["$other", double]
    condition = ast.unparse(ast.Compare(ast.Name("LEFT"), test.ops, [ast.Name("RIGHT")]))
    condition = condition.replace("LEFT", sides[0]).replace("RIGHT", sides[1])
    return Written(condition, {"source": known[1], "other": other})


def _is_double(site: Site, node: ast.expr) -> bool:
    """True for a number that a double holds exactly: a constant, or a size."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and abs(node.value) < _WHOLE_DOUBLES
    return all(isinstance(kind, SymInt) for kind in options(site.value(node)))


def drop(site: Site, call: ast.Call) -> tuple[Replace, Verdict]:
    """Let the tensor have the place of a number that is read, and how far that is proved."""
    read = read_source(site, call)
    if read is None:
        return _function(site, call)
    via, source, tensor = read
    rewrite = Replace(call, "$source", {"source": source})
    if via in ("float", "int") and not is_certainly_tensor(site, source):
        return rewrite, Refused(f"`{site.text(source)}` is not known to be a tensor")
    single = PROVED if tensor.rank == 0 or via == "bool" else _ONE
    return rewrite, combine([_conversion(via, tensor), _place(site, call, tensor), single])


def is_real(site: Site, call: ast.Call, tensor: Tensor) -> bool:
    """True for a number that is read from a tensor which is certainly not complex."""
    if tensor.dtype is not None and tensor.dtype.category in ("bool", "int", "float"):
        return True
    read = read_source(site, call)
    if read is None or read[0] in ("float", "int", "bool"):
        return True  # they raise for complex numbers before anything is compared
    return isinstance(read[1], ast.Call) and is_ordering(read[1])


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
        verdict = exact_comparison(site, parent, call, tensor)
        ordered = isinstance(parent.ops[0], ORDER) and not is_real(site, call, tensor)
        return combine([verdict, COMPLEX]) if ordered else verdict
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
        return Replace(call, ""), Refused("the call unpacks its arguments")
    if name == "torch.allclose" and spelled is not None:
        arguments = [f"$a{i}" for i in range(len(call.args))]
        arguments += [f"{keyword.arg}=$k{i}" for i, keyword in enumerate(call.keywords)]
        return Replace(call, f"{spelled}({', '.join(arguments)}).all()", parts), place
    if name == "torch.is_nonzero" and len(parts) == 1:
        given = next(iter(parts.values()))
        if not is_certainly_tensor(site, given):
            return Replace(call, ""), Refused(f"`{site.text(given)}` is not known to be a tensor")
        return Replace(call, f"${next(iter(parts))}", parts), place
    if name == "torch.equal" and len(call.args) == 2:
        return Replace(call, "($a0 == $a1).all()", parts), combine([place, _EQUAL])
    return Replace(call, ""), Refused(
        "the arguments are passed in a way that tclint does not follow"
    )
