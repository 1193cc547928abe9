"""Small ways to tell a program from its fixed self: overflow, complex numbers, names as texts."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run before and after their fixes")

from tests.before_and_after import fixed, outcome
from tests.samples import one_in

UNUSED = """
import torch


class Ragged(list):
    def tolist(self):
        print("asked")

    def sum(self):
        return self


class Net(torch.nn.Module):
    def forward(self, x{declared}):
        {body}
        return 1


def main():
    return Net()({given})
"""
UNUSED_LISTS = {
    "a statement": "x.tolist()",
    "a variable": "n = x.tolist()",
    "several": "n, m = x.tolist(), 3",
    "of a sum": "x.sum().tolist()",
    "twice": "x.tolist()\n        x.tolist()",
    "of an alias": "y = x\n        y.tolist()",
}


@pytest.mark.parametrize("body", UNUSED_LISTS)
def test_the_tolist_of_what_is_no_tensor_runs(body: str, tmp_path: Path) -> None:
    text = UNUSED.format(body=UNUSED_LISTS[body], declared="", given="Ragged()")
    after = fixed(tmp_path, {"program.py": text})
    assert outcome(tmp_path, after) == outcome(tmp_path, {"program.py": text})


COUNTED = """
import numpy as np
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        for k in np.arange(4):
            {body}
        return x


def main():
    return Net()(torch.ones(2))
"""
OVERFLOWS = {
    "a large power": "x = x + k * 10**18 * 10",
    "two factors": "x = x + k * 5000000000 * 5000000000",
    "factors on both sides": "x = x + 10**10 * (k * 10**10)",
    "through a variable": "y = k * 10**10\n            x = x + y * 10**10",
    "through two": (
        "y = k * 10**7\n            z = y * 10**7\n            x = x + (z + 1) * 10**7"
    ),
    "a sum in between": "x = x + (k + 10**15) * 10**15",
    "a difference in between": "x = x + (10**15 - k) * 10**15",
    "a negative factor": "x = x + k * -(10**10) * 10**10",
    "a shift": "x = x + (k << 70)",
    "a power of it": "x = x + (k * 10**5) ** 4",
    "a quotient": "x = x + k * 10**18 * 10 // 3",
    "a remainder": "x = x + k * 10**18 * 10 % 7",
    "compared": "x = x + 1 if k * 10**18 * 10 > 0 else x",
    "a float": "x = x + k * 1e308",
    "two floats": "x = x + k * 1e200 * 1e200",
    "a text": "print(k * 10**18 * 10)",
}
FITS = {
    "small factors": "x = x + k * 1000 * 1000",
    "a float that fits": "x = x + k * 1e30",
    "a sum": "x = x + k + 10**6",
    "an offset": "y = k * 64\n            x = x + y + 1",
}


@pytest.mark.parametrize("body", one_in(3, OVERFLOWS))
def test_what_overflows_in_numpy_stays_numpy_s(body: str, tmp_path: Path) -> None:
    files = {"program.py": COUNTED.format(body=OVERFLOWS[body])}
    after = fixed(tmp_path, files)
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


@pytest.mark.parametrize("body", FITS)
def test_what_fits_is_python_s(body: str, tmp_path: Path) -> None:
    files = {"program.py": COUNTED.format(body=FITS[body])}
    after = fixed(tmp_path, files)
    assert "in range(4)" in after["program.py"]
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


ASSERTED = """
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        assert {test}
        return x


def main():
    return Net()(torch.ones(3, dtype=torch.{dtype}))
"""
TESTS = (
    "float(x.sum()) > 1", "1 < float(x.sum())", "float(x.mean()) >= 1", "float(x[0]) <= 1",
    "float((x * 2).sum()) < 9", "int(x.sum()) > 1", "x.sum().item() == 3", "float(x.sum()) == 3",
    "bool(x.sum())", "not float(x.sum()) < 1", "float(x.sum()) > 1 and float(x[1]) > 0",
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["complex64", "float16", "bfloat16", "float64", "int8", "bool"])
@pytest.mark.parametrize("test", one_in(3, TESTS))
def test_an_assert_on_a_number_holds_for_the_same_dtypes(
    test: str, dtype: str, tmp_path: Path
) -> None:
    files = {"program.py": ASSERTED.format(test=test, dtype=dtype)}
    after = fixed(tmp_path, files)
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


NAMED = """
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        y = torch.relu(x)
        {body}


