"""The tables of memory, held against torch: does a result share memory with an argument?"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("torch", reason="the tables are held against torch itself")

import torch

from tclint.torch_facts.memory import (
    allocates,
    describes,
    effects,
    gives_no_tensor,
    gradient,
    is_view,
    only_computes,
    shares_as_attribute,
    writes_nothing,
)
from tclint.torch_facts.operations import keeps_floats
from tclint.torch_facts.table import section
from tests.samples import one_in

_DTYPES = "float32 float64 float16 bfloat16 int64 uint8 bool complex64".split()
_SHAPES = ((), (1,), (3,), (0,), (1, 1), (3, 3), (1, 3), (2, 3, 3))
_OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"dim": 0}, {"dim": -1}, {"dim": 0, "keepdim": True}, {"dim": ()}, {"decimals": 0},
    {"min": 0}, {"max": 9}, {"min": -9, "max": 9}, {"nan": 0.0}, {"dim": 0, "dtype": torch.float32},
    {"reduction": "none"}, {"k": 1}, {"diagonal": -9}, {"p": 1},
)  # fmt: skip
_OTHERS: tuple[Callable[[Any], tuple[Any, ...]], ...] = (
    lambda x: (),
    lambda x: (0,),
    lambda x: (1,),
    lambda x: (x,),
    lambda x: (torch.ones((), dtype=x.dtype),),
    lambda x: (torch.zeros_like(x),),
    lambda x: (torch.ones(x.shape, dtype=torch.bool), 1),
    lambda x: (torch.ones(x.shape, dtype=torch.bool), x),
    lambda x: (torch.ones(x.shape, dtype=torch.bool),),
    lambda x: (x, x),
    lambda x: (0, torch.zeros(x.shape, dtype=torch.int64)),
    lambda x: (0, torch.arange(x.shape[0] if x.dim() else 1)),
    lambda x: (torch.zeros(x.shape, dtype=torch.int64),),
    lambda x: ([x],),
)
_CALLS = [*((_OTHERS[0], options) for options in _OPTIONS), *((o, {}) for o in _OTHERS[1:])]


def _tensors(value: object) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _tensors(member)


@dataclass(frozen=True, slots=True)
class _Call:
    """What to call a function with, and which calls are refused alike."""

    arguments: tuple[Any, ...]
    options: dict[str, Any]
    tensors: list[Any]
    memory: set[int]
    kind: tuple[Any, ...]
    text: str


@functools.cache
def _calls(*, leads: bool) -> list[_Call]:
    """Every combination, made once: the functions in the tables write nothing."""
    made = []
    for number, (dtype, shape) in enumerate(itertools.product(_DTYPES, _SHAPES)):
        x = torch.ones(shape).to(getattr(torch, dtype))
        for way, (others, options) in enumerate(_CALLS):
            arguments = (x, *others(x)) if leads else others(x)
            tensors = [*_tensors(arguments)]
            if number and not tensors:
                continue  # The same call as for the first tensor, which is no part of it.
            memory = {t.untyped_storage().data_ptr() for t in tensors} - {0}
            # Types are refused alike for all tensors but those that can stand for a number.
            numbers = [(t.dtype, t.shape) for t in tensors if t.numel() == 1]
            text = f"{dtype} {shape} {arguments[1:]} {options}"
            made.append(_Call(arguments, options, tensors, memory, (way, *numbers), text))
    return made


def _sharing(function: Callable[..., Any], *, leads: bool) -> tuple[int, list[str]]:
    """How many calls gave tensors, and those whose result has the memory of an argument."""
    calls, shared = 0, []
    refused = set()
    for call in _calls(leads=leads):
        if call.kind in refused:
            continue
        try:
            given = [*_tensors(function(*call.arguments, **call.options))]
        except TypeError:
            refused.add(call.kind)
            continue
        except Exception:  # noqa: BLE001 (most combinations are no calls at all)
            continue
        calls += len(given)
        same = any(t.untyped_storage().data_ptr() in call.memory for t in given)
        # What has no elements has no memory: `diff` of an empty tensor gives it back.
        if same or any(t is a for t in given for a in call.tensors if a.numel()):
            shared.append(call.text)
    return calls, shared


EFFECTS: dict[str, str] = section("effects")
ALLOCATING = [name for name in sorted(EFFECTS) if allocates(name) and "nested" not in name]


def _named(name: str) -> Callable[..., Any]:
    if not name.startswith("torch."):
        return getattr(torch.Tensor, name)  # type: ignore[no-any-return]
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", one_in(8, ALLOCATING))
def test_what_allocates_never_shares_memory_with_an_argument(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, shared = _sharing(_named(name), leads=True)
        is_method = not name.startswith("torch.")
        _, more = (0, []) if is_method else _sharing(_named(name), leads=False)
    assert shared + more == []


def _convolution(kind: str, rank: int) -> Any:
    image = torch.ones(1, 1, *[2] * rank)
    return getattr(torch.nn.functional, f"{kind}{rank}d")(image, image[..., :1])


def _indexed(name: str, *last: str) -> Any:
    places = torch.tensor([0, 1])
    return getattr(torch, name)(torch.ones(3), 0, places, torch.ones(2), *last)


_SPECIAL: dict[str, Callable[[], Any]] = {
    "torch.full": lambda: torch.full((2,), 1.0),
    "torch.nn.functional.pad": lambda: torch.nn.functional.pad(torch.ones(3), (0, 0)),
    "torch.linspace": lambda: torch.linspace(0, 1, 3),
    "torch.logspace": lambda: torch.logspace(0, 1, 3),
    "torch.randint": lambda: torch.randint(0, 2, (3,)),
    "torch.tril_indices": lambda: torch.tril_indices(2, 2),
    "torch.triu_indices": lambda: torch.triu_indices(2, 2),
    "torch.randint_like": lambda: torch.randint_like(torch.ones(2), 3),
    "torch.normal": lambda: torch.normal(torch.zeros(2), torch.ones(2)),
    "torch.multinomial": lambda: torch.multinomial(torch.ones(3), 1),
    "torch.index_fill": lambda: torch.index_fill(torch.ones(3), 0, torch.tensor([0, 1]), 2.0),
    **{
        f"torch.{name}": partial(_indexed, name, *last)
        for name, *last in (
            ("index_add",),
            ("index_copy",),
            ("scatter",),
            ("scatter_add",),
            ("scatter_reduce", "sum"),
        )
    },
    **{
        f"torch.nn.functional.{kind}{rank}d": partial(_convolution, kind, rank)
        for kind in ("conv", "conv_transpose")
        for rank in (1, 2, 3)
    },
    "torch.nn.functional.layer_norm": lambda: torch.nn.functional.layer_norm(torch.ones(3), (3,)),
    "torch.nn.functional.nll_loss": lambda: torch.nn.functional.nll_loss(
        torch.ones(2, 3), torch.zeros(2, dtype=torch.int64)
    ),
}


@pytest.mark.parametrize("name", sorted(_SPECIAL))
def test_a_function_with_arguments_of_its_own_gives_new_memory_each_time(name: str) -> None:
    one, other = _SPECIAL[name](), _SPECIAL[name]()
    assert one.untyped_storage().data_ptr() != other.untyped_storage().data_ptr()


COMMON = """
    torch.add torch.cat torch.stack torch.where torch.matmul torch.bmm torch.sum torch.relu
    torch.nn.functional.gelu torch.nn.functional.softmax torch.nn.functional.layer_norm
    torch.nn.functional.cross_entropy torch.nn.functional.conv2d torch.rand_like
    add mul exp sum mean clone masked_fill gather new_zeros repeat cumsum
