"""What the analysis takes expressions for, statement by statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.semantics.lattice import join
from tclint.semantics.values import NONE, UNKNOWN, Object, Sequence, Static, Tensor, Value
from tests.semantics_probe import promised_values, values_in

PROGRAMS = {
    "assignments bind names, chains of them, and tuples": """
        @torch.compile
        def f(x: torch.Tensor):
            a = b = x.reshape(2, 3)
            reveal(a)  #= tensor (rank 2, dtype of `x`)
            reveal(b)  #= tensor (rank 2, dtype of `x`)
            c, (d, e) = 1, (x, "s")
            reveal(c)  #= constant 1
            reveal(d)  #= tensor (dtype of `x`)
            reveal(e)  #= constant 's'
    """,
    "a starred target takes a list": """
        @torch.compile
        def f(x: torch.Tensor):
            first, *rest = x, x, x
            reveal(rest)  #= list (tensor (dtype of `x`), tensor (dtype of `x`))
    """,
    "an annotation says what a call does not": """
        @torch.compile
        def f(x: torch.Tensor):
            y: torch.Tensor = unknown(x)
            reveal(y)  #= tensor
    """,
    "an augmented assignment keeps the tensor it changes in place": """
        @torch.compile
        def f(x: torch.Tensor):
            total = torch.zeros(3)
            total += x.sum()
            reveal(total)  #= tensor (rank 1, float32, on cpu)
            count = 0
            count += 1
            reveal(count)  #= constant 1
    """,
    "a walrus binds in the function": """
        @torch.compile
        def f(x: torch.Tensor):
            if (n := x.shape[0]) > 3:
                reveal(n)  #= size of a tensor
    """,
    "branches join": """
        @torch.compile
        def f(x: torch.Tensor, flag: bool):
            if flag:
                y = x
            else:
                y = 3
            reveal(y)  #= tensor (dtype of `x`) or constant 3
            z = x if flag else None
            reveal(z)  #= tensor (dtype of `x`) or None
    """,
    "a branch that leaves does not join": """
        @torch.compile
        def f(x: torch.Tensor, flag: bool):
            y = 3
            if flag:
                y = x
                return y
            reveal(y)  #= constant 3
    """,
    "a branch that is never taken does not join": """
        DEBUG = False
        @torch.compile
        def f(x: torch.Tensor):
            y = 3
            if DEBUG:
                y = x
                reveal(y)
            reveal(y)  #= constant 3
    """,
    "a loop goes on until its variables settle": """
        @torch.compile
        def f(x: torch.Tensor, n: int):
            a = b = c = 0
            for _ in range(n):
                a = b
                b = c
                c = x
            reveal(a)  #= constant 0 or tensor (dtype of `x`)
            reveal(c)  #= tensor (dtype of `x`)
    """,
    "a while loop narrows by its test": """
        @torch.compile
        def f(x: torch.Tensor | None):
            while x is not None:
                reveal(x)  #= tensor (dtype of `x`) or unknown
                x = unknown(x)
    """,
    "break and continue carry their variables out": """
        @torch.compile
        def f(x: torch.Tensor, flags: list):
            y = 1
            for flag in flags:
                if flag:
                    y = x
                    break
                y = "s"
            reveal(y)  #= constant 's' or tensor (dtype of `x`)
    """,
    "comprehensions hold what they compute": """
        @torch.compile
        def f(x: torch.Tensor):
            reveal([x * 2 for _ in range(3)])  #= list of tensor
            reveal({k: x for k in "ab"})  #= dict of tensor (dtype of `x`)
            reveal(sum(t for t in [x, x]))  #= tensor
            reveal([t for t in [x, None] if t is not None])  #= list of tensor (dtype of `x`)
    """,
    "with binds, try joins what its parts do": """
        @torch.compile
        def f(x: torch.Tensor):
            y = 1
            try:
                y = x
                risky()
            except ValueError:
                y = "s"
            finally:
                done = True
            reveal(y)  #= tensor (dtype of `x`) or constant 's'
            reveal(done)  #= constant True
            with open("f") as file:
                reveal(file)  #= unknown
    """,
    "match binds nothing that it is not sure of": """
        @torch.compile
        def f(x: torch.Tensor, kind: str):
            match kind:
                case "a":
                    y = x
                case other:
                    reveal(other)  #= str constant
                    y = 1
            reveal(y)  #= tensor (dtype of `x`) or constant 1
    """,
    "containers keep their members": """
        @torch.compile
        def f(x: torch.Tensor):
            pair = (x, 1)
            reveal(pair[0])  #= tensor (dtype of `x`)
            reveal(pair[-1])  #= constant 1
            items = [x]
            items.append(x)
            reveal(items)  #= list of tensor (dtype of `x`)
            table = {"a": x, "n": 1}
            table["b"] = x.shape[0]
            reveal(table["b"])  #= size of a tensor
            table.update({"c": None})
            reveal(table.get("c"))  #= None
            reveal({"a": 1, **table}["a"])  #= tensor (dtype of `x`)
            for key, value in {"x": x}.items():
                reveal(key)  #= some constant
                reveal(value)  #= tensor (dtype of `x`)
    """,
    "shapes, dtypes and devices are not tensors": """
        @torch.compile
        def f(x: torch.Tensor):
            reveal(x.shape)  #= sizes of a tensor
            reveal(x.size(0) // 2)  #= size of a tensor
            reveal(x.shape[0] / 2)  #= float constant
            reveal(x.dtype)  #= dtype constant
            reveal(x.device)  #= device constant
            reveal(x.ndim)  #= int constant
            reveal(len(x))  #= size of a tensor
            reveal(x.is_cuda)  #= bool constant
    """,
    "reading a tensor gives a number of its element type": """
        @torch.compile
        def f(x: torch.Tensor, ids: torch.LongTensor):
            reveal(x.item())  #= number read from a tensor
            reveal(ids.item())  #= int read from a tensor
            reveal(float(x))  #= float read from a tensor
            reveal(ids.tolist())  #= list read from a tensor
            reveal(x.item() / 2)  #= float read from a tensor
            reveal(x.numpy())  #= numpy array that shares a tensor
    """,
    "element types follow arithmetic": """
        @torch.compile
        def f(x: torch.Tensor, ids: torch.LongTensor):
            reveal(ids + 1)  #= tensor (int64)
            reveal(ids > 0)  #= tensor (bool)
            reveal(torch.arange(3) * 2)  #= tensor (rank 1, int64)
            reveal(x.float().mean())  #= tensor (rank 0, float32)
            reveal(x.to(torch.float64))  #= tensor (float64)
    """,
    "numpy numbers are told from Python's": """
        @torch.compile
        def f(x: torch.Tensor):
            reveal(np.sqrt(2))  #= numpy float
            reveal(np.zeros(3))  #= numpy array
            for k in np.arange(3):
                reveal(k)  #= numpy int
            reveal(math.sqrt(2))  #= float constant
    """,
    "arguments are bound by position, by name, by star": """
        def g(a, b=1, *rest, c, **others):
            reveal(a)  #= tensor (dtype of `x`)
            reveal(b)  #= constant 2
            reveal(rest)  #= tuple (constant 3)
            reveal(c)  #= constant 4
            reveal(others)  #= dict ('d': tensor (dtype of `x`))
        @torch.compile
        def f(x: torch.Tensor):
            args = (x, 2, 3)
            g(*args, c=4, **{"d": x})
    """,
    "what a star hides is not known": """
        def g(a, b=1):
            reveal(a)  #= tensor (dtype of `x`)
            reveal(b)  #= unknown
        @torch.compile
        def f(x: torch.Tensor, more):
            g(x, **more)
    """,
    "defaults are bound where nothing is passed": """
        def g(a, b=None, c=3, *rest, d="s", **others):
            reveal((b, c, d))  #= tuple (None, constant 3, constant 's')
            reveal(rest)  #= tuple (empty)
        @torch.compile
        def f(x: torch.Tensor):
            g(x)
    """,
    "parameters of a root follow annotations, defaults and names": """
        from typing import Optional
        @torch.compile
        def f(
            x, n: int, flag=False, size=3, mask=None, other=None, *,
            y: Optional[torch.Tensor] = None, z: "torch.Tensor", names: list[str], **rest,
        ):
            reveal(x)  #= tensor (dtype of `x`, assumed: parameter `x` of `f`)
            reveal(n)  #= int constant
            reveal(flag)  #= bool constant, off by default
            reveal(size)  #= int constant
            reveal(mask)  #= tensor (dtype of `mask`, assumed: parameter `mask` of `f`) or None
            reveal(other)  #= unknown
            reveal(y)  #= tensor (dtype of `y`) or None
            reveal(z)  #= tensor (dtype of `z`)
            reveal(names)  #= list of str constant
            reveal(rest)  #= dict of unknown
    """,
    "a display with a star gives each target what stands at its place": """
        @torch.compile
        def f(x: torch.Tensor, pair: tuple, n: int):
            y, a, b, c, d = x, n, *pair, "s"
            reveal(y)  #= tensor (dtype of `x`)
            reveal(a)  #= int constant
            reveal(b)  #= unknown
            reveal(d)  #= constant 's'
            for one in [n, *(1, 2)]:
                reveal(one)  #= int constant
    """,
    "a parameter used as a range's bound is a number": """
        @torch.compile
        def f(x: torch.Tensor, n):
            for i in range(n):
                reveal(i)  #= int constant
            reveal(n)  #= some constant
    """,
    "functions give what they return": """
        def both(x, flag):
            if flag:
                return x, 1
            return x, None
        def nothing(x):
            x.relu()
        def numbers(x):
            yield x.shape[0]
        @torch.compile
        def f(x: torch.Tensor, flag: bool):
            y, n = both(x, flag)
            reveal(y)  #= tensor (dtype of `x`)
            reveal(n)  #= constant 1 or None
            reveal(nothing(x))  #= None
            for n in numbers(x):
                reveal(n)  #= size of a tensor
    """,
    "lambdas, nested functions and closures": """
        @torch.compile
        def f(x: torch.Tensor):
            twice = lambda t: t * 2
            reveal(twice(x))  #= tensor
            def inner(k):
                reveal(x)  #= tensor (dtype of `x`)
                return k
            reveal(inner(3))  #= constant 3
            def deeper():
                def deepest():
                    return x
                return deepest
            reveal(deeper()())  #= tensor (dtype of `x`)
            reveal(list(map(twice, [x])))  #= list of tensor
    """,
    "recursion ends": """
        def g(x, n):
            return x if n == 0 else g(x, n - 1)
        def even(x, n):
            return odd(x, n)
        def odd(x, n):
            return even(x, n)
        @torch.compile
        def f(x: torch.Tensor, n: int):
            reveal(g(x, n))  #= tensor (dtype of `x`) or unknown
            reveal(even(x, n))  #= unknown
    """,
    "of many kinds the constants are not told apart": """
        @torch.compile
        def f(x: torch.Tensor, n: int):
            y = x
            if n == 1: y = 1
            elif n == 2: y = None
            elif n == 3: y = f
            elif n == 4: y = [1]
            elif n == 5: y = (1, 2)
            elif n == 6: y = {}
            reveal(y)  #= None or function `f` or tensor (dtype of `x`) or unknown
    """,
    "a class of tensors, another name of them, and what `**kwargs` are annotated as": """
        class Mine(torch.Tensor):
            pass
        Other = torch.Tensor
        @torch.compile
        def f(a: Mine, b: Other, c: "not (python", **more: torch.Tensor):
            reveal(a)  #= tensor (dtype of `a`)
            reveal(b)  #= tensor (dtype of `b`)
            reveal(c)  #= unknown
            reveal(more["any"])  #= tensor
            reveal(Mine())  #= tensor
    """,
    "of calls that Python refuses nothing is known": """
        import operator, functools, itertools, typing
        @torch.compile
        def f(x: torch.Tensor, *more):
            reveal(getattr(x))  #= unknown
            reveal(map(len))  #= unknown
            reveal(filter(None))  #= unknown
            reveal(functools.reduce(operator.add))  #= unknown
            reveal(operator.add(x))  #= unknown
            reveal(operator.lt(x))  #= unknown
            reveal(operator.getitem(x))  #= unknown
            reveal(itertools.accumulate())  #= unknown
            reveal(itertools.compress(x))  #= unknown
            reveal(itertools.groupby())  #= unknown
            reveal(itertools.starmap(len))  #= unknown
            reveal(typing.cast(x))  #= unknown
            reveal(operator.index(*more))  #= unknown
            reveal(pow(*more))  #= unknown
            setattr(*more)
            reveal(operator.contains(*more))  #= bool constant
            reveal(str())  #= str constant
    """,
    "patterns bind the parts of what is known": """
        @torch.compile
        def f(x: torch.Tensor, p):
            match p:
                case {"a": t, "b": [u, *v]}:
                    reveal(t)  #= unknown
                    reveal(u)  #= unknown
            match {"a": x, "b": 1}:
                case {"a": t, "b": n}:
                    reveal(t)  #= tensor (dtype of `x`)
                    reveal(n)  #= constant 1
            match (x, 1):
                case (one, two) as both:
                    reveal(both)  #= tuple (tensor (dtype of `x`), constant 1)
                    reveal(one)  #= tensor (dtype of `x`)
            match p:
                case Point(a=q):
                    reveal(q)  #= unknown
            match 3:
                case int() as n if n > 2:
                    reveal(n)  #= constant 3
            match [x]:
                case [*rest]:
                    reveal(rest)  #= unknown
    """,
    "buffers that are made are buffers of that rank": """
        @torch.compile
        def f(x: torch.Tensor):
            reveal(nn.Buffer(x))  #= tensor (buffer)
            reveal(nn.Buffer(torch.zeros(2, 3)))  #= tensor (rank 2, some float dtype, buffer)
            reveal(nn.Buffer())  #= tensor (buffer)
    """,
    "records are indexed by the order of their fields": """
        import collections, typing
        class Out(collections.OrderedDict):
            loss: typing.Optional[torch.Tensor] = None
            logits: torch.Tensor = None
        class Pair(typing.NamedTuple):
            a: torch.Tensor
            b: int
        @torch.compile
        def f(o: Out, p: Pair):
            reveal(o[0])  #= tensor
            reveal(o[1])  #= tensor
            reveal(p[0])  #= tensor
            reveal(p[1])  #= int constant
            reveal(p[9])  #= unknown
    """,
    "dicts of what is not all known": """
        from collections import defaultdict
        @torch.compile
        def f(x: torch.Tensor, other):
            reveal(defaultdict(other, {"a": x})["a"])  #= tensor (dtype of `x`)
            reveal(defaultdict(None, {"a": x})["b"])  #= unknown
            reveal(dict([("a", x), other])["a"])  #= tensor (dtype of `x`)
            reveal(dict([(other, x)])["a"])  #= unknown
            d = {}
            d.setdefault("a", []).append(x)
            d.get("b", []).append(x)
            (x and d)["c"].append(x)
            reveal(d["a"])  #= list of tensor (dtype of `x`)
    """,
    "numbers of numpy, also those made outside": """
        n = np.prod((2, 3)) * 2
        @torch.compile
        def f(x: torch.Tensor):
            reveal(n)  #= numpy int
            reveal(np.sum((True, False)))  #= numpy int
            reveal(np.max(range(3)))  #= numpy int
    """,
    "what decides a flag whatever the other one is": """
        @torch.compile
        def f(x: torch.Tensor, flag: bool = False):
            reveal(flag & False)  #= constant False
            reveal(flag | True)  #= constant True
    """,
    "functions of autograd, with nothing in them and as objects": """
        class Empty(torch.autograd.Function):
            pass
        @torch.compile
        def f(x: torch.Tensor):
            reveal(Empty())  #= unknown
            reveal(Empty.apply(x))  #= unknown
    """,
    "a module that is called with parameters of others": """
        import torch.func
        class Net(nn.Module):
            def forward(self, x: torch.Tensor):
                return x.sum()
        net = Net()
        @torch.compile
        def f(x: torch.Tensor, given):
            reveal(torch.func.functional_call(net, {}, (x,)))  #= tensor (rank 0)
            reveal(torch.func.functional_call(net, {}, given))  #= tensor (rank 0)
            reveal(torch.func.functional_call(net, {}))  #= tensor (rank 0)
    """,
    "what a module is called with elsewhere may be unknown": """
        import torch.func
        class Net(nn.Module):
            def forward(self, x):
                reveal(x)  #= unknown
                return x
        net = Net()
        @torch.compile
        def f(x: torch.Tensor, other):
            torch.func.functional_call(net, {}, other)
    """,
    "decorators that keep functions out, if torch has them": """
        import torch._dynamo
        maybe = getattr(torch, "compiler", None)
        off = torch.compiler.disable if maybe is not None else (lambda f: f)
        has = hasattr(torch, "compiler") and hasattr(torch.compiler, "disable")
        also_off = torch.compiler.disable if has else (lambda f: f)
        def imported(fn):
            from torch._dynamo import disable
            return disable(fn)
        def of_another(fn):
            return torch.compiler.disable(fn.inner)
        @off
        def a(x: torch.Tensor):
            return x.sum()
        @also_off
        def b(x: torch.Tensor):
            return x.sum()
        @imported
        def c(x: torch.Tensor):
            return x.sum()
        @of_another
        def d(x: torch.Tensor):
            return x.sum()
        @torch.compile
        def f(x: torch.Tensor):
            reveal(a(x))  #= unknown
            reveal(b(x))  #= unknown
            reveal(c(x))  #= unknown
            reveal(d(x))  #= tensor (rank 0)
    """,
    "objects in objects, and what is deleted": """
        import dataclasses, typing
        @dataclasses.dataclass
        class Node:
            a: torch.Tensor
            b: typing.ClassVar[int] = 3
            inner: "Node" = None
        @torch.compile
        def f(x: torch.Tensor):
            node = Node(x, inner=Node(x, inner=Node(x, inner=Node(x, inner=Node(x)))))
            reveal(node.inner.inner.inner.a)  #= tensor (dtype of `x`)
            members = [x, 1]
            del members[0]
            reveal(members)  #= list of tensor (dtype of `x`) or constant 1
            d, e = x, x
            del (d, e)
            read = np.prod(x.shape).item
            reveal(read())  #= int read from a tensor
    """,
    "ranks that grow and shrink by one": """
        @torch.compile
        def f(x: torch.Tensor):
            y = x.reshape(2, 3)
            reveal(torch.unsqueeze(y, 0))  #= tensor (rank 3, dtype of `x`)
            reveal(torch.select(y, 0, 0))  #= tensor (rank 1, dtype of `x`)
            reveal(torch.diag_embed(y))  #= tensor (rank 3, dtype of `x`)
            reveal((z for z in [x]).send(None))  #= unknown
    """,
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_values(tmp_path: Path, text: str) -> None:
    assert values_in(tmp_path, text, scope="compiled") == promised_values(text)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Tensor(2), "rank=2"),
        (Static("int", 3), "value=3"),
        (Sequence("list", UNKNOWN), "element=Unknown()"),
        (Object("Net", is_module=True), "is_module=True"),
        (join([Tensor(2), NONE]), "Union("),
    ],
)
def test_a_value_shows_what_tells_it_from_others(value: Value, shown: str) -> None:
    assert shown in repr(value)


NARROWED = {
    "is None": ("x: torch.Tensor | None", "x is None", "None", "tensor (dtype of `x`)"),
    "is not None": ("x: torch.Tensor | None", "x is not None", "tensor (dtype of `x`)", "None"),
    "truth": ("x: list[int] | None", "x", "list of int constant", "list of int constant or None"),
    "isinstance": (
        "x: torch.Tensor | int", "isinstance(x, torch.Tensor)",
        "tensor (dtype of `x`)", "int constant",
    ),
    "not isinstance": (
        "x: torch.Tensor | int", "not isinstance(x, torch.Tensor)",
        "int constant", "tensor (dtype of `x`)",
    ),
    "isinstance of several": (
        "x: torch.Tensor | int | str", "isinstance(x, (int, str))",
        "some constant", "tensor (dtype of `x`)",
    ),
    "isinstance of something unknown": (
        "x: unheard_of", "isinstance(x, torch.Tensor)", "tensor", "unknown"
    ),
    "torch.is_tensor": (
        "x: torch.Tensor | int", "torch.is_tensor(x)", "tensor (dtype of `x`)", "int constant"
    ),
    "and": (
        "x: torch.Tensor | None, n: int", "x is not None and n > 1",
        "tensor (dtype of `x`)", "tensor (dtype of `x`) or None",
    ),
    "or": (
        "x: torch.Tensor | None, n: int", "x is None or n > 1",
        "tensor (dtype of `x`) or None", "tensor (dtype of `x`)",
    ),
    "not and": (
        "x: torch.Tensor | None, n: int", "not (x is not None and n > 1)",
        "tensor (dtype of `x`) or None", "tensor (dtype of `x`)",
    ),
    "walrus": (
        "m: torch.Tensor | None", "(x := m) is not None",
        "tensor (dtype of `m`)", "None",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "test", "then", "otherwise"), NARROWED.values(), ids=NARROWED.keys()
)
def test_narrowing(tmp_path: Path, parameters: str, test: str, then: str, otherwise: str) -> None:
    text = f"""
        @torch.compile
        def f({parameters}):
            if {test}:
                reveal(x)  #= {then}
            else:
                reveal(x)  #= {otherwise}
    """
    assert values_in(tmp_path, text, scope="compiled") == promised_values(text)


def test_narrowing_ends_where_the_name_is_bound_anew(tmp_path: Path) -> None:
    text = """
        class Batch:
            def __init__(self, mask: torch.Tensor | None):
                self.mask = mask
        @torch.compile
        def f(x: Batch, y: Batch):
            if isinstance(x.mask, torch.Tensor):
                reveal(x.mask)  #= tensor
                x = y
                reveal(x.mask)  #= tensor or None
    """
    assert values_in(tmp_path, text) == promised_values(text)
