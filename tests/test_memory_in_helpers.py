"""What the project's own functions do with a tensor: do they write, keep or hand it on?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the programs run torch")

from .proof.equal import difference
from .proof.fixing import fixed
from .proof.run import run_eager
from .samples import one_in

_PRELUDE = """
import contextlib
import functools
import torch
from torch import nn

KEPT = []
BY_NAME = {}


class Box:
    shared = None

    def __init__(self, t=None):
        self.t = t

    @property
    def inner(self):
        return self.t

    def put(self, t):
        self.t = t

    @classmethod
    def share(cls, t):
        cls.shared = t

    @staticmethod
    def write(t):
        t.add_(1)


class Base:
    def step(self, t):
        return t.sum()


class Derived(Base):
    def step(self, t):
        t.add_(1)
        return super().step(t)


BOX = Box()


def write(t):
    t.add_(1)


def same(t):
    return t


def hand(t):
    return same(t)


def pair(t):
    return t, t.sum()


def named(t):
    return {"t": t}


def view(t):
    return t.view(-1)[:2]


def pick(t, other, first):
    return t if first else other


def default(t, into=KEPT):
    into.append(t)


def deep(t):
    middle(t)


def middle(t):
    write(t)


def nested(t):
    def inner():
        t.add_(1)
    inner()


def outer(t):
    def inner(s):
        s.add_(1)
    inner(t)


def later(t):
    return lambda: t.add_(1)


def stored(t):
    BY_NAME["t"] = t


def keyed(*, t):
    t.add_(1)


def einsum(t):
    return torch.einsum("i->i", t)


def foreach(t):
    torch._foreach_add_([t], 1)


def taken_over(t):
    s = torch.zeros(4)
    s.set_(t)
    return s


def kept_by_default(t):
    def inner(a=t):
        a.add_(1)
    return inner


def kept_by_a_class(t):
    class Holds:
        held = t
    Holds.held.add_(1)


def stored_beside(t):
    t[...], b = 5, 6


def bound_twice(t):
    a = b = t
    b.add_(1)


def bound_by_with(t):
    with contextlib.nullcontext(3.0) as t[0]:
        pass


def bound_method(t):
    return t.add_


def dunder(t):
    t.__iadd__(1)


def starred(*ts):
    ts[0].add_(1)


def rest(**ts):
    ts["t"].add_(1)


def out(t):
    torch.add(t.detach(), 1, out=t)


def inplace(t):
    nn.functional.threshold(t, 100.0, 3.0, inplace=True)


def items(t):
    t[0] = 7


def part(t):
    t[1:].zero_()


def data(t):
    t.data = t.data + 1


def augmented(t):
    t += 1


def walrus(t):
    (s := t).add_(1)


def rows(t):
    for row in t:
        row.add_(1)


def looped(t):
    s = None
    for _ in range(2):
        if s is not None:
            s.add_(1)
        s = t


def unpacked(t):
    a, b = t.chunk(2)
    a.add_(1)


def listed(t):
    [t][0].add_(1)


def filled(t, ts):
    ts[0] = t


def again(t, n=2):
    return t if n == 0 else again(t, n - 1)


def there(t, n=2):
    return back(t, n)


def back(t, n):
    if n == 0:
        t.add_(1)
        return t.sum()
    return there(t, n - 1)


def each(t):
    t.add_(1)
    yield t


def hooked(t):
    t.register_hook(lambda g: g * 2)
    t.detach().add_(1)


def asked(t, how):
    how(t)


def caught(t):
    try:
        raise ValueError(t)
    except ValueError as e:
        e.args[0].add_(1)


def doubled(function):
    def wrapped(t):
        t.add_(1)
        return function(t)
    return wrapped


@doubled
def decorated(t):
    return t.sum()


def either(t):
    return t.sum()


if True:
    def either(t):
        t.add_(1)
        return t.sum()
else:
    def either(t):
        return t.sum()


try:
    from no_such_package import fast
