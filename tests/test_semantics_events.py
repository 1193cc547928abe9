"""What the analysis reports: the right event, at the right row, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics_probe import mismatch

STATEMENTS = {
    "host reads, by every spelling": """
        @torch.compile
        def f(x: torch.Tensor, names: list[str]):
            a = x.item()  #! HostRead item
            b = float(x)  #! HostRead float
            c = int(x.sum())  #! HostRead int
            d = bool(x.any())  #! HostRead bool
            e = x.tolist()  #! HostRead tolist
            g = x.numpy()  #! HostRead numpy
            h = f"{x}"  #! HostRead format
            i = "%s" % x  #! HostRead format
            j = "{}".format(x)  #! HostRead format
            k = math.sqrt(x)  #! HostRead math
            m = names[x]  #! HostRead index
            n = range(x)  #! HostRead range
            o = 3 in x  #! HostRead contains
    """,
    "parameters that only a dict can be": """
        @torch.compile
        def f(outputs, batch, parts, x):
            a = "loss" in outputs
            b = "loss" not in parts and 3 in x  #! HostRead contains
            if outputs["loss"]:  #! TensorBranch if
                pass
            for name, part in batch.items():
                a = part.item()  #! HostRead item
            for name in parts.keys():
                a = name
    """,
    "reads through a variable and through stars": """
        @torch.compile
        def f(x: torch.Tensor):
            read, pair = x.item, (x, x)
            a = read()  #! HostRead item
            b = range(*pair)  #! HostRead range
            c = float(*[x])  #! HostRead float
            d = isinstance(*pair)
    """,
    "a tensor decides": """
        @torch.compile
        def f(x: torch.Tensor, flag: bool):
            if x.sum() > 0:  #! TensorBranch if
                pass
            elif x.any():  #! TensorBranch if
                pass
            while x.mean() > 1:  #! TensorBranch while
                x = x / 2
            y = 1 if x.max() else 2  #! TensorBranch ternary
            z = x and y  #! TensorBranch and
            z = x or y  #! TensorBranch or
            z = not x  #! TensorBranch not
            z = 0 < x < 1  #! TensorBranch compare
            z = any([x, x])  #! TensorBranch any
            z = all(t > 0 for t in [x])  #! TensorBranch all
            z = max([x, x])
            z = max([x, x], key=len)  #! TensorBranch max
            z = sorted([x, x])  #! TensorBranch sorted
            z = x in [x, x]  #! TensorBranch in
            z = flag and x
            if z:  #! TensorBranch if sometimes
                pass
    """,
    "plain Python decides": """
        @torch.compile
        def f(x: torch.Tensor, flag: bool, size: int, names: list[str]):
            if x is None or flag and size > 3:
                pass
            if x.shape[0] > 1 and x.dtype == torch.float32 and x.is_cuda:
                pass
            while size > 0:
                size -= 1
            if names and "a" in names or not flag:
                pass
            if isinstance(x, torch.Tensor) and torch.is_tensor(x) and torch.is_floating_point(x):
                pass
            y = max(x.shape[0], 3) if any(flag for _ in names) else len(x)
            assert x.ndim == 2 and flag, f"{x.shape}"
    """,
    "asserts are one event": """
        @torch.compile
        def f(x: torch.Tensor):
            assert x.any()  #! TensorAssert
            assert x.sum() > 0 and x.shape[0]  #! TensorAssert
            assert not x.any(), f"{x}"  #! TensorAssert
            assert x.item() > 0  #! TensorAssert
            assert x.shape[0] > 0
    """,
    "what an exception says is not reported": """
        @torch.compile
        def f(x: torch.Tensor, flag: bool):
            if flag:
                raise ValueError(f"{x} {x.item()}")
            return x
    """,
    "nothing is reported after the end of a path": """
        @torch.compile
        def f(x: torch.Tensor, flag: bool):
            if flag:
                return x
                x.item()
            else:
                raise ValueError
            x.item()
    """,
    "loops over data": """
        @torch.compile
        def f(x: torch.Tensor):
            for k in np.arange(3):  #! Loop numpy; NumpyCall numpy.arange
                pass
            for row in x:  #! Loop tensor
                pass
            for i in range(x.shape[0]):  #! Loop shape
                pass
            for i in range(x.item()):  #! HostRead item; Loop data
                pass
            for i in range(3):
                pass
            z = [row * 2 for row in x]  #! Loop tensor
            for i, row in enumerate(x):  #! Loop tensor
                pass
    """,
    "indices": """
        @torch.compile
        def f(x: torch.Tensor, mask: torch.BoolTensor):
            n = x.shape[0]
            a = x[range(n), 0]  #! TensorIndex range
            a = x[list(range(n))]  #! TensorIndex list(range)
            a = x[[0, 1]]  #! TensorIndex list
            a = x[mask]  #! DynamicShape mask
            x[mask] = 0  #! DynamicShape mask store
            a = x[0, :, None, ..., n]
    """,
    "output": """
        import logging, warnings, sys
        logger = logging.getLogger(__name__)
        @torch.compile
        def f(x: torch.Tensor):
            print(x)  #! SideEffectCall print
            logger.info("%s", x)  #! SideEffectCall logger
            logging.warning("no")  #! SideEffectCall logging
            warnings.warn("no")  #! SideEffectCall warnings
            sys.stdout.write("no")  #! SideEffectCall stdout
    """,
    "shapes that depend on data": """
        @torch.compile
        def f(x: torch.Tensor):
            a = x.nonzero()  #! DynamicShape nonzero
            b = torch.unique(x)  #! DynamicShape unique
            c = F.one_hot(x)  #! DynamicShape one_hot
            d = F.one_hot(x, num_classes=3)
            e = torch.where(x > 0)  #! DynamicShape where
            g = torch.where(x > 0, x, 0)
    """,
    "one line is one event however often it is walked": """
        def helper(t):
            return t.item()  #! HostRead item
        @torch.compile
        def f(x: torch.Tensor):
            for _ in range(3):
                helper(x)
                helper(x.long())
            return [helper(x) for _ in range(2)]
    """,
    "with blocks and their managers": """
        @torch.compile
        def f(x: torch.Tensor):
            with torch.no_grad():  #! ContextEntered torch.no_grad
                with torch.device("cpu"):  #! ContextEntered torch.device
                    x.item()  #! HostRead item
    """,
    "what a handler, an else and a finally do": """
        @torch.compile
        def f(x: torch.Tensor):
            try:
                x.item()  #! HostRead item
            except ValueError as error:
                x.tolist()  #! HostRead tolist
            else:
                float(x)  #! HostRead float
            finally:
                int(x)  #! HostRead int
    """,
    "guards of match cases": """
        @torch.compile
        def f(x: torch.Tensor, kind: str):
            match kind:
                case "a" if x.any():  #! TensorBranch if
                    x.item()  #! HostRead item
                case _:
                    pass
    """,
    "writes to tensors and modules": """
        class Net(nn.Module):
            def forward(self, x: torch.Tensor):
                self.cache = x  #! ModuleWrite cache
                self.steps += 1  #! ModuleWrite steps
                x.requires_grad = True  #! TensorWrite requires_grad
                return x
    """,
    "lists, dicts and variables that outlive the call": """
        SEEN = []
        CALLS = 0
        class Net(nn.Module):
            total = 0
            def __init__(self):
                super().__init__()
                self.kept, self.cache = [], {}
            def forward(self, x: torch.Tensor):
                global CALLS  #! GlobalsDeclared
                CALLS += 1
                Net.total += 1  #! ClassWrite total
                type(self).total += 1  #! ClassWrite total
                self.__class__.total = 0  #! ClassWrite total
                self.kept.append(x)  #! ContainerGrown module
                self.cache["last"] = x  #! ContainerGrown module
                SEEN.extend([x])  #! ContainerGrown global
                mine = []
                mine.append(x)
                return x
    """,
    "names of torch, and calls of a training loop": """
        from torch.cuda.amp import autocast
        def train(model, optimizer, batches):
            optimizer.zero_grad()
            for x in batches:
                with autocast():  #! NameUsed torch.cuda.amp.autocast; TrainingCall autocast
                    loss = model(x)  #! TrainingCall model
                loss.backward()  #! TrainingCall backward
                for _ in range(2):
                    model(x)
    """,
    "things made inside": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 3)
            def forward(self, x: torch.Tensor):
                a = torch.tensor([1.0])  #! TensorFactory torch.tensor
                b = nn.Linear(3, 3)  #! ModuleConstruction torch.nn.Linear
                c = nn.Parameter(x)  #! ModuleConstruction torch.nn.Parameter
                return a, b, c
    """,
}


