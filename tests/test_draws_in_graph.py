"""Helpers that draw with numpy are written anew for compiled code: other numbers, drawn alike."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from .proof.fixing import fixed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD = "import numpy as np\nimport torch\n\n\n"
SPANS = '''\
def draw(
    shape: tuple[int, int], rate: float, length: int,
    mask: torch.LongTensor | None = None, least: int = 0,
) -> np.ndarray:
    """Spans."""
    rows, columns = shape
    if length < 1:
        raise ValueError("too short")
    if length > columns:
        raise ValueError(f"{length} is above {columns}")
    epsilon = np.random.rand(1).item()

    def count(size):
        """How many."""
        spans = int(rate * size / length + epsilon)
        spans = max(spans, least)
        if spans * length > columns:
            spans = columns // length
        if size - (length - 1) < spans:
            spans = max(size - (length - 1), 0)
        return spans

    sizes = (
        mask.detach().sum(-1).tolist() if mask is not None else [columns for _ in range(rows)]
    )
    found = np.zeros((rows, columns), dtype=bool)
    places = []
    most = count(columns)
    if most == 0:
        return found
    for size in sizes:
        spans = count(size)
        start = np.random.choice(np.arange(size - (length - 1)), spans, replace=False)
        if len(start) == 0:
            first = columns - 1
        else:
            first = start[0]
        start = np.concatenate([start, np.ones(most - spans, dtype=np.int32) * first])
        places.append(start)
    places = np.array(places)
    places = np.broadcast_to(places[:, :, None], (rows, most, length))
    places = places.reshape(rows, most * length)
    offsets = np.arange(length)[None, None, :]
    offsets = np.broadcast_to(offsets, (rows, most, length)).reshape(rows, most * length)
    places = places + offsets
    if places.max() > columns - 1:
        places[places > columns - 1] = columns - 1
    np.put_along_axis(found, places, 1, -1)
    return found


'''
STORED = """\
def draw(shape: tuple[int, int], rate: float, mask: torch.Tensor):
    rows, columns = shape
    found = np.zeros((rows, columns), dtype=np.int64)
    for row, size in enumerate(mask.sum(dim=-1).tolist()):
        count = int(rate * size + np.random.rand())
        count = min(count, columns)
        found[row, np.random.choice(size, count, replace=False)] = 2
    return found


"""
PERMUTED = """\
def draw(rows: int, columns: int, kept: int):
    found = np.zeros((rows, columns), dtype=bool)
    for row in range(rows):
        found[row, np.random.permutation(columns)[:kept]] = True
    return found


