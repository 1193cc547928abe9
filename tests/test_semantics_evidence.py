"""What annotations, names and operations prove about values that no call betrays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.semantics_probe import mismatch, program, promised_values, put, values_in

ANNOTATED = {
    "a parameter compared with a size": """
        @torch.compile
        def f(x: torch.Tensor, length, h, w):
            if x.shape[-1] != length:
                return x
            assert x.size(0) == h * w
            n = h.sum()
            if x.shape[0] != n:  #! TensorBranch if
                return x
            if x.shape[0] > length.max():  #! TensorBranch if
                return x
    """,
    "arguments behind a star of unknown length": """
        class Scale(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, flag, w):
                reveal(flag)  #= unknown
                reveal(w)  #= unknown
                return x * w
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.ones(3))
            def forward(self, x):
                more = [] if torch.is_grad_enabled() else [None]
                return Scale.forward(*more, x, False, self.w)
    """,
    "fields of what torch returns": """
        @torch.compile
        def f(x: torch.Tensor):
            reveal(x.max(dim=1).values)  #= tensor (dtype of `x`)
            reveal(torch.topk(x, 2).indices)  #= tensor (int64)
            reveal(torch.linalg.svd(x).S)  #= tensor
            n = x.sort().indices[0].item()  #! HostRead item
            return x.to_sparse().values() * n
    """,
    "what torch has": """
        @torch.compile
        def f(x: torch.Tensor):
            if hasattr(torch, "nextafter"):
                return x
            if x.sum() > 0:
                return x
    """,
    "what torch may have": """
        @torch.compile
        def f(x: torch.Tensor):
            if hasattr(torch, "no_such_function"):
                return x
            if x.sum() > 0:  #! TensorBranch if
                return x
    """,
    "numbers that Python draws": """
        import random
        def coin():
            return random.random() < 0.5
        def draw():
            return random.uniform(0, 1) < 0.5
        @torch.compile
        def f(x: torch.Tensor):
            reveal(coin())  #= numpy bool
            if coin():
                x = x + 1
            if random.choice([1, 2]) > 1:
                x = x + 1
            reveal(draw())  #= numpy bool
            return x
    """,
    "an alias of an optional tensor": """
        from typing import Optional
        OptTensor = Optional[torch.Tensor]
        @torch.compile
        def f(x: OptTensor):
            reveal(x)  #= tensor (dtype of `x`) or None
    """,
    "an alias of an alias, and a string": """
        Array = torch.Tensor
        Pair = tuple[Array, "Array"]
        @torch.compile
        def f(x: Pair):
            reveal(x)  #= tuple (tensor, tensor)
    """,
    "an alias that leads to itself": """
        from typing import Union
        Nested = Union[list["Nested"], "Nested"]
        @torch.compile
        def f(x: Nested):
            reveal(x)  #= unknown
    """,
    "a name that holds no type": """
        Tensors = None
        SIZES = 3
        @torch.compile
        def f(x: Tensors, y: SIZES):
            reveal(x)  #= unknown
            reveal(y)  #= unknown
    """,
    "dicts of tensors": """
        from typing import Any
        @torch.compile
        def f(x: dict[str, torch.Tensor], y: dict[str, Any]):
            reveal(x["mask"])  #= tensor
            reveal(y["mask"])  #= unknown
    """,
    "what says more about a type": """
        from typing import Annotated
        @torch.compile
        def f(x: Annotated[torch.Tensor, "b n"]):
            reveal(x)  #= tensor (dtype of `x`)
    """,
    "a tensor, or something of a library": """
        from elsewhere import Sparse
        @torch.compile
        def f(x: torch.Tensor | Sparse, y: Sparse | str):
            reveal(x)  #= tensor (dtype of `x`) or unknown
            reveal(y)  #= unknown
    """,
}

USED = {
    "methods that only tensors have make tensors": """
        @torch.compile
        def f(x: torch.Tensor):
            y = unheard(x)
            reveal(y.unsqueeze(1))  #= tensor (assumed)
            reveal(y.sum())  #= tensor (rank 0, assumed)
            reveal(y.sum(x))  #= unknown
            reveal(y.item)  #= unknown
    """,
    "devices and dtypes are that of whatever has them": """
        @torch.compile
        def f(x: torch.Tensor):
            y = unheard(x)
            reveal(y.device)  #= device constant
            reveal(y.dtype)  #= dtype constant
            reveal(x.gt(0).to(y.device))  #= tensor (bool)
    """,
    "a tensor on some paths that is used like one": """
        @torch.compile
        def f(x: torch.Tensor, flag: bool):
            y = x if flag else unheard(x)
            reveal(y.sum())  #= tensor (rank 0, assumed)
            reveal(y.unheard)  #= `torch.Tensor.unheard` or unknown
    """,
    "what is indexed by a mask": """
        @torch.compile
        def f(x: torch.Tensor):
            y = unheard(x)
            reveal(y[x > 0])  #= tensor (assumed)
            reveal(y[x])  #= unknown
            reveal(y[0])  #= unknown
    """,
    "a parameter with attributes of its own is no tensor": """
        @torch.compile
        def f(batch):
            reveal(batch.edges)  #= unknown
            reveal(batch.device)  #= device constant
    """,
    "what layers of torch keep": """
        class Net(nn.BatchNorm2d):
            def __init__(self):
                super().__init__(3)
                self.proj = nn.Linear(3, 3)
            def forward(self, x: torch.Tensor):
                reveal(self.weight)  #= tensor (parameter)
                reveal(self.running_mean)  #= tensor (buffer) or None
                reveal(self.proj.weight)  #= tensor (parameter)
                reveal(self.proj.bias)  #= tensor (parameter) or None
                reveal(self.training)  #= bool constant
    """,
    "a project's own way to ask whether it is compiled": """
        NEW = torch.__version__ >= "2.3"
        def is_compiling():
            if NEW:
                return torch.compiler.is_compiling()
            return False
        @torch.compile
        def f(x: torch.Tensor):
            reveal(is_compiling())  #= constant True
            tracing = is_compiling()
            tracing |= unheard(x)
            reveal(tracing)  #= constant True
    """,
}

CHOSEN = """
    def scaled(x, size: int):
        return x.reshape(size, 3)
    def added(x, y):
        return x + y
    TABLE = {"scaled": scaled, "added": added}
    class Net(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.kind = kind
        def forward(self, x: torch.Tensor, y: torch.Tensor):
            return TABLE[self.kind](x, y)
"""


def test_a_function_of_a_table_is_not_called_with_what_it_does_not_take(tmp_path: Path) -> None:
    assert not mismatch(tmp_path, CHOSEN)


MASKS = {
    "torch.cat([m, m])": "tensor (rank 2, bool)",
    "torch.stack([m, m])": "tensor (rank 3, bool)",
    "torch.stack([t > 0 for t in (x, x)])": "tensor (rank 3, bool)",
    "torch.hstack([m, m])": "tensor (rank 2, bool)",
    "nn.utils.rnn.pad_sequence([m, m])": "tensor (rank 3, bool)",
    "torch.cat([m, x])": "tensor (rank 2)",
    "F.pad(m, (1, 0))": "tensor (rank 2, bool)",
    "torch.roll(m, 1)": "tensor (rank 2, bool)",
    "torch.flatten(m)": "tensor (rank 1, bool)",
    "torch.clone(m)": "tensor (rank 2, bool)",
    "torch.flatten(m, 1)": "tensor (rank 2, bool)",
    "torch.unsqueeze(m, 0)": "tensor (rank 3, bool)",
    "torch.reshape(m, (-1,))": "tensor (rank 1, bool)",
    "torch.gather(m, 0, i)": "tensor (rank 2, bool)",
    "torch.broadcast_to(m, (2, 2, 3))": "tensor (rank 3, bool)",
    "torch.where(m, m, False)": "tensor (rank 2, bool)",
    "torch.where(m, x, x)": "tensor (rank 2, dtype of `x`)",
    "m.unbind(0)[0]": "tensor (rank 1, bool)",
    "m.chunk(2)[1]": "tensor (rank 2, bool)",
    "m.new_zeros(3)": "tensor (rank 1, bool)",
    "x.new_ones(3, dtype=torch.bool)": "tensor (rank 1, bool)",
    "x.type(torch.bool)": "tensor (rank 2, bool)",
    "x.type_as(m)": "tensor (rank 2, bool)",
    "x.to(m)": "tensor (rank 2, bool)",
    "torch.isin(x, i)": "tensor (rank 2, bool)",
    "m + m": "tensor (rank 2, bool)",
    "m * True": "tensor (rank 2, bool)",
    "m & unheard(x)": "tensor (bool, assumed)",
}


@pytest.mark.parametrize("text", ANNOTATED.values(), ids=ANNOTATED.keys())
def test_annotations(tmp_path: Path, text: str) -> None:
    assert values_in(tmp_path, text) == promised_values(text)


@pytest.mark.parametrize("text", USED.values(), ids=USED.keys())
def test_uses(tmp_path: Path, text: str) -> None:
    assert values_in(tmp_path, text) == promised_values(text)


@pytest.mark.parametrize(("made", "kind"), MASKS.items(), ids=MASKS.keys())
def test_the_element_type_is_handed_on(tmp_path: Path, made: str, kind: str) -> None:
    text = f"""
        @torch.compile
        def f(x: torch.Tensor, i: torch.Tensor):
            x = x.reshape(2, 3)
            i = i.reshape(2, 3).long()
            m = x > 0
            reveal({made})  #= {kind}
    """
    assert values_in(tmp_path, text) == promised_values(text)


@pytest.mark.parametrize(
    "line",
    [
        "y[x > 0]  #! DynamicShape mask",
        "y[:, x > 0]  #! DynamicShape mask",
        "x[x > 0 if x.ndim else y]  #! DynamicShape mask",
        "torch.unique(y)  #! DynamicShape unique",
        "torch.where(y)  #! DynamicShape where",
        "torch.equal(y, y)  #! HostRead equal",
        "torch.where(y, x, x)",
        "y.nonzero()  #! DynamicShape nonzero",
    ],
)
def test_torch_tells_what_is_not_known(tmp_path: Path, line: str) -> None:
    text = f"""
        @torch.compile
        def f(x: torch.Tensor):
            y = unheard(x)
            {line}
    """
    assert not mismatch(tmp_path, text)


def test_a_factory_that_is_not_traced_is_called(tmp_path: Path) -> None:
    text = """
        @torch.compile
        def f(x: torch.Tensor):
            torch.zeros(3)
            torch.sparse_coo_tensor(x, x)  #! Call torch.sparse_coo_tensor
    """
    assert not mismatch(tmp_path, text)


UNUSUAL = {
    "names that speak of debugging": """
        class Net(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.debug_shapes, self.bugs = config.debug_shapes, config.bugs
            def forward(self, x, debug_rate=None):
                if self.debug_shapes:
                    print("here")  # low
                if debug_rate is not None:
                    print("here")  # low
                if not self.debug_shapes:
                    print("here")  # high
                if self.bugs:
                    print("here")  # high
                return x
    """,
    "an annotated flag of a module": """
        class Net(nn.Module):
            def __init__(self, debug: bool = False):
                super().__init__()
                self.debug = debug
            def forward(self, x):
                if self.debug:
                    print("here")  # low
                return x
    """,
    "a flag that a method may turn on": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.debug = False
            def compile_for_debugging(self):
                self.debug = True
            def forward(self, x):
                if self.debug:
                    print("here")  # low
                return x
    """,
    "a flag that is None unless it is passed": """
        class Net(nn.Module):
            def forward(self, x, use_cache: bool | None = None):
                if use_cache:
                    print("here")  # low
                return x
    """,
    "a flag that a decorator may fill in": """
        def filled(function):
            def wrapper(self, *args, use_cache=None):
                return function(self, *args, use_cache=True)
            return wrapper
        class Net(nn.Module):
            @filled
            def forward(self, x, use_cache: bool | None = None):
                if use_cache:
                    print("here")  # high
                return x
    """,
    "entries of optional dicts": """
        class Net(nn.Module):
            def forward(self, x, options: dict | None = None, batch=None, **kwargs):
                if options is not None and options.get("scale") is not None:
                    print("here")  # low
                if kwargs.get("scale", None) is not None:
                    print("here")  # low
                if kwargs.get("debug", False):
                    print("here")  # low
                if "scale" in kwargs:
                    print("here")  # low
                if kwargs.get("debug", True):
                    print("here")  # high
                return x
    """,
    "a dict that has to be passed": """
        class Net(nn.Module):
            def forward(self, batch: dict):
                if batch.get("scale") is not None:
                    print("here")  # high
                return batch
    """,
    "arguments that nothing takes": """
        class Net(nn.Module):
            def forward(self, x, **kwargs):
                unused = [k for k in kwargs if k != "scale"]
                if len(unused) > 0:
                    print("here")  # low
                known = [k for k in x]
                if len(known) > 0:
                    print("here")  # high
                return x
    """,
    "no first input": """
        class Net(nn.Module):
            def forward(self, ids: torch.Tensor | None = None, embeds: torch.Tensor | None = None):
                if ids is None:
                    print("here")  # low
                if embeds is None:
                    print("here")  # high
                if ids is not None:
                    x = ids
                else:
                    print("here")  # low
                    x = embeds
                return x
    """,
}


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_branches_that_an_ordinary_call_does_not_take(tmp_path: Path, text: str) -> None:
    [path] = put(tmp_path, {"program.py": program(text)})
    found = check_files([path], Config(tmp_path, select=("TCL120",), weak=True))
    seen = {one.diagnostic.span.start.row: one.diagnostic.confidence.value for one in found.results}
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    assert seen == {row: line.partition("  # ")[2] for row, line in lines if "print(" in line}


def test_a_helper_below_a_flag_is_looked_at_again_where_it_is_always_called(
    tmp_path: Path,
) -> None:
    text = """
        def helper(x):
            print("here")
            return x
        class Net(nn.Module):
            def __init__(self, debug: bool = False):
                super().__init__()
                self.debug = debug
            def forward(self, x: torch.Tensor):
                if self.debug:
                    x = helper(x)
                return helper(x)
    """
    [path] = put(tmp_path, {"program.py": program(text)})
    found = check_files([path], Config(tmp_path, select=("TCL120",)))
    assert [one.diagnostic.confidence.value for one in found.results] == ["high"]