@pytest.mark.parametrize("text", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_statements(tmp_path: Path, text: str) -> None:
    assert not mismatch(tmp_path, text)


CLASSES = {
    "attributes come from __init__": """
        class Net(nn.Module):
            def __init__(self, size: int):
                super().__init__()
                self.size = size
                self.scale = torch.ones(3)
                self.register_buffer("steps", torch.zeros((), dtype=torch.long))
                self.weight = nn.Parameter(torch.ones(3))
                self._more()
            def _more(self):
                self.late = torch.zeros(3)
            def forward(self, x):
                if self.size > 3 and self.training:
                    pass
                self.scale.item()  #! HostRead item
                self.steps.item()  #! HostRead item
                self.weight.item()  #! HostRead item
                self.late.item()  #! HostRead item
    """,
    "attributes come from base classes and mixins, through super": """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.base = torch.ones(3)
        class Mixin:
            kind = "a"
            def read(self):
                return self.base.item()  #! HostRead item
        class Net(Mixin, Base):
            def __init__(self):
                super().__init__()
                self.own = torch.ones(3)
            def forward(self, x):
                if self.kind == "a":
                    self.read()
                self.own.item()  #! HostRead item
    """,
    "each of many subclasses gets its base's attributes": "\n".join(
        [
            "class Base(nn.Module):",
            "    def __init__(self, n):",
            "        super().__init__()",
            "        self.base = torch.ones(n)",
            *(
                line
                for n in range(12)
                for line in (
                    f"class Net{n}(Base):",
                    "    def __init__(self):",
                    f"        super().__init__({n})",
                    "    def forward(self, x):",
                    "        return self.base.item()  #! HostRead item",
                )
            ),
        ]
    ),
    "methods of the base are walked for the class at hand": """
        class Base(nn.Module):
            def forward(self, x):
                return self.read(x)
            def read(self, x):
                return x
        class Net(Base):
            def read(self, x):
                return super().read(x).item()  #! HostRead item
    """,
    "properties, static methods, class methods, class attributes": """
        class Net(nn.Module):
            limit = 3
            flag: bool = False
            def __init__(self):
                super().__init__()
                self.scale = torch.ones(3)
            @property
            def total(self):
                return self.scale.sum()
            @staticmethod
            def plain(t):
                return t.item()  #! HostRead item
            @classmethod
            def made(cls, t):
                return t.tolist()  #! HostRead tolist
            def forward(self, x):
                if self.limit > 2 or self.flag:
                    pass
                self.plain(x)
                Net.plain(x)
                self.made(x)
                return float(self.total)  #! HostRead float
    """,
    "layers and containers of layers": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([Inner() for _ in range(3)])
                self.chain = nn.Sequential(nn.Linear(3, 3), Inner(), nn.ReLU())
                self.named = nn.ModuleDict({"a": Inner2(), "b": nn.Linear(3, 3)})
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                x = self.chain(x)
                x.item()  #! HostRead item
                return self.named["a"](x)
        class Inner(nn.Module):
            def forward(self, h):
                return h + h.item()  #! HostRead item
        class Inner2(nn.Module):
            def forward(self, h):
                return h + h.item()  #! HostRead item
    """,
    "calls tell a module's forward its arguments": """
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()
            def forward(self, x: torch.Tensor):
                return self.inner(x, x.shape[0], flag=True)
        class Inner(nn.Module):
            def forward(self, x, size, flag=False):
                if size > 3:
                    x = x + 1
                if flag:
                    x.item()  #! HostRead item
                return x
    """,
    "what a method sets is followed to where it is read": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.cache = None
            def forward(self, x: torch.Tensor):
                if self.cache is None:
                    self.cache = x
                return self.cache.item()  #! HostRead item
    """,
    "a method that sets attributes does not hide __init__": """
        class Trainer(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.ones(3)
            def configure_optimizers(self):
                self.opt = torch.optim.SGD(self.parameters(), lr=0.1)
            def forward(self, x):
                return self.scale.item()  #! HostRead item
    """,
    "instances of plain classes": """
        class Scaler:
            def __init__(self, by: torch.Tensor):
                self.by = by
            def __call__(self, t):
                return t * self.by.item()  #! HostRead item
            def read(self, t):
                return t.item()  #! HostRead item
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scaler = Scaler(torch.ones(3))
            def forward(self, x):
                self.scaler.read(x)
                return self.scaler(x)
    """,
    "a nested function sees this call's variables": """
        @torch.compile
        def f(x: torch.Tensor):
            return outer(3) + outer(x)
        def outer(value):
            def inner():
                return float(value)  #! HostRead float
            return inner()
    """,
    "decorated functions of unknown decorators are still walked": """
        import functools
        @functools.lru_cache
        def helper(t):
            return t.item()  #! HostRead item
        @torch.no_grad()
        @torch.compile
        def f(x: torch.Tensor):
            return helper(x)
    """,
    "a walrus in a part that may not be evaluated still binds": """
        @torch.compile
        def f(x: torch.Tensor, flag: bool):
            if flag and (total := x.sum()) is not None:
                return total.item()  #! HostRead item
    """,
}


@pytest.mark.parametrize("text", CLASSES.values(), ids=CLASSES.keys())
def test_classes_and_functions(tmp_path: Path, text: str) -> None:
    assert not mismatch(tmp_path, text)


UNKNOWN = {
    "calls of something unknown": "y = unheard(x)",
    "attributes of something unknown": "y = x.unheard.of",
    "an element of an unknown container": "y = unheard()[0]",
    "an untyped default of None": "y = thing",
}


@pytest.mark.parametrize("line", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_nothing_rests_on_the_unknown(tmp_path: Path, line: str) -> None:
    text = f"""
        @torch.compile
        def f(x: torch.Tensor, flag: bool, thing=None):
            {line}
            y.find(x)
            if y: pass
            while y > 3: break
            z = float(y), int(y), f"{{y}}", not y, y and flag, 0 < y < 1
            assert y.find(x) and y
            for row in y: pass
            x[y]
            y[[0]]
            return [t for t in y if t]
    """
    assert not mismatch(tmp_path, text)
