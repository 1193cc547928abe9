"""Facts that were found by compiling, held against torch: what reads, what has which name."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import itertools
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pkgutil import resolve_name

import pytest

pytest.importorskip("torch", reason="the tables are held against torch itself")

import torch
from torch._dynamo.utils import counters

from tclint.torch_facts import numpy_functions
from tclint.torch_facts.host import READS, SHAPES, dynamic_shape, host_read_gb_ids
from tclint.torch_facts.moved import AUTOCAST_NAMES, COMPILER_NAMES
from tclint.torch_facts.numbers import needs_tensor_first
from tclint.torch_facts.skipped import BY_NAME
from tclint.torch_facts.starred import BUILTINS, brings
from tests.dynamo import RELEASE, loaded, skip_before

_IMPORTS = "import numpy as np\nimport torch\n"
_ID = re.compile(r"gb(\d+)\.html")
_CALLS = {
    "__array__": "np.asarray(x)", "__bool__": "bool(y)", "__complex__": "complex(y)",
    "__contains__": "x.__contains__(y)", "__float__": "float(y)",
    "__index__": "[0][k]", "__int__": "int(y)", "__repr__": "repr(x)", "__str__": "str(x)",
    "allclose": "x.allclose(x)", "equal": "x.equal(x)", "is_nonzero": "y.is_nonzero()",
    "item": "y.item() + y.item()", "torch.allclose": "torch.allclose(x, x)",
    "torch.equal": "torch.equal(x, x)", "torch.is_nonzero": "torch.is_nonzero(y)",
    "bincount": "n.bincount()", "torch.bincount": "torch.bincount(n)",
    "masked_select": "x.masked_select(x > 0)",
    "torch.masked_select": "torch.masked_select(x, x > 0)",
    "torch.combinations": "torch.combinations(x)",
    "torch.linalg.lstsq": "torch.linalg.lstsq(torch.ones(3, 2), torch.ones(3, 1))",
    "torch.nn.functional.ctc_loss": (
        "torch.nn.functional.ctc_loss(torch.ones(4, 1, 3), torch.ones(1, 2, dtype=torch.int64),"
        " torch.tensor([4]), torch.tensor([2]))"
    ),
    "torch.ctc_loss": (
        "torch.ctc_loss(torch.ones(4, 1, 3), torch.ones(1, 2, dtype=torch.int64),"
        " torch.tensor([4]), torch.tensor([2]))"
    ),
    "torch.nn.functional.one_hot": "torch.nn.functional.one_hot(n)",
    "repeat_interleave": "x.repeat_interleave(n)",
    "torch.repeat_interleave": "torch.repeat_interleave(x, n)",
}  # fmt: skip


def _breaks(name: str) -> set[str]:
    """The ids of the graph breaks that a call of this name causes with default settings."""
    call = _CALLS.get(name, f"{name}(x)" if "." in name else f"x.{name}()")
    code = f"{_IMPORTS}def f(x, y, n, k):\n    r = {call}\n    return x * 2, r\n"
    torch._dynamo.reset()
    counters.clear()
    given = (torch.ones(3), torch.ones(()), torch.ones(3, dtype=torch.int64))
    torch.compile(loaded(code), backend="eager")(*given, torch.zeros((), dtype=torch.int64))
    return {f"GB{gb_id}" for text in counters["graph_break"] for gb_id in _ID.findall(text)}


def _spellings(table: Mapping[str, object]) -> list[str]:
    """The names of a table, and the functions of torch with the name of a method."""
    plain = (f"torch.{name}" for name in table if name[0] != "_" and "." not in name)
    functions = {name for name in plain if callable(_found(name))}
    return sorted({*table, *functions} - {"__format__"})  # which Dynamo puts off


def _found(dotted: str) -> object:
    try:
        return resolve_name(dotted)
    except (AttributeError, ImportError):
        return None


@pytest.mark.slow
@pytest.mark.parametrize("name", _spellings(READS))
def test_what_reads_data_breaks_with_its_id_or_is_traced(name: str) -> None:
    ids = {*host_read_gb_ids(name)}
    found = _breaks(name)
    if RELEASE != (2, 13):  # the ids are those of one release
        assert bool(found) is bool(ids)
        return
    assert found == ids or (found and found < ids)


@pytest.mark.slow
@pytest.mark.parametrize("name", _spellings(SHAPES))
def test_what_gives_a_shape_by_its_data_breaks_with_its_id(name: str) -> None:
    if "torchvision" in name:
        pytest.importorskip("torchvision")
    told = dynamic_shape(name)
    assert told is not None
    assert _breaks(name) == {told[0]}


def test_torch_has_what_dynamo_skips() -> None:
    skip_before((2, 13))
    torchs = {name.removesuffix(".__set__") for name in BY_NAME if name.startswith("torch.")}
    assert {name for name in torchs if _found(name) is None} == set()


def test_torch_has_the_old_names_and_the_new_ones() -> None:
    moved = {**AUTOCAST_NAMES, **COMPILER_NAMES}
    names = {*moved, *(one.new for one in moved.values())}
    assert {name for name in names if _found(name) is None} == set()


def test_numpy_gives_what_the_tables_say() -> None:
    numpy = pytest.importorskip("numpy")
    old = {"product", "bool_", "round_", "mat"}  # gone from numpy 2
    kinds = (numpy_functions.ARRAYS, numpy_functions.SCALARS, numpy_functions.POINTWISE)
    for dotted in frozenset().union(*kinds) - old:
        value = numpy
        for part in dotted.split("."):
            value = getattr(value, part)
        assert value is not None
    for name in sorted(numpy_functions.POINTWISE - old):
        for number in (2, 0.5):
            try:
                given = (getattr(numpy, name)(number), getattr(numpy, name)(numpy.array([number])))
            except TypeError:  # takes two
                continue
            assert numpy.ndim(given[0]) == 0
            assert isinstance(given[1], numpy.ndarray)


def _functions_that_need_a_tensor() -> Iterator[tuple[str, object]]:
    for module in (torch, torch.nn.functional, torch.linalg):
        for name in dir(module):
            function = getattr(module, name)
            plain = callable(function) and not isinstance(function, type)
            if plain and needs_tensor_first(f"{module.__name__}.{name}"):
                yield f"{module.__name__}.{name}", function


@pytest.mark.filterwarnings("ignore")
def test_no_function_takes_an_array_or_a_number_where_it_needs_a_tensor() -> None:
    numpy = pytest.importorskip("numpy")
    x = torch.ones(3, 3)
    # What functions take beside their first argument: enough for nearly all of them.
    beside = [
        (), (x,), (1,), (2.0,), (0, 1), ((1,),), (x, x), (x, 1), (1, x), (x, x, x), (x[0],),
        (x.bool(),), (x.bool(), x), (x.long(),), (x[0].long(),), (0, x.long()),
    ]  # fmt: skip
    taken = set()
    named = dict(_functions_that_need_a_tensor())
    for (name, function), rest in itertools.product(named.items(), beside):
        for first in (numpy.ones((3, 3)), numpy.float32(2), numpy.int64(2), 2, 2.0, True):
            with suppress(Exception):
                if isinstance(function(first, *rest), torch.Tensor):  # type: ignore[operator]
                    taken.add(name)
    assert len(named) > 400
    assert taken == set()


def _of_python() -> Iterator[str]:
    """The modules of the standard library that nothing happens with when they are imported."""
    for name in sorted(sys.stdlib_module_names - {"antigravity", "idlelib", "this", "turtledemo"}):
        if not name.startswith("_") and importlib.util.find_spec(name) is not None:
            try:
                importlib.import_module(name)
            except ImportError:  # of another system, or built without it
                continue
            yield name


@pytest.mark.parametrize("module", ["torch", "torch.nn.functional", "numpy", "python"])
def test_the_builtins_that_a_star_hides_are_known(module: str) -> None:
    for name in _of_python() if module == "python" else [module]:
        star = importlib.import_module(name)
        public = getattr(star, "__all__", [one for one in vars(star) if not one.startswith("_")])
        hidden = {
            one for one in BUILTINS & {*public} if vars(star).get(one) is not vars(builtins)[one]
        }
        unknown = {one for one in hidden if not brings(name, one)}
        errors = {one for one in unknown if one.startswith("_") or one.endswith("Error")}
        assert unknown - errors == set(), name
