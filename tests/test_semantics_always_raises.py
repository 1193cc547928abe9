"""What is found on the way to an exception: nobody compiles code for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.semantics.events import HostRead, SideEffectCall, TensorBranch
from tests.semantics_probe import events_of, program, put

# Programs whose lines with "# low" are on the way to an exception; other events are not.
PROGRAMS = {
    "a block that raises": """
        def f(x, n: int):
            if n > 3:
                count = x.sum().item()  # low
                raise ValueError(f"{count}")
            return x.item()
    """,
    "the last of several cases": """
        def f(x, mode: str):
            if mode == "a":
                return x.item()
            elif mode == "b":
                return x.sum().item()
            else:
                print(mode)  # low
                raise ValueError(mode)
    """,
    "a tensor that decides whether to raise": """
        def f(x):
            if (x < 0).any():
                print("negative")  # low
                raise ValueError("negative")
            return x
    """,
    "both ways of a test": """
        def f(x, n: int, m: int):
            if n > 3:
                print(n)  # low
                if m > 3:
                    raise ValueError(n)
                else:
                    raise TypeError(m)
            return x
    """,
    "assertions that always fail": """
        def f(x, n: int):
            if n == 1:
                print(n)  # low
                assert False, n
            if n == 2:
                print(n)  # low
                torch._assert(False, "two")
            if n == 3:
                print(n)
                torch._assert(n > 0, "positive")
            if n == 4:
                print(n)
                assert n, "four"
            return x
    """,
    "a function that only raises": """
        def fail(error):
            print(error)  # low
            raise error
        def f(x, n: int):
            if n > 3:
                print(n)  # low
                fail(ValueError(n))
            return x
    """,
    "methods, and functions that call such a one": """
        class Net(nn.Module):
            def forward(self, x, n: int):
                if n > 3:
                    print(n)  # low
                    self.fail(n)
                if n > 2:
                    print(n)  # low
                    refuse(n)
                return x
            def fail(self, n):
                print(n)  # low
                if n > 7:
                    raise ValueError(n)
                raise TypeError(n)
        def refuse(n):
            print(n)  # low
            give_up(n)
        def give_up(n):
            raise ValueError(n)
        f = Net()
    """,
    "functions that may return": """
        def check(n):
            print(n)
            if n < 5:
                return
            raise ValueError(n)
        def draw(n):
            yield n
            raise ValueError(n)
        def again(n):
            again(n)
        def f(x, n: int):
            if n > 3:
                print(n)
                check(n)
            if n > 4:
                print(n)
                draw(n)
            if n > 5:
                print(n)
                again(n)
            return x
    """,
    "a method that others override": """
        class Net(nn.Module):
            def forward(self, x, n: int):
                if n > 3:
                    print(n)
                    self.show(x)
                return x
            def show(self, x):
                x.item()
                raise NotImplementedError
        f = Net()
    """,
    "a block that may be left otherwise": """
        def f(x, n: int, m: int):
            if n > 3:
                if m > 3:
                    return x.item()
                raise ValueError(m)
            for k in range(3):
                if k > n:
                    print(k)
                    if m == k:
                        continue
                    raise ValueError(k)
            return x
    """,
    "a function itself": """
        def f(x):
            print("begin")
            raise ValueError(x.item())
    """,
    "a loop that raises": """
        def f(x):
            for row in x:
                print("row")
                raise ValueError
    """,
    "an exception that is caught": """
        def f(x, n: int):
            try:
                if n > 3:
                    print(n)
                    raise ValueError(n)
            except ValueError:
                return x
            try:
                if n > 4:
                    print(n)  # low
                    raise ValueError(n)
            finally:
                print("end")
    """,
    "a handler": """
        def f(x, n: int):
            try:
                if n > 3:
                    print(n)  # low
                    raise ValueError(n)
                y = x.item()
            except ValueError:
                print(n)  # low
                raise
            try:
                y = x.item()
            except ValueError:
                print(n)  # low
            try:
                y = x.item()
            except ValueError:
                y = x.sum().item()
            return y
    """,
    "a case": """
        def f(x, n: int):
            match n:
                case 1:
                    print(n)
                case _:
                    print(n)  # low
                    raise ValueError(n)
            return x
    """,
    "the end of an iteration": """
        def f(x, n: int):
            if n > 3:
                print(n)
                raise StopIteration
            return x
    """,
    "a function that is used elsewhere, too": """
        def show(n):
            print(n)
        def f(x, n: int):
            if n > 3:
                show(n)
                raise ValueError(n)
            show(n)
            return x
    """,
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_what_leads_to_an_exception_is_marked(tmp_path: Path, text: str) -> None:
    source = program(text) + "torch.compile(f)\n"
    paths = put(tmp_path, {"program.py": source})
    lines = source.splitlines()
    events = [
        event
        for event in events_of(paths, Config(tmp_path))
        if isinstance(event, (HostRead, SideEffectCall, TensorBranch))
    ]
    marked = {event.node.lineno for event in events if event.site.facts.default_off}
    assert marked == {row for row, line in enumerate(lines, 1) if line.endswith("# low")}
    written = {row for row, line in enumerate(lines, 1) if "print(" in line or ".item()" in line}
    raised = {row for row in written if lines[row - 1].lstrip().startswith("raise")}
    assert written - raised <= {event.node.lineno for event in events}


def test_a_function_of_another_file(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/errors.py": "def fail(error):\n    print(error)\n    raise error\n",
        "pkg/net.py": """
import torch
from pkg import errors
from pkg.errors import fail
@torch.compile
def f(x, n: int):
    if n > 3:
        print(n)
        fail(ValueError(n))
    if n > 2:
        print(n)
        errors.fail(ValueError(n))
    return x
""",
    }
    events = events_of(put(tmp_path, files), Config(tmp_path))
    written = [event for event in events if isinstance(event, SideEffectCall)]
    assert len(written) == 3
    assert all(event.site.facts.default_off for event in written)
