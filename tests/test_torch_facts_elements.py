"""Facts that are kept by hand, held against torch: element types, ranks, names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("torch", reason="the tables are held against torch itself")

import torch

from tclint.torch_facts import compiling, modules
from tclint.torch_facts.dtypes import CASTS, DTYPES, SYNONYMS, TYPED, promoted
from tclint.torch_facts.elements import KEEPING, MEASURING, RESHAPING_IN_PLACE
from tclint.torch_facts.factories import FACTORIES

_KINDS = (torch.float64, torch.int16, torch.bool)


def _named(dotted: str) -> Any:
    value: Any = torch
    for number, part in enumerate(dotted.split(".")[1:], 2):
        if not hasattr(value, part):
            import_module(".".join(dotted.split(".")[:number]))
        value = getattr(value, part)
    return value


def _samples() -> Iterator[torch.Tensor]:
    return (torch.ones(2, 3).to(kind) for kind in _KINDS)


@pytest.mark.parametrize("name", sorted(KEEPING))
def test_a_keeping_method_keeps_rank_and_dtype(name: str) -> None:
    if name == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU is here")
    for tensor in _samples():
        arguments = (False,) if name == "requires_grad_" else ()
        given = getattr(tensor, name)(*arguments)
        assert (given.dtype, given.dim()) == (tensor.dtype, tensor.dim())


def test_measuring_methods_give_integers() -> None:
    for name in MEASURING:
        given = getattr(torch.ones(2, 3), name)()
        assert isinstance(given, int) or {type(length) for length in given} == {int}


def test_what_reshapes_in_place_is_of_torch() -> None:
    functions = {*dir(torch), *dir(torch.utils)}
    assert {n for n in RESHAPING_IN_PLACE if n not in {*dir(torch.Tensor), *functions}} == set()


def test_each_dtype_is_of_its_kind_and_knows_its_own_name() -> None:
    kinds = {torch.bool: "bool"}
    for name, kind in DTYPES.items():
        dtype = getattr(torch, name)
        found = "float" if dtype.is_floating_point else "complex" if dtype.is_complex else "int"
        assert kinds.get(dtype, found) == kind
        assert str(dtype) == f"torch.{SYNONYMS.get(name, name)}"


def test_two_dtypes_promote_to_what_torch_says() -> None:
    names = [name for name in DTYPES if name not in SYNONYMS]
    for one, other in itertools.product(names, names):
        wanted = torch.promote_types(getattr(torch, one), getattr(torch, other))
        assert f"torch.{promoted(one, other)}" == str(wanted)


def test_casts_and_typed_tensors_have_their_dtype() -> None:
    for name, dtype in CASTS.items():
        assert str(getattr(torch.ones(1), name)().dtype) == f"torch.{dtype}"
    for name, dtype in TYPED.items():
        assert str(getattr(torch, name)(1).dtype) == f"torch.{dtype}"


_NAMES = sorted(
    compiling.COMPILE
    | compiling.DISABLED
    | compiling.OPAQUE
    | compiling.COMPILING
    | compiling.NOT_COMPILING
    | compiling.ASSERTS
    | compiling.SCRIPTING
    | compiling.UNSCRIPTED
    | compiling.SCRIPT_MODULES
    | modules.MODULE_CLASSES
    | modules.NO_MODULES
    | modules.CONTAINERS
)


@pytest.mark.parametrize("name", _NAMES)
def test_torch_has_the_names_that_mean_something_to_the_analysis(name: str) -> None:
    pytest.importorskip(name.partition(".")[0])
    assert callable(_named(name))


def test_modules_have_their_methods() -> None:
    known = {name for name in modules.MODULE_METHODS if hasattr(torch.nn.Module, name)}
    assert known == modules.MODULE_METHODS
    for name in modules.CONTAINERS | modules.MODULE_CLASSES:
        assert issubclass(_named(name), torch.nn.Module)


_MADE: dict[str, tuple[Any, ...]] = {
    "torch.empty_strided": ((2, 3), (3, 1)),
    "torch.eye": (3,), "torch.from_numpy": (torch.ones(1, 2, dtype=torch.int64).numpy(),),
    "torch.frombuffer": (bytearray(16),), "torch.full": ((2, 3), 7),
    "torch.full_like": (torch.ones(2, 3, dtype=torch.int16), 7), "torch.linspace": (0, 1, 3),
    "torch.logspace": (0, 1, 3), "torch.normal": (0.0, 1.0, (2, 3)),
    "torch.randint": (0, 3, (2, 3)), "torch.scalar_tensor": (1,), "torch.range": (0, 3),
    "torch.randint_like": (torch.ones(2, 3, dtype=torch.int16), 3),
    "torch.rand_like": (torch.ones(2, 3, dtype=torch.float64),),
    "torch.randn_like": (torch.ones(2, 3, dtype=torch.float64),),
    "torch.sparse_coo_tensor": ([[0], [1]], [1]), "torch.tril_indices": (2, 2),
    "torch.triu_indices": (2, 2),
}  # fmt: skip
_BY_SOURCE: dict[str, tuple[Any, ...]] = {
    "data": ([[1, 2]],), "like": (torch.ones(2, 3, dtype=torch.int16),), "range": (3,),
    "size": (2, 3),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(FACTORIES))
def test_a_factory_makes_what_the_table_says(name: str) -> None:
    facts = FACTORIES[name]
    arguments = _MADE.get(name) or _BY_SOURCE[facts.source]
    options = {"dtype": torch.int64} if name == "torch.frombuffer" else {}
    before = torch.get_rng_state()
    made = _named(name)(*arguments, **options)
    assert torch.equal(before, torch.get_rng_state()) != facts.random
    assert made.dim() == (facts.rank if isinstance(facts.rank, int) else 2)
    assert str(made.dtype) == f"torch.{_dtype(facts.dtype, arguments)}"


def _dtype(rule: str, arguments: tuple[Any, ...]) -> str:
    if rule == "default":
        return "float32"
    like = arguments[0].dtype if rule == "like" else None
    return str(like).removeprefix("torch.") if like else "int64"


def test_a_range_of_floats_is_one_of_floats() -> None:
    assert FACTORIES["torch.arange"].dtype == "range"
    assert torch.arange(3.0).dtype == torch.float32
