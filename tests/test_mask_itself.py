"""What the places of a mask store, or tell, compared with what the mask itself does."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "import torch\n\n\n@torch.compile\ndef f(x, v):\n    y = x.reshape(-1, 3) * 2\n"


def fixed(body: str, folder: Path, *, unsafe: bool = False) -> str:
    """The body of a compiled function after fixing."""
    path = folder / "program.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    changed = fix_files([path], Config(root=folder, weak=True), unsafe=unsafe).changed
    code = changed[0].after if changed else path.read_text()
    return code.removeprefix(HEAD)


def results(body: str, inputs: list[Any]) -> list[Any]:
    """What the function gives or raises, with the gradient of its first input."""
    import torch

    names: dict[str, Any] = {"torch": torch}
    exec(HEAD.replace("@torch.compile\n", "") + body, names)
    seen: list[Any] = []
    for x, v in inputs:
        given = x.detach().clone().requires_grad_(x.is_floating_point())
        try:
            result = names["f"](given, v)
        except (IndexError, RuntimeError, TypeError) as error:
            seen.append((type(error), str(error)))
            continue
        if result.requires_grad:
            result.sum().backward()
        seen.append((result.dtype, result.tolist(), str(given.grad)))
    return seen


@pytest.mark.parametrize(
    "store",
    [
        "y[torch.where(y > 1)] = 0", "y[torch.where(y > 1)] = 1.5", "y[torch.where(y > 1)] += 1",
        "y[(y > 1).nonzero(as_tuple=True)] = True", "y[torch.nonzero(y < 9, as_tuple=True)] = -1",
        "y[torch.where(y > 1)] = y[torch.where(y > 1)]",
    ],
)  # fmt: skip
def test_a_store_by_the_mask_does_what_the_places_did(store: str, tmp_path: Path) -> None:
    import torch

    before = f"{store}\nreturn y"
    after = fixed(before, tmp_path)
    assert "where(y > 1)]" not in after
    assert "nonzero" not in after
    shapes = [torch.arange(6.0) - 2, torch.zeros(2, 3), torch.zeros(0, 3), torch.zeros(4)]
    inputs = list(itertools.product([*shapes, torch.arange(6)], [None]))
    body = "".join(f"    {line}\n" for line in before.splitlines())
    assert results(after, inputs) == results(body, inputs)


@pytest.mark.parametrize(
    "store",
    [
        pytest.param("y[torch.where(y > 1)] = v", id="of another dtype"),
        pytest.param("y[torch.where(y > 1)] = y.sum()", id="a sum of integers is a long"),
        pytest.param("y[torch.where(x > 1)] = 0", id="another shape"),
        pytest.param("y[torch.where(x)] = 0", id="no mask"),
        pytest.param("x[torch.where(x > 1)] = 0", id="no dimensions"),
        pytest.param("y[torch.where(y > 1)[0]] = 0", id="rows"),
        pytest.param("y[torch.where(y > 1)], z = 0, 1", id="two targets"),
        pytest.param("z = y[torch.where(y > 1)]", id="read"),
        pytest.param("y[(y > 1).nonzero()] = 0", id="not as a tuple"),
    ],
)
def test_places_that_may_mean_more_stay(store: str, tmp_path: Path) -> None:
    body = f"{store}\nreturn y"
    assert store in fixed(body, tmp_path)


@pytest.mark.parametrize(
    ("test", "asked"),
    [
        ("len((y > 1).nonzero()) > 0", "(y > 1).any(), y + 1, y"),
        ("torch.where(y > 1)[0].numel() == 0", "(y > 1).any(), y, y + 1"),
        ("not torch.nonzero(y).size(0)", "y.any(), y, y + 1"),
        ("(y > 1).nonzero(as_tuple=True)[1].shape[0] >= 1", "(y > 1).any(), y + 1, y"),
        ("(y > 1).nonzero().numel() != 0", "(y > 1).any(), y + 1, y"),
    ],
)
def test_a_mask_is_asked_itself(test: str, asked: str, tmp_path: Path) -> None:
    body = f"if {test}:\n    y = y + 1\nreturn y"
    assert f"torch.where({asked})" in fixed(body, tmp_path, unsafe=True)


@pytest.mark.parametrize(
    "test",
    [
        "len((y > 1).nonzero()) > 1", "len(torch.where(y > 1)) > 0", "len(v.nonzero()) + 1 > 0",
        "torch.nonzero(x).numel() > 0",
    ],
)  # fmt: skip
def test_what_asks_for_more_than_something_stays(test: str, tmp_path: Path) -> None:
    body = f"if {test}:\n    y = y + 1\nreturn y"
    assert test in fixed(body, tmp_path, unsafe=True)


MADE = [
    ("m = y > 1\nz = torch.zeros_like(m, dtype=torch.float64)\nz[m] = v[m].double() - 1", "m"),
    ("m = y.to(torch.float64) > 1\ny[m] = v[m].exp()", "m"),
    ("m = y.sum(-1) > 1\nn = torch.nn.Linear(3, 3)\ny[m] = n(y[m])", "m[..., None]"),
]


@pytest.mark.parametrize(("body", "mask"), MADE)
def test_a_mask_that_was_made_like_a_tensor_has_its_dimensions(
    body: str, mask: str, tmp_path: Path
) -> None:
    assert f"torch.where({mask}, " in fixed(f"{body}\nreturn y", tmp_path, unsafe=True)


@pytest.mark.parametrize("store", ["x[m] = v[m].to(torch.float64) - 1", "x[m] = v[m].exp()"])
def test_only_a_layer_tells_that_a_mask_leaves_out_the_last_dimension(
    store: str, tmp_path: Path
) -> None:
    body = f"m = v > 0\n{store}\nreturn x"
    assert store in fixed(body, tmp_path, unsafe=True)