""".split()


@pytest.mark.parametrize("name", COMMON)
def test_common_functions_are_known_to_allocate(name: str) -> None:
    assert allocates(name)


@pytest.mark.parametrize(
    "name",
    "view reshape t to cpu cuda float detach squeeze torch.reshape torch.einsum torch.chunk "
    "torch.broadcast_to contiguous type".split(),
)
def test_common_views_are_known(name: str) -> None:
    assert is_view(name)
    assert writes_nothing(name)


@pytest.mark.parametrize("name", [name for name in sorted(EFFECTS) if writes_nothing(name)])
def test_no_form_of_a_function_writes_its_arguments(name: str) -> None:
    forms = getattr(torch.ops.aten, name.removeprefix("torch."), None)
    for form in forms.overloads() if forms else ():
        schema = getattr(forms, form)._schema
        lists = str(schema.arguments[0].type).startswith("List") and not schema.returns
        written = (
            []
            if lists
            else [a for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
        )
        assert all(a.is_out for a in written), form


@pytest.mark.parametrize("name", ["dropout", "relu", "leaky_relu", "silu"])
def test_what_can_write_in_place_is_known(name: str) -> None:
    assert "inplace" in (effects(f"torch.nn.functional.{name}") or ())


@pytest.mark.parametrize("name", "gather index_select inverse torch.nn.functional.nll_loss".split())
def test_what_raises_for_some_numbers_only_computes_for_others(name: str) -> None:
    assert effects(name)
    assert not only_computes(name)


@pytest.mark.parametrize("name", "nonzero torch.unique masked_select".split())
def test_a_shape_that_depends_on_data_is_more_than_computing(name: str) -> None:
    assert not only_computes(name)


@pytest.mark.parametrize("name", "bernoulli multinomial torch.randint torch.normal".split())
def test_what_draws_is_more_than_computing(name: str) -> None:
    assert "draws" in (effects(name) or ())


@pytest.mark.parametrize("name", [name for name in section("methods") if gives_no_tensor(name)])
def test_a_reading_method_gives_no_tensor(name: str) -> None:
    for arguments in ((), (torch.ones(1),)):
        try:
            value = getattr(torch.ones(1), name)(*arguments)
        except (TypeError, RuntimeError, AttributeError):
            continue
        assert not [*_tensors(value)]


def test_attributes() -> None:
    assert {name for name in section("attributes") if shares_as_attribute(name)} == {
        *"H T data imag mH mT real".split()
    }
    assert all(map(describes, "device dtype grad_fn is_cuda ndim requires_grad shape".split()))
    assert not describes("grad")
    assert shares_as_attribute("values")


GRADIENTS: dict[str, str] = section("gradients")


@pytest.mark.parametrize("name", one_in(4, sorted(GRADIENTS.keys() - {"chalf"})))  # has no sum
def test_autograd_keeps_what_the_table_says(name: str) -> None:
    told = gradient(name) or frozenset()
    assert _keeps(name, 0) == ("keeps-argument" in told)
    assert _keeps(name, 1) == ("keeps-result" in told)


FINITE = [
    name
    for name, words in GRADIENTS.items()
    if "finite" in words.split() and keeps_floats(name) and name != "chalf"
]


def _branches_not_taken(*tensors: torch.Tensor) -> list[torch.Tensor]:
    never = torch.zeros(len(tensors[0]), dtype=torch.bool)
    return [
        torch.where(never, _named(name)(tensor), tensor)
        for name, tensor in zip(FINITE, tensors, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_no_gradient_of_a_branch_not_taken_is_nan(backend: str) -> None:
    assert len(FINITE) > 20
    numbers = torch.tensor([0.0, 1.0, -1.0, 1e30, 1e-40, torch.inf, -torch.inf, torch.nan])
    given = [numbers.clone().requires_grad_() for _ in FINITE]
    torch._dynamo.reset()
    made = torch.compile(_branches_not_taken, backend=backend)(*given)
    torch.autograd.backward(made, [torch.ones_like(one) for one in made])
    for name, tensor in zip(FINITE, given, strict=True):
        assert tensor.grad is not None
        assert tensor.grad.tolist() == [1.0] * len(numbers), name


@pytest.mark.parametrize("name", ["clamp", "softmax", "torch.nn.functional.dropout"])
def test_what_is_not_of_one_tensor_has_no_gradient_in_the_table(name: str) -> None:
    assert gradient(name) is None


def _keeps(name: str, place: int) -> bool:
    """True where a write into the argument, or the result, makes the backward pass raise."""
    given = torch.tensor([0.1, 0.2], requires_grad=True) * 1
    result = _named(name)(given)
    with torch.no_grad():
        (given, result)[place].add_(0)
    try:
        result.sum().backward()
    except RuntimeError:
        return True
    return False