except ImportError:
    def fast(t):
        t.add_(1)
else:
    def fast(t):
        return t.sum()


def swapped(t):
    return t.sum()


def swap():
    global swapped
    swapped = write


swap()


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        t.add_(1)
        ctx.mark_dirty(t)
        return t

    @staticmethod
    def backward(ctx, g):
        return g


def applied(t):
    Double.apply(t)


def opened(t):
    locals()["t"].add_(1)


def matched(t):
    match t:
        case s:
            s.add_(1)


def chosen(t):
    s = t.sum() if t.shape[0] > 100 else t
    s.add_(1)


def either_or(t):
    s = None or t
    s.add_(1)


def typed(t):
    t.type(t.dtype).add_(1)


def compiled(t):
    torch.compile(write, backend="eager")(t)


def swapping(t, s):
    t, s = s, t
    s.add_(1)


def aliased(t):
    s: torch.Tensor = t
    s.add_(1)


def fresh_pair():
    t = torch.zeros(4)
    return t, t


def fresh_and_view():
    t = torch.zeros(4)
    return t, t[:2]


def fresh_and_kept():
    t = torch.zeros(4)
    KEPT.append(t)
    return t


def cached(n):
    if n not in BY_NAME:
        BY_NAME[n] = torch.zeros(n)
    return BY_NAME[n]


@functools.lru_cache
def remembered(n):
    return torch.zeros(n)


def made_by_default(t: torch.Tensor = torch.zeros(4)):
    return t


def made_and_hung():
    t = torch.zeros(4)
    BOX.t = t
    return t


def made_and_seen():
    t = torch.zeros(4)
    def see():
        return t
    KEPT.append(see)
    return t


def made_under_inference():
    with torch.inference_mode():
        return torch.zeros(4)


def made_from(t):
    s = torch.zeros(4)
    s = t
    return s


def made_in_list(t):
    s = [torch.zeros(4), t]
    return s[1]


SHARED = torch.zeros(4)


def of_the_file():
    return SHARED


def of_the_file_in_parts():
    return SHARED[1:]