"""
CALLS = {
    "spans": (SPANS, "draw(x.shape, 0.4, 2, mask, 1)"),
    "spans without lengths": (SPANS, "draw((3, 6), rate=0.3, length=2)"),
    "spans that are rare": (SPANS, "draw((3, 6), rate=0.05, length=2)"),
    "single places": (SPANS, "draw(x.shape, 0.4, 1, mask)"),
    "places stored row by row": (STORED, "draw(x.shape, 0.4, mask)"),
    "a permutation": (PERMUTED, "draw(3, 6, 2)"),
}
X = torch.zeros(3, 6)
MASK = torch.tensor([[1] * 6, [1] * 4 + [0] * 2, [1] * 2 + [0] * 4])


def program(helper: str, call: str) -> str:
    return (
        f"{HEAD}{helper}@torch.compile\ndef f(x: torch.Tensor, mask: torch.Tensor):\n"
        f"    found = torch.tensor({call}, device=x.device)\n"
        "    return torch.where(found > 0, 1, x)\n"
    )


def function(code: str) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(code.replace("@torch.compile\n", ""), names)
    return names["f"]


def drawn(run: Callable[..., torch.Tensor], times: int) -> tuple[torch.Tensor, Counter[int]]:
    """How often each place is drawn, and how often so many of them."""
    found = torch.stack([run(X, MASK) for _ in range(times)])
    return found.mean(0), Counter(found.sum((-1, -2)).int().tolist())


@pytest.mark.slow(20)
@pytest.mark.parametrize("name", CALLS)
def test_compiled_code_draws_as_eager_code_in_one_graph(name: str, tmp_path: Path) -> None:
    code = program(*CALLS[name])
    after = fixed(code, tmp_path, unsafe=True)
    assert "def draw_in_graph" in after
    np.random.seed(0)
    torch.manual_seed(0)
    torch._dynamo.reset()
    whole = torch.compile(function(after), backend="eager", fullgraph=True)
    one, counts = drawn(function(code), 3000)
    other, again = drawn(whole, 3000)
    torch.testing.assert_close(one, other, rtol=0, atol=0.045)
    for count in {*counts, *again}:
        assert abs(counts[count] - again[count]) < 170


@pytest.mark.parametrize("name", CALLS)
def test_eager_code_draws_the_same_numbers_as_before(name: str, tmp_path: Path) -> None:
    code = program(*CALLS[name])
    after = fixed(code, tmp_path, unsafe=True)
    results = []
    for text in (code, after):
        np.random.seed(1)
        run = function(text)
        results.append([run(X, MASK) for _ in range(20)])
    assert all(map(torch.equal, *results))


def test_what_is_fixed_is_not_reported_again(tmp_path: Path) -> None:
    after = fixed(program(*CALLS["spans"]), tmp_path, unsafe=True)
    assert fixed(after, tmp_path, unsafe=True) == after


def test_a_safe_fix_draws_as_before(tmp_path: Path) -> None:
    code = program(*CALLS["spans"])
    assert fixed(code, tmp_path) == code


@pytest.mark.slow
def test_what_raises_for_its_settings_still_does(tmp_path: Path) -> None:
    after = fixed(program(SPANS, "draw(x.shape, 0.4, 9)"), tmp_path, unsafe=True)
    assert "def draw_in_graph" in after
    torch._dynamo.reset()
    for run in (function(after), torch.compile(function(after), backend="eager")):
        with pytest.raises(ValueError, match="9 is above 6"):
            run(X, MASK)


CHANGED_SPANS = {
    "another array is returned": ("    return found\n\n\n", "    return ~found\n\n\n"),
    "rows of other lengths": ("np.ones(most - spans,", "np.ones(most - 1,"),
    "a count that changes between": (
        "        start = np.concatenate(",
        "        spans = spans + 1\n        start = np.concatenate(",
    ),
    "the most that changes between": (
        "    places = np.array(places)",
        "    most = most + 1\n    places = np.array(places)",
    ),
    "the most is read by another round": (
        "        spans = count(size)",
        "        most = count(size)\n        spans = count(size)",
    ),
    "a number that the function reads changes": (
        "    places = []",
        "    epsilon = 0.5\n    places = []",
    ),
    "a test of a number itself": ("if size - (length - 1) < spans:", "if spans:"),
    "a least number that is none": ("least: int = 0", "least: float = 0"),
    "one dimension": ("np.zeros((rows, columns), dtype=bool)", "np.zeros(rows, dtype=bool)"),
    "three dimensions": ("np.zeros((rows, columns),", "np.zeros((rows, columns, 2),"),
    "other new dimensions": ("places[:, :, None]", "places[:, None, :]"),
    "offsets that are spread otherwise": ("[None, None, :]", "[:, None]"),
    "the steps are returned": (
        "found = np.zeros((rows, columns), dtype=bool)",
        "found = np.arange(9)",
    ),
    "with replacement": ("replace=False", "replace=True"),
    "with weights": ("replace=False", "replace=False, p=None"),
    "several numbers": ("np.random.rand(1).item()", "np.random.rand(2).sum()"),
    "another distribution": ("np.random.rand(1).item()", "np.random.randn(1).item()"),
    "a mask that may be above one": ("mask.detach().sum(-1)", "mask.detach().cumsum(-1)[:, -1]"),
    "the array is another's, too": ("    places = []", "    other = found\n    places = []"),
    "the array was looked at": ("    places = []", "    view = found[None]\n    places = []"),
    "values that are computed": ("places, 1, -1", "places, most, -1"),
    "along the rows": ("places, 1, -1", "places, 1, 0"),
    "another bound": ("places[places > columns - 1]", "places[places > columns - 2]"),
    "it prints": ("    places = []", "    print(most)\n    places = []"),
    "a raise by what is drawn": (
        "    if most == 0:\n        return found",
        "    if most == 0:\n        raise ValueError",
    ),
    "more below a test": ("            first = columns - 1", "            first = spans = 1"),
    "a loop with an else": (
        "    places = np.array",
        "    else:\n        pass\n    places = np.array",
    ),
    "sizes that are not declared": ("shape: tuple[int, int]", "shape"),
    "lengths that are not declared": ("mask: torch.LongTensor | None", "mask"),
    "a float that cuts": ("length: int", "length: float"),
    "a decorator": ("def draw(", "@staticmethod\ndef draw("),
    "a name of its own for max": ("def draw(", "def max(*a):\n    return 0\n\n\ndef draw("),
    "the name is taken": ("def draw(", "draw_in_graph = 1\n\n\ndef draw("),
    "places that are kept": ("places.append(start)", "places.append(start)\n        start[0] = 0"),
    "rows that are put first": ("places.append(start)", "places.insert(0, start)"),
}


@pytest.mark.parametrize("name", CHANGED_SPANS)
def test_steps_that_are_not_known_leave_the_helper_alone(name: str, tmp_path: Path) -> None:
    old, new = CHANGED_SPANS[name]
    code = program(*CALLS["spans"])
    changed = code.replace(old, new)
    assert changed != code
    after = fixed(changed, tmp_path, unsafe=True)
    assert not re.search(r"def draw_in_graph", after)


CHANGED_PERMUTED = {
    "other numbers each round": ("permutation(columns)", "permutation(row + 2)"),
    "all of them are used": ("[:kept]", ""),
    "the last of them": ("[:kept]", "[kept:]"),
    "another axis": ("found[row, ", "found[:, "),
    "added instead": ("= True", "+= 1"),
}


@pytest.mark.parametrize("name", CHANGED_PERMUTED)
def test_other_uses_of_a_permutation_stay(name: str, tmp_path: Path) -> None:
    old, new = CHANGED_PERMUTED[name]
    code = program(PERMUTED.replace(old, new), CALLS["a permutation"][1])
    assert code != program(*CALLS["a permutation"])
    assert "draw_in_graph" not in fixed(code, tmp_path, unsafe=True)
