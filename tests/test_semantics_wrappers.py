"""What decorators of the program do around a function, and conditions that are asked again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.semantics_probe import mismatch, program

WRAPPED = {
    "a wrapper that looks at the result": """
        def checked(function):
            def inner(*args, **kwargs):
                out = function(*args, **kwargs)
                if out.sum() > 0:  #! TensorBranch if
                    out = out + 1
                return out
            return inner

        @checked
        def helper(x: torch.Tensor):
            return x * 2

        @torch.compile
        def f(x: torch.Tensor):
            return helper(x)
    """,
    "a decorator with arguments, around a method": """
        def above(limit):
            def decorate(function):
                def inner(self, *args):
                    if args[0].max() > limit:  #! TensorBranch if
                        return args[0]
                    return function(self, *args)
                return inner
            return decorate

        class Net(nn.Module):
            @above(3)
            def forward(self, x: torch.Tensor):
                return x.sum().item()  #! HostRead item
    """,
    "one wrapper around two functions": """
        def plain(function):
            def inner(x):
                return function(x)
            return inner

        @plain
        def first(x: torch.Tensor):
            return x.sum()

        @plain
        def second(x: torch.Tensor):
            return first(x) * 2

        @torch.compile
        def f(x: torch.Tensor):
            if second(x) > 0:  #! TensorBranch if
                return x
            return x + 1
    """,
    "a decorator that gives the function back": """
        def noted(function):
            function.noted = True
            return function

        @noted
        def helper(x: torch.Tensor):
            return x.item()  #! HostRead item

        @torch.compile
        def f(x: torch.Tensor):
            return helper(x)
    """,
}

ASKED_AGAIN = {
    "a flag of the module": """
        class Net(nn.Module):
            def forward(self, x: torch.Tensor, n: int = 3):
                if self.training:
                    n = torch.ones(3) * n
                for i in range(3):
                    if self.training is False and i >= n:
                        break
                if self.training and n.sum() > 3:  #! TensorBranch if
                    x = x + 1
                return x
    """,
    "whether there is a mask": """
        class Net(nn.Module):
            def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None):
                count = mask.sum() if mask is not None else 0
                if mask is not None:
                    total = mask.sum()
                else:
                    total = 0
                if mask is None and total > 0:
                    x = x + 1
                if mask is not None and total > 0:  #! TensorBranch if
                    x = x + 2
                return x
    """,
    "a condition that is another one by now": """
        class Net(nn.Module):
            def forward(self, x: torch.Tensor, flag: bool):
                n = 1
                if flag:
                    n = x.sum()
                flag = not flag
                if flag and n > 0:  #! TensorBranch if sometimes
                    x = x + 1
                return x
    """,
}

NUMBERS = {
    "lists that compare tensors": """
        @torch.compile
        def f(x: torch.Tensor):
            items = [x.sum(), x.max()]
            items.sort()  #! TensorBranch sorted
            items.remove(x.max())  #! TensorBranch in
            items.sort(key=id)
            return items.index(x.sum())  #! TensorBranch in
    """,
    "a key that is a tensor": """
        @torch.compile
        def f(x: torch.Tensor):
            rows = [x[0], x[1]]
            rows.sort(key=lambda row: row.sum())  #! TensorBranch sorted
            return sorted(rows, key=len)
    """,
    "cases that are numbers": """
        @torch.compile
        def f(x: torch.Tensor):
            match x.sum():
                case "a" | None:
                    return x
                case 0 | 1:  #! TensorBranch match
                    return x + 1
            match x.shape[0]:
                case 3:
                    return x
            return x
    """,
    "sizes and fills by name": """
        @torch.compile
        def f(x: torch.Tensor, size: torch.Tensor):
            y = F.interpolate(x, size=(size[0], 3))  #! HostRead number
            y = F.interpolate(x, scale_factor=2.0)
            return torch.full_like(y, fill_value=x.max())  #! HostRead number
    """,
}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED.keys())
def test_wrappers_run_in_the_region_too(tmp_path: Path, text: str) -> None:
    assert not mismatch(tmp_path, {"program.py": program(text)})


@pytest.mark.parametrize("text", ASKED_AGAIN.values(), ids=ASKED_AGAIN.keys())
def test_a_condition_that_is_asked_again_comes_out_the_same(tmp_path: Path, text: str) -> None:
    assert not mismatch(tmp_path, {"program.py": program(text)})


@pytest.mark.parametrize("text", NUMBERS.values(), ids=NUMBERS.keys())
def test_python_asks_tensors_for_numbers(tmp_path: Path, text: str) -> None:
    assert not mismatch(tmp_path, {"program.py": program(text)})


def test_python_without_tensors_has_no_findings(tmp_path: Path) -> None:
    block = """
def total_{n}(rows, limit=3, names=()):
    seen = {{}}
    for place, row in enumerate(sorted(rows, key=lambda r: r[0])):
        if row[0] > limit and not any(name in row for name in names):
            seen[place] = sum(row) / max(len(row), 1)
        elif place % 2 and row.index(row[0]) == 0:
            print(f"{{row!r}}: {{seen.get(place, 0):.2f}}")
    while limit and seen:
        limit -= 1
    return [int(value) for value in seen.values() if value]


class Store_{n}:
    def __init__(self, path, size=10):
        self.path, self.size, self.items = path, size, []

    def forward(self, item):
        self.items.append(item)
        if len(self.items) > self.size or item in self.items[:-1]:
            self.items.pop(0)
        return float(len(self.items)), str(item), bool(item)
"""
    text = "".join(block.format(n=n) for n in range(240))
    assert text.count("\n") > 5000
    path = tmp_path / "plain.py"
    path.write_text(text)
    for scope in ("compiled", "modules"):
        run = check_files([path], Config(tmp_path, scope=scope, weak=True))
        assert run.results == ()