"""

# What is done to `y`, a tensor that the function has made, once a number was read from it.
_WRITES = {
    "a helper": "write(y)",
    "a helper's result": "same(y).add_(1)",
    "a helper of a helper": "hand(y).add_(1)",
    "a tuple that a helper returns": "a, b = pair(y)\n    a.add_(1)",
    "an item of what a helper returns": "pair(y)[0].add_(1)",
    "a dict that a helper returns": "named(y)['t'].add_(1)",
    "a view that a helper returns": "view(y).add_(1)",
    "a choice in a helper": "pick(y, x, True).add_(1)",
    "the other choice": "pick(x, y, False).add_(1)",
    "a default argument": "default(y)\n    KEPT[-1].add_(1)",
    "two calls down": "deep(y)",
    "a closure": "nested(y)",
    "a nested function": "outer(y)",
    "a lambda that is returned": "later(y)()",
    "a global dict": "stored(y)\n    BY_NAME['t'].add_(1)",
    "a keyword": "keyed(t=y)",
    "a star": "starred(y)",
    "two stars": "rest(t=y)",
    "a given star": "write(*[y])",
    "given stars": "keyed(**{'t': y})",
    "out": "out(y)",
    "inplace": "inplace(y)",
    "an item": "items(y)",
    "a slice": "part(y)",
    "data": "data(y)",
    "an augmented assignment": "augmented(y)",
    "a walrus": "walrus(y)",
    "a loop over rows": "rows(y)",
    "the next round of a loop": "looped(y)",
    "unpacking": "unpacked(y)",
    "a list": "listed(y)",
    "a list that is given": "ts = [x]\n    filled(y, ts)\n    ts[0].add_(1)",
    "recursion": "again(y).add_(1)",
    "recursion of two": "there(y)",
    "a generator": "next(each(y))",
    "a view of the same memory": "hooked(y.detach().requires_grad_())",
    "a function that is given": "asked(y, write)",
    "a lambda that is given": "asked(y, lambda t: t.add_(1))",
    "an exception": "caught(y)",
    "a decorator": "decorated(y)",
    "a second definition": "either(y)",
    "a fallback": "fast(y)",
    "a function that is replaced": "swapped(y)",
    "an autograd function": "applied(y)",
    "locals": "opened(y)",
    "match": "matched(y)",
    "a conditional expression": "chosen(y)",
    "or": "either_or(y)",
    "type": "typed(y)",
    "a compiled helper": "compiled(y)",
    "a swap": "swapping(y, x.clone())",
    "an annotation": "aliased(y)",
    "a partial": "functools.partial(write, y)()",
    "the default of a nested function": "kept_by_default(y)()",
    "a class in a function": "kept_by_a_class(y)",
    "a store beside another": "stored_beside(y)",
    "two targets": "bound_twice(y)",
    "the target of with": "bound_by_with(y)",
    "a bound method": "bound_method(y)(1)",
    "a special method": "dunder(y)",
    "a view by einsum": "einsum(y).add_(1)",
    "a view by a function of torch": "torch.unsqueeze(y, 0).add_(1)",
    "a view in a list": "torch.broadcast_tensors(y)[0].add_(1)",
    "a view of one of several": "torch.meshgrid([y], indexing='ij')[0].add_(1)",
    "an item of a stack of views": "torch.atleast_1d([y, x])[0].add_(1)",
    "a foreach function in a helper": "foreach(y)",
    "a method that takes it over": "taken_over(y).add_(1)",
    "a method": "box = Box()\n    box.put(y)\n    box.t.add_(1)",
    "a property": "Box(y).inner.add_(1)",
    "a class attribute": "Box.share(y)\n    Box.shared.add_(1)",
    "a static method": "Box.write(y)",
    "super": "Derived().step(y)",
    "a lambda": "(lambda t: t)(y).add_(1)",
    "a lambda with a name": "keep = lambda t: t\n    keep(y).add_(1)",
    "a function in a variable": "do = write if len(KEPT) >= 0 else same\n    do(y)",
    "a function in a list": "[write][0](y)",
    "a comprehension": "[write(row) for row in [y]]",
    "map": "list(map(write, [y]))",
}
_MADE = {
    "twice the same": "y, other = fresh_pair()",
    "a tensor and its view": "y, other = fresh_and_view()",
    "a tensor that is kept": "y = fresh_and_kept()\n    other = KEPT[-1]",
    "a tensor that is cached": "y = cached(4)\n    other = cached(4)",
    "a tensor that is remembered": "y = remembered(4)\n    other = remembered(4)",
    "a default argument": "y = made_by_default()\n    other = made_by_default()",
    "a tensor that an object holds": "y = made_and_hung()\n    other = BOX.t",
    "a tensor that a closure holds": "y = made_and_seen()\n    other = KEPT[-1]()",
    "another one in the end": "other = x.float().reshape(-1) * 1\n    y = made_from(other)",
    "an item of a list": "other = x.float().reshape(-1) * 1\n    y = made_in_list(other)",
    "a global": "y = of_the_file()\n    other = of_the_file()",
    "a view of a global": "y = of_the_file_in_parts()\n    other = of_the_file_in_parts()",
}
_INPUTS = "[(torch.rand(4),), (torch.rand(2, 2),)]"


def _assert_copied(code: str, folder: Path) -> None:
    text = fixed(code, folder)
    assert "[0].detach()\n" not in text
    before, after = run_eager(code, _INPUTS), run_eager(text, _INPUTS)
    assert difference(_plain(before), _plain(after)) is None, text


def _plain(outcome: Any) -> tuple[Any, ...]:
    return outcome.results, [type(e) for e in outcome.raised], outcome.state


@pytest.mark.parametrize("write", one_in(6, _WRITES))
def test_a_number_stays_when_a_helper_writes_its_tensor(write: str, tmp_path: Path) -> None:
    code = f"""{_PRELUDE}
