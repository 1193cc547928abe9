"""What is pointwise: the table, what torch's tags say, and what calls on random numbers give."""

from __future__ import annotations

import logging
from importlib import import_module
from itertools import product
from typing import Any

import pytest

pytest.importorskip("torch", reason="the table is held against torch itself")

import torch

from scripts.torch_facts.pointwise import FORMS, pointwise
from tclint.torch_facts.pointwise import is_pointwise
from tclint.torch_facts.table import section

TABLE: dict[str, str] = section("pointwise")


def _named(name: str) -> Any:
    if not name.startswith("torch."):
        return getattr(torch.Tensor, name)
    module, _, last = name.rpartition(".")
    found = getattr(import_module(module), last)
    return found() if isinstance(found, type) else found


@pytest.mark.slow(15)
@pytest.mark.filterwarnings("ignore")
def test_the_tags_of_the_installed_torch_say_the_same() -> None:
    logging.disable()
    try:
        measured = pointwise({name: _named(name) for name in TABLE})
    finally:
        logging.disable(logging.NOTSET)
    assert measured == TABLE


def _arguments(form: str, number: Any, shape: tuple[int, ...]) -> list[Any]:
    torch.manual_seed(0)
    return [torch.rand(shape, dtype=torch.float64) if one == "t" else number for one in form]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_is_selected_first_gives_what_is_selected_afterwards() -> None:
    mask = torch.arange(24).reshape(4, 6) % 5 < 2
    for name, forms in TABLE.items():
        call = _named(name)
        for form, number in product(forms.split(), (0.5, 1, torch.float64)):
            given = _arguments(form, number, (4, 6))
            selected = [one[mask] if isinstance(one, torch.Tensor) else one for one in given]
            try:
                whole, some = call(*given), call(*selected)
            except (TypeError, RuntimeError, IndexError, ValueError):
                continue
            torch.testing.assert_close(whole[mask], some, equal_nan=True)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("max", "t"),
        ("max", "tn"),
        ("torch.max", "t"),
        ("torch.where", "t"),
        ("equal", "tt"),
        ("torch.equal", "tt"),
        ("torch.empty_like", "t"),
        ("torch.nn.functional.rrelu", "t"),
        ("torch.nn.functional.dropout", "t"),
        ("torch.nn.functional.alpha_dropout", "t"),
        ("torch.nn.functional.relu", "tn"),
        ("torch.nn.functional.softmax", "tn"),
        ("torch.nn.functional.glu", "t"),
        ("torch.nn.Sequential", "t"),
        ("torch.nn.PReLU", "t"),
        ("torch.nn.Dropout", "t"),
        ("torch.atleast_3d", "t"),
        ("t", "t"),
        ("flatten", "t"),
        ("squeeze", "t"),
        ("cumsum", "tn"),
        ("add_", "tn"),
        ("nobody", "t"),
    ],
)
def test_other_forms_and_calls_are_not(name: str, form: str) -> None:
    assert not is_pointwise(name, form)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("max", "tt"),
        ("clamp", "tnn"),
        ("clamp", "tn"),
        ("torch.where", "ttt"),
        ("torch.where", "tnn"),
        ("to", "tn"),
        ("float", "t"),
        ("isfinite", "t"),
        ("torch.nn.functional.gelu", "t"),
        ("torch.nn.functional.silu", "t"),
        ("torch.nn.functional.hardswish", "t"),
        ("torch.nn.functional.logsigmoid", "t"),
        ("reciprocal", "t"),
        ("torch.lerp", "ttn"),
        ("torch.zeros_like", "t"),
        ("torch.nn.GELU", "t"),
    ],
)
def test_these_are(name: str, form: str) -> None:
    assert form in FORMS
    assert is_pointwise(name, form)