def main():
    return Net()(torch.arange(3.0))
"""
BY_NAME = {
    "locals": "n = y.max().item()\n        return y * n, locals()['n']",
    "vars": "n = y.max().item()\n        return y * n, vars()['n']",
    "eval": "n = y.max().item()\n        return y * n, eval('n')",
    "exec": "n = y.max().item()\n        exec('print(n)')\n        return y * n",
    "a type": "n = y.max().item()\n        return y * n, eval('type(n)').__name__",
    "all types": (
        "n = y.max().item()\n"
        "        return y * n, [type(v).__name__ for k, v in locals().items() if k == 'n']"
    ),
    "how many": "y[y > 1] = y[y > 1] * 2\n        return y, len(locals())",
    "a nested one": (
        "n = y.max().item()\n        def inner():\n            return eval('n', {'n': n})\n"
        "        return y / n, inner()"
    ),
}


@pytest.mark.parametrize("body", BY_NAME)
def test_a_variable_that_is_reached_by_its_name_keeps_what_it_is(body: str, tmp_path: Path) -> None:
    files = {"program.py": NAMED.format(body=BY_NAME[body])}
    after = fixed(tmp_path, files)
    assert after == files
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


def test_the_attributes_of_an_object_are_no_variables(tmp_path: Path) -> None:
    body = "y[y > 1] = y[y > 1] * 2\n        return y, len(vars(self)) > 3"
    files = {"program.py": NAMED.format(body=body)}
    after = fixed(tmp_path, files, unsafe=True)
    assert after != files
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


TRAINED = """
import torch


def main():
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scale = torch.ones((), device=model.weight.device)
    seen = []
    for step in range(3):
        {body}
        loss = model(torch.ones(1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(scale.item())
    return seen
"""


@pytest.mark.parametrize(
    "body", ['exec("scale.mul_(2)")', 'eval("scale.mul_(2)")', "locals()['scale'].mul_(2)"]
)
def test_a_tensor_that_is_reached_by_its_name_is_read_each_time(body: str, tmp_path: Path) -> None:
    files = {"program.py": TRAINED.format(body=body)}
    after = fixed(tmp_path, files)
    assert after == files
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


HELD = {
    "-3, dtype=torch.int8": True,
    "-1, dtype=torch.long": True,
    "-1.5, dtype=torch.half": True,
    "65504.0, dtype=torch.half": True,
    "1e30, dtype=torch.bfloat16": True,
    "-1e9": True,
    "3, dtype=x.dtype": True,
    "200, dtype=torch.int64": True,
    "-1, dtype=torch.uint8": False,
    "-2.7, dtype=torch.uint8": False,
    "-1, dtype=x.dtype": False,
    "70000.0, dtype=torch.half": False,
    "65520.0, dtype=torch.float16": False,
    "-1e5, dtype=torch.float16": False,
    "200, dtype=torch.int8": False,
    "300, dtype=x.dtype": False,
    "1e300": False,
    "2**70": False,
    "1e39, dtype=torch.float32": False,
}


@pytest.mark.parametrize("given", HELD)
def test_a_number_is_filled_in_only_where_its_dtype_holds_it(given: str, tmp_path: Path) -> None:
    text = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    "
    text += f"return x.to(torch.float64) + torch.tensor({given}, device=x.device)\n"
    after = fixed(tmp_path, {"program.py": text})["program.py"]
    assert ("torch.full" in after) is HELD[given]


WRAPS = {
    "(x.shape[0], 2, 3)": True,
    "(x.shape[0], 128, 1024)": True,
    "(x.shape[0], 2**40, 2**30)": False,
    "[x.shape[0], 65536, 65536]": False,
    "(-(2**31), x.shape[0])": False,
    "(x.shape[0], HUGE)": False,
}


@pytest.mark.parametrize("sizes", WRAPS)
def test_a_product_that_numpy_would_wrap_around_stays_numpys(sizes: str, tmp_path: Path) -> None:
    text = "import numpy as np\nimport torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    "
    text += f"HUGE = 2**62\n    n = np.prod({sizes})\n    return x.reshape(-1)[: int(n)]\n"
    after = fixed(tmp_path, {"program.py": text})["program.py"]
    assert ("math.prod" in after) is WRAPS[sizes]