@torch.compile
def f(x: torch.Tensor):
    y = x.float().reshape(-1) * 2
    z = x.float() * 1
    first = y[0].item()
    {_WRITES[write]}
    return z * first
"""
    _assert_copied(code, tmp_path)


@pytest.mark.parametrize("made", _MADE)
def test_a_number_stays_when_a_helper_has_shared_its_tensor(made: str, tmp_path: Path) -> None:
    code = f"""{_PRELUDE}
@torch.compile
def f(x: torch.Tensor):
    {_MADE[made]}
    z = x.float() * 1
    first = y[0].item()
    other.add_(1)
    return z * first
"""
    _assert_copied(code, tmp_path)


def test_a_number_of_a_global_tensor_stays_when_a_function_writes_it(tmp_path: Path) -> None:
    code = f"""{_PRELUDE}
def bump():
    SHARED.add_(1)

@torch.compile
def f(x: torch.Tensor):
    first = SHARED[0].item()
    bump()
    return x.float() * first
"""
    _assert_copied(code, tmp_path)


_READERS = {
    "a sum": "def helper(t):\n    return t.sum()",
    "a sum of a view": "def helper(t):\n    rows = t.view(2, -1)\n    return rows.sum(0)",
    "two calls": "def inner(t):\n    return t * 2\n\ndef helper(t):\n    return inner(t) + 1",
    "a keyword": "def helper(t, *, k=2):\n    return t * k",
    "a lambda": "helper = lambda t: t.sum()",
    "functions of torch": (
        "def helper(t):\n    rows = torch.stack([t, t])\n    return torch.einsum('ij->j', rows)"
    ),
    "a view by a function of torch": "def helper(t):\n    return torch.unsqueeze(t, 0).sum()",
    "methods of another": "def helper(t):\n    out = torch.ones(4)\n    return out.add_(t).sum()",
    "what another is like": "def helper(t):\n    return torch.zeros(4, dtype=torch.int64).to(t)",
    "a shape": "def helper(t):\n    return t.shape[0]",
    "a branch": "def helper(t):\n    if t.dim() == 1:\n        return t.mean()\n    return t * 2",
    "a store of its elements": (
        "def helper(t):\n    out = torch.zeros(9)\n    out[:4] = t\n    return out"
    ),
}


@pytest.mark.parametrize("reader", _READERS)
def test_a_helper_that_only_reads_costs_no_copy(reader: str, tmp_path: Path) -> None:
    code = f"""import torch

{_READERS[reader]}

@torch.compile
def f(x: torch.Tensor):
    y = x.float().reshape(-1) * 2
    first = y[0].item()
    total = helper(y)
    return x.float() * first + total
"""
    text = fixed(code, tmp_path)
    assert "first = y[0].detach()\n" in text
    before, after = run_eager(code, _INPUTS), run_eager(text, _INPUTS)
    assert difference(_plain(before), _plain(after)) is None, text


_MAKERS = {
    "a factory": "def make(n):\n    return torch.ones(n)",
    "a filled one": "def make(n):\n    t = torch.rand(n)\n    t[0] = 1\n    t *= 2\n    return t",
    "two ways": "def make(n):\n    if n > 3:\n        return torch.ones(n)\n    return None",
    "a maker": "def inner(n):\n    return torch.ones(n)\n\ndef make(n):\n    return inner(n)[:]",
}


@pytest.mark.parametrize("maker", _MAKERS)
def test_what_a_helper_has_made_costs_no_copy(maker: str, tmp_path: Path) -> None:
    code = f"""import torch

{_MAKERS[maker]}

@torch.compile
def f(x: torch.Tensor):
    y = make(4)
    first = y[0].item()
    return x.float(), y * first
"""
    assert "first = y[0].detach()\n" in fixed(code, tmp_path)
