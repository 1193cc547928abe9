"""Forms of one kind of code in one program: each line is marked with what is found there.

``# TCL101`` at the end of a line says that the rule reports it, and ``# TCL101: some words`` that
its fix is declined for a reason with these words. Of the rules that a program names, nothing else
is reported: lines without a mark are the forms that are left alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from tclint.config import Config, Settings
from tclint.lint.engine import check_files

_MARK = re.compile(r"  # (TCL\d+)(?:: (.*))?$")
_DEEP_FROM_TWO = Settings(options=(("TCL410", "minimum-blocks", 2),))
PROGRAMS = {
    "losses": """
        import torch.nn.functional as F

        def f1(logits: torch.Tensor, target: torch.Tensor, w: torch.Tensor):
            p = F.log_softmax(logits, dim=1)
            return -(w[target] * p[range(len(target)), target]).sum() / w[target].sum()  # TCL607

        def f2(logits: torch.Tensor, target: torch.Tensor, w: torch.Tensor, other: torch.Tensor):
            p = F.log_softmax(logits, dim=1)
            return -(w[target] * p[range(len(target)), target]).sum() / w[other].sum()

        def f3(logits: torch.Tensor, target: torch.Tensor, w: torch.Tensor):
            p = F.log_softmax(logits, dim=1)
            return -(p[range(len(target)), target]).sum() / w[target].sum()

        def f4(logits: torch.Tensor, target: torch.Tensor):
            p = F.log_softmax(logits, dim=1)
            return -p[range(3), target, target].mean()

        def f5(logits: torch.Tensor, target: torch.Tensor):
            p = F.log_softmax(logits, dim=1)
            return -p[torch.arange(0, 4), target].mean()

        def f6(logits: torch.Tensor, target: torch.Tensor, rows: torch.Tensor):
            p = F.log_softmax(logits, dim=1)
            return -p[rows, target].mean()

        def f7(logits: torch.Tensor, target: torch.Tensor):
            p = F.log_softmax(logits, dim=1)
            return -p.gather(1, target).mean()

        def f8(logits: torch.Tensor, target: torch.Tensor):
            p = F.log_softmax(logits, dim=1)
            return -p.gather(1, target.unsqueeze(1)).mean()  # TCL607

        def f9(logits: torch.Tensor, target: torch.Tensor):
            p = F.log_softmax(logits, dim=1)
            torch.add(logits, 1, out=logits)
            return -p[range(len(target)), target].mean()  # TCL607: `logits` changes before the

        def f10(logits: torch.Tensor, target: torch.Tensor):
            p = F.log_softmax(logits, dim=1)
            F.relu_(logits)
            return -p[range(len(target)), target].mean()  # TCL607: `logits` changes before the

        def f11(logits: torch.Tensor, target: torch.Tensor, flag: bool):
            p = F.log_softmax(logits, dim=1)
            if flag:
                return -p[range(len(target)), target].mean()
            return logits
    """,
    "attention": """
        import torch.nn.functional as F

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = torch.nn.Dropout(0.1)
            def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
                a = F.softmax(q @ k.transpose(-2, -1) / 8.0, dim=-1)
                return self.drop(a) @ v  # TCL606: pass the dropout as `dropout_p=`, which is
        def f1(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
            return F.softmax(q @ k.transpose(-2, -1), dim=-1) @ v  # TCL606: use `F.scaled
        def f2(x: torch.Tensor):
            q, k, v = x.unbind(-1)
            return F.softmax(q @ k.transpose(-2, -1), dim=-1) @ v
        def f3(s, v: torch.Tensor):
            return F.softmax(s.q @ s.k.transpose(-2, -1), dim=-1) @ v
        def f4(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
            look = lambda: F.softmax(q @ k.transpose(-2, -1), dim=-1) @ v  # TCL606: use `F.scaled
            return look()

        def f5(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, b):
            a = F.softmax(q @ k.transpose(-2, -1) + b(), dim=-1)
            return F.dropout(a) @ v  # TCL606: pass the dropout as `dropout_p=`, which is
    """,
    "collectives": """
        import torch.distributed as dist
        import torch.distributed.nn as dn
        import torch.distributed.nn.functional as D

        def f1(x):
            return D.all_gather(x)  # TCL150: where no gradient

        def f2(x):
            return dn.broadcast(x, 0)  # TCL150: call it outside of compiled code

        def f3(x):
            return D.something_else(x)

        def f4(x):
            h = dist.all_reduce(x, async_op=True)  # TCL151
            y = x + 1
            h.wait()
            return y

        def f5(x, keep):
            h = dist.all_reduce(x, async_op=True)  # TCL151: the handle is used for more than
            keep(h)
            return x

        def f6(x):
            dist.all_reduce(x, async_op=True).wait()  # TCL151
            return x

        def f7(x):
            dist.all_reduce(x, async_op=True)  # TCL151: the handle is used for more than
            return x
    """,
    "models that are compiled in name only": """
        class Own(torch.nn.Module):
            def __call__(self, x):
                return self._call_impl(x)

        class Other(torch.nn.Module):
            def __call__(self, x):
                return self.forward(x)
            def forward(self, x):
                return x
            def predict(self, x):
                return x

        class Net(torch.nn.Module):
            def forward(self, x):
                return x
            def predict(self, x):
                return x

        def run1(x):
            model = Own()
            model.compile()
            return model(x)

        def run2(x):
            model = Other()
            model.compile()  # TCL416: use `torch.compile(model)`, which compiles
            return model(x)

        def run3(x):
            model = Net()
            model.compile()  # TCL416: call `model(...)`, which also runs its
            return model.forward(x)

        def run7(x):
            model = Net()
            model.compile()
            print(locals())
            return model.forward(x)

        def run8(x):
            model = Net()
            print(locals())
            model.compile()  # TCL416: call `model(...)`, which also runs its
            return model.forward(x)

        def run10(x):
            model = Net()
            model.compile()  # TCL416: call `model(...)`, which also runs its
            model.eval().train()
            return model.forward(x)

        def run12(x):
            model = Net()
            model.compile()  # TCL416: call `model(...)`, which also runs its
            model.eval()
            return model.forward(x)

        class Keeps1:
            def __init__(self):
                self.model1 = torch.compile(Net())  # TCL416: compile the method that is called
            def go(self, x):
                self.model1.weight
                return self.model1.predict(x)

        class Keeps2:
            def __init__(self):
                self.model2 = torch.compile(Net())  # TCL416: compile the method that is called
            def go(self, x):
                self.model2.train()
                self.model2.parameters()
                return self.model2.predict(x)

        class Keeps3:
            def __init__(self):
                self.model3 = torch.compile(Net())
            def go(self, x):
                return self.model3.train().predict(x)

        class Keeps4:
            def __init__(self):
                self.model4 = torch.compile(Net())  # TCL416: compile the method that is called
            def go(self, x):
                return self.model4._prepare(x)

        def layers1(x):
            ddp = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2).to("cuda"))
            return torch.compile(ddp)(x)  # TCL416: compile the module before it is wrapped

        def layers2(x):
            layer = torch.nn.Linear(2, 2)
            stack = torch.nn.Sequential(layer, *[torch.nn.ReLU()])
            ddp = torch.nn.parallel.DistributedDataParallel(stack)
            return torch.compile(ddp)(x)  # TCL416: compile the module before it is wrapped

        def layers3(x, layer):
            ddp = torch.nn.parallel.DistributedDataParallel(layer)
            return torch.compile(ddp)(x)

        def layers4(x, layer):
            ddp = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(layer[0]))
            return torch.compile(ddp)(x)

        def layers5(x, layer):
            ddp = torch.nn.parallel.DistributedDataParallel(Net())
            return torch.compile(ddp)(x)
    """,
    "arguments of torch.compile": """
        import torch._dynamo

        def g(x):
            return x

        class Options:
            def __init__(self):
                self.mode = "max-autotune"

        class Plain:
            mode: str = "fast"
            backend = "inductor"

        def a1():
            torch._dynamo.optimize("inductor")(g)

        def a2():
            torch.compile(g)  # TCL411: only modules compile in place; bind the

        def a3():
            o = Plain(mode="slow")
            return torch.compile(g, mode=o.mode)  # TCL401: no accepted name is similar

        def a4():
            o = Plain()
            return torch.compile(g, mode=o.mode)  # TCL401: the name comes from `o.mode`, not

        def a5():
            o = Plain(**{})
            return torch.compile(g, mode=o.mode)

        def a6():
            o = Options()
            return torch.compile(g, mode=o.mode)

        def a7(key):
            return torch.compile(g, options={key: 1, "max_autotune": True, "nothing": 1})  # TCL404

        @torch.compiler.disable
        def off(x):
            return x

        def a8():
            return torch.compile(off, disable=True)

        def a9():
            return torch.compile(off)  # TCL413: `torch.compile` and the decorator

        def a10():
            fast = torch.compile(g)
            def inner():
                nonlocal fast
                return fast
            return inner
    """,
    "names of the compiler": """
        import torch._dynamo as dynamo

        def g(x, y=1):
            return x

        def a1(x):
            return dynamo.explain(g, x, y=2)  # TCL422

        def a2(x, more):
            return dynamo.explain(g, x, *more, **more)  # TCL422

        def a3(x, torch):
            return dynamo.optimize("eager")(g)  # TCL423: `torch` may not be the torch module
        from torch.cuda.amp import autocast

        def a4(x, torch):
            with autocast():  # TCL420: `torch` may not be the torch module here
                return x
    """,
    "stacks of blocks": """
        from torch import nn

        class Block(torch.nn.Module):
            def __init__(self, i=0):
                super().__init__()
                self.l = torch.nn.Linear(4, 4)

        class A(torch.nn.Module):
            def __init__(self, config, *, depth=3):
                super().__init__()
                self.blocks = nn.Sequential(*[Block() for _ in range(depth)])
                self.own = torch.nn.ModuleList([Block(i) for i in range(9)])
                self.more = torch.nn.ModuleList([Block() for _ in range(config.depth)])

        class B(torch.nn.Module):
            def __init__(self, depth):
                super().__init__()
                self.blocks = torch.nn.ModuleList()
                for _ in range(depth):
                    self.blocks.append(Block())
                self.own = torch.nn.ModuleList()
                for i in range(9):
                    self.own.append(Block(i))

        class D(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = torch.nn.ModuleList([Block() for _ in range(6) for _ in range(2)])
                self.some = torch.nn.ModuleList([Block() for i in range(6) if i > 3])
                self.others = list([Block() for _ in range(6)])

        class E(torch.nn.Module):
            def __init__(self, depth):
                super().__init__()
                self.blocks = torch.nn.ModuleList([Block() for _ in range(DEPTH)])
        DEPTH = 7
        n = 9
        torch.compile(A(None))  # TCL410
        torch.compile(A(None, depth=2))  # TCL410
        torch.compile(A(None, depth=1))
        torch.compile(A(None, depth=n))
        torch.compile(A(None, **{}))
        torch.compile(B(8))  # TCL410
        torch.compile(B(True))
        torch.compile(B(n))
        torch.compile(B(*[8]))
        torch.compile(B(depth=n + 1))
        torch.compile(D())
        torch.compile(E(3))  # TCL410
    """,
    "branches that have nothing to do": """
        def f1(x: torch.Tensor):
            m = x > 0
            if m.any():  # TCL160: `x.masked_fill(m, 0.0)` may raise, or
                x = x.masked_fill(m, 0.0)
            return x

        def f2(x: torch.Tensor):
            m, n = x > 0, x > 1
            if (m | n).any():  # TCL160
                x[m] = 0.0
            return x

        def f3(x: torch.Tensor):
            m, n = x > 0, x > 1
            if not (m & n).all():  # TCL160
                x[~m] = 0.0
            return x

        def f4(x: torch.Tensor):
            m = x > 0
            if m.any():  # TCL160
                x.masked_fill_(m & (x > 2), 0.0)
            return x

        def f5(x: torch.Tensor):
            m = x > 0
            if m.any():  # TCL160: the branches are not known to give the
                x.masked_fill_(m | (x > 2), 0.0)
            return x

        def f6(x: torch.Tensor):
            m = x > 0
            if (~m).all():  # TCL160: the branches are not known to give the
                x[m] = 0.0
            return x

        def f13(x: torch.Tensor):
            m = x > 0
            x = x + 1
            if m.any():  # TCL160: `m` is also read elsewhere, where its
                m = m & (x > 3)
                x = x.masked_fill(m, 0.0)
            return x

        def f14(x: torch.Tensor):
            m = x > 0
            x = x + 1
            if m.any():  # TCL160: the branches are not known to give the
                x[m, [i for i in range(3)]] = 0.0
            return x

        def f15(x: torch.Tensor):
            m = x > 0
            x = x + 1
            if m.any():  # TCL160
                x[m] = 0.0
            return x

        def f16(x: torch.Tensor, y: torch.Tensor):
            m = x > 0
            if m.any():  # TCL160: `torch.where(y > 0, y, x)` may raise, or
                x = torch.where(y > 0, y, x)
            return x
    """,
    "shapes by what is selected": """
        def f2(x: torch.Tensor, m: torch.Tensor):
            return torch.masked_select(x, m).sum()  # TCL170: `torch.where(m, x, 0)` keeps

        def f4(x: torch.Tensor):
            m = x[0] > 0
            return x.masked_select(m).sum()  # TCL170: `torch.where(m, x, 0)` keeps

        def f5(x: torch.Tensor):
            m = x > 0
            if len(m.nonzero()) > 0:  # TCL170: `torch.nonzero_static(m, size=n)` has a
                return x
            return x + 1

        def f11(x: torch.Tensor):
            m = (x > 0).sum()
            x[torch.where(m)] = 1.0  # TCL170: `torch.where(test, a, b)` keeps the shape
            return x

        def f16(x: torch.Tensor):
            return torch.repeat_interleave(x, torch.tensor([*x.shape]))  # TCL170: `output_size=`
    """,
    "reads in disguise": """
        def f1(x: torch.Tensor, k: int):
            for i in torch.arange(3):
                x = x + [1, 2, 3][i]  # TCL106
            return x

        def f4(x: torch.Tensor):
            y = torch.zeros((x.max(), 3))  # TCL106: take sizes from shapes, or pass the number
            return y

        def f5(x: torch.Tensor):
            return torch.zeros([2, x.max()])  # TCL106: take sizes from shapes, or pass the

        def f6(x: torch.Tensor, list):
            n = torch.arange(4).tolist()  # TCL103: `list` means something else here
            return x[n]

        def f7(x: torch.Tensor):
            n = torch.arange(4).tolist()  # TCL103
            return x[n]

        def f8(x: torch.Tensor):
            n = torch.arange(4, -1, -1).tolist()  # TCL103
            return x[n]

        def f9(x: torch.Tensor):
            return x + torch.tensor(3.0).item()  # TCL101

        def f10(x: torch.Tensor):
            return x + torch.tensor(0.1).item()  # TCL101

        def f11(x: torch.Tensor):
            return x + torch.tensor(1e300).item()  # TCL101

        def f12(x: torch.Tensor):
            return x + torch.tensor(7).item()  # TCL101

        def f14(x: torch.Tensor):
            return x + torch.tensor(2**70).item()  # TCL101

        def f15(x: torch.Tensor):
            return x + torch.tensor(99999999999999999999).item()  # TCL101

        def f16(x: torch.Tensor):
            n = x.sum().item()  # TCL101
            return x + max(n, 1)

        def f17(x: torch.Tensor, other):
            n = x.sum().item()  # TCL101: `max` needs a Python number
            return x + max(n, other)

        def f18(x: torch.Tensor):
            n = bool((x > 0).any())  # TCL102: `float` needs a Python number
            return x + float(n)

        def f19(x: torch.Tensor):
            n = (x > 0).any().item()  # TCL101: `int` needs a Python number
            return x + int(n)
    """,
    "random branches": """
        import random

        def f1(x: torch.Tensor, rate: float, flag: bool):
            if flag and rate > 0.0:
                if torch.rand(()) < rate:  # TCL161: skipping a layer at random needs the
                    x = x + 1
            return x

        def f2(x: torch.Tensor, rate: float, flag: bool):
            if flag or torch.rand(()) > rate:  # TCL161: skipping a layer at random needs the
                x = x + 1
            return x

        def f4(x: torch.Tensor, rate: float, draws):
            if draws[0] < rate:
                x = x + 1
            return x

        def f5(x: torch.Tensor, rate: float):
            r = random.random()
            if r < rate:  # TCL161: skipping a layer at random needs the
                x = x + 1
            return x

        def f8(x: torch.Tensor, rate: float, layers):
            for layer in layers:
                a, b = (torch.rand([]) < rate, 1)
                if not a:  # TCL161: test first whether the rate is zero
                    x = x + layer
            return x
    """,
    "constants of modules": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.ones(3))
                self.act = torch.nn.ReLU()
                self.drop = torch.nn.Dropout(inplace=True)
                self._k = 1
            def helper(self, t):
                return t + 1
            def f1(self, x: torch.Tensor):
                k = torch.tensor([1.0, 2.0, 3.0], device=self.w.device)  # TCL311
                return x + k
            def f2(self, x: torch.Tensor):
                k = torch.tensor([1.0, 2.0, 3.0], device=x.device)  # TCL311
                x += k
                return x
            def f3(self, x: torch.Tensor):
                k = torch.tensor([0, 2], device=x.device)  # TCL311
                return x[k]
            def f4(self, x: torch.Tensor):
                k = torch.tensor([1.0, 2.0, 3.0], device=x.device)  # TCL311
                return torch.add(input=x, other=k)
            def f5(self, x: torch.Tensor):
                k = torch.tensor([1.0, 2.0, 3.0], device=x.device)  # TCL311: the tensor is
                return torch.add(x, x, out=k)
            def f6(self, x: torch.Tensor):
                k = torch.tensor([1.0, 2.0, 3.0], device=x.device)  # TCL311: the tensor is
                return torch.nn.functional.relu(k, inplace=True) + x
            def f7(self, x: torch.Tensor):
                return x.add(torch.tensor([1.0, 2.0, 3.0], device=x.device))  # TCL311
            def f8(self, x: torch.Tensor):
                return self.act(torch.tensor([1.0, 2.0, 3.0], device=x.device)) + x  # TCL311
            def f9(self, x: torch.Tensor):
                k = torch.tensor([1.0, 2.0, 3.0], device=x.device)  # TCL311
                return self.helper(k) + x
            def f10(self, x: torch.Tensor, other):
                return other(torch.tensor([1.0, 2.0, 3.0], device=x.device)) + x  # TCL311: `other`
            def f11(self, x: torch.Tensor):
                k = torch.tensor([1.0, 2.0, 3.0], device=x.device)  # TCL311
                return x * k.shape[0] + k.T
            def f12(self, x: torch.Tensor):
                k = torch.tensor([1.0, 2.0, 3.0], device=x.device)  # TCL311: the tensor is
                return x + k.grad
            def f13(self, x: torch.Tensor):
                return torch.flatten(torch.tensor([1.0, 2.0, 3.0], device=x.device)) + x  # TCL311
            def f14(self, x: torch.Tensor):
                return torch.flatten(torch.tensor([1.0, 2.0, 3.0], device=x.device))  # TCL311: the
            def f15(self, x: torch.Tensor):
                return x + torch.tensor([], device=x.device)
            def f16(self, x: torch.Tensor):
                k, n = torch.tensor([1.0, 2.0, 3.0], device=x.device), 1  # TCL311
                return x + k
            def f17(self, x: torch.Tensor):
                k = [torch.tensor([1.0, 2.0, 3.0], device=x.device)]  # TCL311: the tensor is
                return x + k[0]
            def f18(self, x: torch.Tensor, i: int):
                return x + torch.tensor([1.0, i], device=x.device)
            def f19(self, x: torch.Tensor):
                while x.shape[0] > 3:
                    k = torch.tensor([1.0, 2.0, 3.0], device=x.device)  # TCL311
                    x = x[1:] + k
                    k = x
                return x + k
            def f20(self, x: torch.Tensor, **more):
                return torch.add(x, torch.tensor([1.0, 2.0], device=x.device), **more)  # TCL311
            def f21(self, x: torch.Tensor):
                k = torch.tensor([1.0, 2.0, 3.0], device=x.device)  # TCL311: the tensor is
                return x + k.cpu
            def f22(self, x: torch.Tensor):
                d = {"a": torch.tensor([1.0, 2.0, 3.0], device=x.device)}  # TCL311
                return x + d["a"]
            def f23(self, x: torch.Tensor):
                d = {"a": torch.tensor([1.0, 2.0, 3.0], device=x.device)}  # TCL311: `d['a']` is
                d["a"] += 1
                return x + d["a"]
            def f24(self, x: torch.Tensor, key):
                d = {"a": torch.tensor([1.0, 2.0, 3.0], device=x.device)}  # TCL311: the tensor
                return x + d[key]
            def f25(self, x: torch.Tensor):
                d = {"a": torch.tensor([1.0, 2.0, 3.0], device=x.device)}  # TCL311: the tensor
                del d["a"]
                return x
            def f26(self, x: torch.Tensor):
                d = {"a": torch.tensor([1.0, 2.0, 3.0], device=x.device)}  # TCL311: the tensor
                x.d = d
                return x
            def f27(self, x: torch.Tensor):
                self.d = d = {"a": torch.tensor([1.0, 2.0, 3.0], device=x.device)}  # TCL311: the
                return x + d["a"]
            def f28(self, x: torch.Tensor):
                (a, *b) = torch.tensor([1.0, 2.0, 3.0], device=x.device), 1, 2  # TCL311: the
                return x + a
    """,
    "ends of __init__": """
        class Sets(torch.nn.Module):
            def __init__(self, deep: bool):
                super().__init__()
                if deep:
                    self.n: int = 2
                else:
                    self.n = 3
                with torch.no_grad():
                    self.m = 4
                self.t: int
            def f1(self, x: torch.Tensor):
                return x + torch.tensor([self.n, 1.0], device=x.device)  # TCL311
            def f2(self, x: torch.Tensor):
                return x + torch.tensor([self.m, 1.0], device=x.device)  # TCL311
            def f3(self, x: torch.Tensor):
                return x + torch.tensor([self.t, 1.0], device=x.device)

        class Returns(torch.nn.Module):
            def __init__(self):
                super().__init__()
                return
            def f1(self, x: torch.Tensor):
                return x + torch.tensor([2.0, 1.0], device=x.device)  # TCL311: `__init__` may

        class Calls(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.f1(torch.ones(2))
            def f1(self, x: torch.Tensor):
                return x + torch.tensor([2.0, 1.0], device=x.device)  # TCL311: `__init__`
        N = 3

        class Names(torch.nn.Module):
            def __init__(self):
                super().__init__()
                N = 4
                self._constant = N
            def f1(self, x: torch.Tensor):
                return x + torch.tensor([N, 1.0], device=x.device)  # TCL311: `N` means
            def f2(self, x: torch.Tensor):
                return x + torch.tensor([5, 1.0], device=x.device)  # TCL311

        class Lambda(torch.nn.Module):
            __init__ = lambda self: None
            def f1(self, x: torch.Tensor):
                return x + torch.tensor([2.0, 1.0], device=x.device)  # TCL311
    """,
    "tensors that are moved": """
        def f1(x: torch.Tensor):
            return x + torch.tensor([1.0]).to("cuda")  # TCL310

        def f2(x: torch.Tensor):
            return x + torch.tensor([1.0]).cuda(1)  # TCL310

        def f4(x: torch.Tensor, d):
            return x + torch.tensor([1.0]).to(torch.device(d))

        def f5(x: torch.Tensor, d):
            device = d or "cpu"
            return x + torch.tensor([1.0]).to(device)  # TCL310

        def f6(x: torch.Tensor, d):
            device = torch.device(d)
            return x + torch.tensor([1.0]).to(device)  # TCL310

        def f7(x: torch.Tensor, t: torch.Tensor):
            return x + torch.tensor([1.0]).to(t.dtype)

        def f9(x: torch.Tensor):
            return x + torch.randn(3).to("cuda")  # TCL310

        def f10(x: torch.Tensor, n: list):
            return x + torch.tensor(n).to("cuda")  # TCL310: with `device=` its data is still

        def f11(x: torch.Tensor):
            n = [1, 2]
            return x + torch.tensor(n).to("cuda")  # TCL310: with `device=` its data is still

        def f12(x: torch.Tensor):
            return torch.nn.LayerNorm(x.shape[-1], eps=1e-6)(x)  # TCL130

        def f13(x: torch.Tensor):
            return torch.nn.LayerNorm(x.shape[-1], elementwise_affine=False)(x)
    """,
    "averages": """
        def average1(net, ema):
            for a, b in zip(ema.parameters(), net.parameters()):  # TCL520: write the weight as
                a *= 0.9
                a += 0.1 * b

        def average2(net, ema):
            for a, b in zip(ema.parameters(), net.parameters()):  # TCL520: write it in place
                a.data = 0.9 * a.data + 0.1 * b.data

        def average3(net, ema):
            for a, b in zip(ema.parameters(), net.parameters()):  # TCL520: write it in place
                a.copy_(torch.lerp(a, b, 0.1))

        def average4(net, ema):
            for a, b in zip(ema.parameters(), net.parameters()):
                a.mul_(0.9).add_(b, 0.1, out=a)

        def average5(net, ema):
            for a, b in zip(ema.parameters(), net.parameters()):
                a.lerp_(b)

        def average6(net, ema):
            for a, b in zip(ema.parameters(), net.parameters()):  # TCL520: the loop's variables
                a.mul_(0.9).add_(b, alpha=0.1)
            print(a)

        def average7(net, ema):
            for a, b in zip(ema.parameters(), net.parameters()):  # TCL520
                a.mul_(0.9).add_(b, alpha=0.1)
            a = 1
            print(a)

        def average8(net, ema):
            for a, b in zip(ema.parameters(), net.parameters()):  # TCL520: the loop has an
                a.mul_(0.9).add_(b, alpha=0.1)
            else:
                print("done")

        def average9(net, ema):
            new = net.named_parameters()
            for a, b in zip(iter(ema.parameters()), dict(new).values()):  # TCL520
                a.mul_(0.9)
                a.add_(b, alpha=0.1)

        def average10(net, ema):
            for a, b in zip(list(ema.parameters()), list(net.parameters())):  # TCL520
                a.lerp_(b, 0.1)

        def average11(net, ema, keys):
            olds = ema.state_dict()
            for k, b in net.named_parameters():  # TCL520: a `state_dict()` holds tied
                olds[k].mul_(0.9).add_(b, alpha=0.1)

        def average12(net, ema):
            for k, b in net.named_parameters():
                new = 0.9 * ema.shadow[k] + 0.1 * b
                ema.shadow[k] = new.clone()

        def average13(net, ema):
            for k, b in net.named_parameters():
                ema.shadow[k] = value
    """,
    "norms of parameters": """
        def norms1(m):
            m.cuda()
            return torch.stack([p.norm().to(0) for p in m.parameters()])  # TCL521: `get_total_norm`

        def norms2(net):
            net.cuda()
            return torch.stack([p.grad for p in net.parameters()])

        def norms3(net):
            net.cuda()
            return torch.stack([p.grad.norm() for p in net.parameters() for _ in range(2)])

        def norms4(net):
            net.cuda()
            total = 0.0
            for p in net.parameters():
                if p.requires_grad:
                    total += p.grad.norm().item()  # TCL521: compute all norms at once with
            return total

        def norms5(net):
            net.cuda()
            total = 0.0
            for p in net.parameters():
                if p.grad is not None:
                    total += p.grad.norm().item()  # TCL521: compute all norms at once with
            return total
    """,
    "steps of training": """
        import time
        from torch.utils.data import DataLoader

        def train1(net, loader, opt):
            net.cuda()
            for x in loader:
                start = time.time()
                with torch.no_grad():
                    loss = net(x.cuda()).sum()
                loss.backward()
                opt.step()
                end = time.time()  # TCL516
                print(end - start)

        def train2(net, loader, opt):
            net.cuda()
            for x in loader:
                with torch.autocast("cuda"):
                    start = time.time()
                    loss = net(x.cuda()).sum()
                    print(time.time() - start)
                loss.backward()
                opt.step()

        def train4(net, loader, opt):
            net.cuda()
            for i, x in enumerate(loader):
                loss = net(x.cuda()).sum()
                print((loss * 2).item())  # TCL335
                loss.backward()
                opt.step()

        def train5(net, loader, opt):
            net.cuda()
            for i, x in enumerate(loader):
                loss = net(x.cuda()).sum()
                total = [loss.item(), {"a": loss}]  # TCL335: read it after the optimizer's
                if i % 10 == 0:
                    print(loss.item())
                loss.backward()
                opt.step()

        def train6(net, loader, opt):
            net.cuda()
            for i, x in enumerate(loader):
                loss = net(x.cuda()).sum()
                value = loss.item()  # TCL335: the value is used or changed before the
                loss.detach_()
                loss.backward()
                opt.step()

        def train7(net, loader, opt):
            net.cuda()
            for i, x in enumerate(loader):
                loss = net(x.cuda()).sum()
                value = loss.item()  # TCL335: the value is used or changed before the
                if i > 3:
                    break
                loss.backward()
                opt.step()

        def train8(net, opt):
            net.cuda()
            loader = DataLoader(data, **{"pin_memory": True})
            it = iter(loader)
            for i in range(100):
                x = next(it)
                loss = net(x.cuda()).sum()
                loss.backward()
                opt.step()

        def make():
            return DataLoader(data, pin_memory=True)

        def train9(net, opt):
            net.cuda()
            loader = make()
            for x, y in loader:
                loss = net(x.cuda()).sum()  # TCL334
                loss.backward()
                opt.step()

        class Trainer:
            def __init__(self, data):
                self.loader = DataLoader(data, pin_memory=True)
                self.net = torch.nn.Linear(2, 2).cuda()
            def train(self, opt):
                for batch in self.loader:
                    x = [t.cuda() for t in batch]  # TCL334
                    loss = self.net(x[0]).sum()
                    loss.backward()
                    opt.step()
            def go(self, opt):
                for batch in self.loader:
                    match batch:
                        case [x, y]:
                            loss = self.net(x.cuda()).sum()
                    loss.backward()
                    opt.step()

        def train10(net, loader, opt):
            net.cuda()
            while True:
                batch = next(iter(DataLoader(data, pin_memory=True)))
                loss = net(batch.cuda()).sum()  # TCL334
                loss.backward()
                opt.step()
    """,
    "optimizers": """
        net = torch.nn.Linear(2, 2)

        def cap1(g, opt):
            with torch.cuda.graph(g):
                opt.step()

        def cap2(g):
            opt = torch.optim.LBFGS(net.parameters())
            with torch.cuda.graph(g):
                opt.step()

        def cap3(g):
            opt = torch.optim.Adam(net.parameters())  # TCL507
            with torch.cuda.graph(g):
                opt.step()  # TCL506

        def unf1():
            more = {"lr": 0.1}
            more.get("fused")
            net.cuda()
            return torch.optim.Adam(net.parameters(), **more)  # TCL507

        def unf2():
            more = {"lr": 0.1}
            more.update(x)
            net.cuda()
            return torch.optim.Adam(net.parameters(), **more)

        def lr1():
            opt = torch.optim.Adam(net.parameters(), lr=0.1)  # TCL501: make the
            step = torch.compile(opt.step)
            rate: float = 0.1
            for i in range(10):
                for group in opt.param_groups:
                    group["lr"] = rate * 0.9
                step()

        def lr2():
            opt = torch.optim.Adam(net.parameters(), lr=0.1)  # TCL501: make the
            step = torch.compile(opt.step)
            for i in range(10):
                for group in opt.param_groups:
                    if isinstance(group["lr"], torch.Tensor):
                        group["lr"].fill_(0.1)
                    else:
                        group["lr"] = 0.1
                step()

        def lr3():
            opt = torch.optim.Adam(net.parameters(), lr=0.1)
            step = torch.compile(opt.step)
            for i in range(10):
                for group in opt.param_groups:
                    group = dict(group)
                    group["lr"] = 0.1
                step()

        def lr4():
            lr: float = 0.1
            opt = torch.optim.Adam(net.parameters(), lr=lr)  # TCL501: make the
            step = torch.compile(opt.step)
            for i in range(10):
                opt.param_groups[0]["lr"] = -opt.param_groups[0]["lr"]
                step()
    """,
    "what is counted and kept": """
        STORE = []
        SEEN = {}

        class Counts(torch.nn.Module):
            calls = 0
            rate: float = 0.0
            def f1(self, x):
                Counts.calls += 1  # TCL228: count where the compiled function is
                return x
            def f2(self, x):
                Counts.rate += 0.5
                return x
            def f3(self, x, n):
                Counts.calls += n
                return x
            def f4(self, x):
                Counts.unknown += 1
                return x

        class Lazy(torch.nn.Module):
            def forward(self, x):
                if self.t is None:
                    self.t = x + 1
                return self.t

        class Sizes(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.n = 0
                self.m = 0
            def f1(self, x):
                self.n = len(x)
                return x
            def f2(self, x):
                self.m = x.size(0) if x.dim() else 1
                return x

        def f1(x):
            STORE.append(x)  # TCL222: the code that reads the list is not known
            return x

        def f2(x):
            SEEN[len(SEEN)] = x
            return x

        def f3(x):
            STORE.append(x)
            STORE.clear()
            return x
        f4 = torch.compile(lambda x: STORE.append(x))

        class Block(torch.nn.Module):
            def __init__(self, i, n=0):
                super().__init__()
                self.i = i
                self.l = torch.nn.Linear(4, 4)
            def forward(self, x):
                return self.l(x) * self.i

        class Other(torch.nn.Module):
            def __init__(self, size, i):
                super().__init__()
                self.i = i
                self.l = torch.nn.Linear(4, 4)
            def forward(self, x):
                return self.l(x) * self.i

        class Third(torch.nn.Module):
            def __init__(self, size, i):
                super().__init__()
                self.i = i
            def forward(self, x):
                return x * self.i

        class NoInit(torch.nn.Module):
            def forward(self, x):
                return x

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = torch.nn.ModuleList([Block(i, n=i) for i in range(3)])
                self.b = torch.nn.ModuleList([Other(4, i=i) for i in range(3)])
                self.c = torch.nn.ModuleList([Third(4, i) for i in (1, 2)])
                self.d = torch.nn.ModuleList([NoInit() for i in range(2)])
            def forward(self, x):
                for block in (*self.a, *self.b, *self.c, *self.d):
                    x = block(x)
                return x
        net = torch.compile(Net())
        for b in net.a: b.compile()  # TCL227: set
        state = {}
        state.setdefault("k", 0)

        def f5(x):
            state["k"] += 1  # TCL231: count where the compiled function is
            return x
    """,
    "loops over arrays": """
        import numpy as np

        def f1(x: torch.Tensor):
            for i in np.arange(4, 0, -1):  # TCL141
                x = x + i
            return x

        def f2(x: torch.Tensor, step: int):
            for i in np.arange(0, 4, step):  # TCL141
                x = x + i
            return x

        def f3(x: torch.Tensor, ks: tuple):
            for k in np.arange(3):  # TCL140
                if k in ks:
                    x = x + 1
            return x

        def f4(x: torch.Tensor, flag: bool):
            for k in np.arange(3):  # TCL140
                x = x + len([x for _ in range(2) if k])
                x = x + len([x for _ in range(2) if k and flag])
            return x

        def f5(x: torch.Tensor):
            for k in np.arange(3):  # TCL141
                x[0] = k
            return x

        def f6(x: torch.Tensor):
            d = {}
            for k in np.arange(3):  # TCL140
                d[k] = x + 1
            return d[0]

        def f7(x: torch.Tensor):
            d = dict()
            for k in np.arange(3):  # TCL140
                d[k] = x + 1
            return d[0]
    """,
    "members of collections": """
        def f1(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
            return [t for t in (a, b) if x in (t, a)]  # TCL164: `in` compares the members one

        def f2(x: torch.Tensor, a: torch.Tensor):
            found = x in [a, x + 1]
            return x + 1

        def f3(xs: list[torch.Tensor], rate: float):
            return [x * 2 for x in xs if torch.rand(()) < rate]  # TCL161: test first whether
    """,
    "output": """
        async def f1(x: torch.Tensor):
            print(await x)  # TCL120: the call awaits or yields
            return x

        def f2(x: torch.Tensor):
            print(y := x + 1)  # TCL120: the call binds `y`
            return y

        def f3(x: torch.Tensor):
            return [print(1) for _ in range(2)]  # TCL120: the call is inside a comprehension

        def f4(x: torch.Tensor):
            tell = lambda: print(1)  # TCL120: the call is inside a lambda
            tell()
            return x

        def f5(x: torch.Tensor):
            print(1), print(2)  # TCL120: the call is part of a larger expression
            return x

        def f6(x: torch.Tensor):
            said = print(1)  # TCL120: the call's value is used
            return x

        def f7(x: torch.Tensor):
            print(1) if x.dim() else None  # TCL120: the call is part of a larger expression
            return x
    """,
    "gradients of what is made in the region": """
        def keep(t):
            return t

        def f1(x):
            y = x.detach().clone().requires_grad_()  # TCL188
            return torch.sum(y)

        def f2(x):
            y = x.detach().clone()
            return y.add(y.requires_grad_())  # TCL188: the gradient of `y.requires_grad_()` may

        def f3(x, out):
            return torch.add(x, x.clone().requires_grad_())  # TCL188

        def f4(x, out):
            return x.add(other=x.clone().requires_grad_())  # TCL188

        def f5(x, out):
            out.append(x.clone().requires_grad_())  # TCL188: the gradient of
            return x

        def f6(x, out):
            return keep(x.clone().requires_grad_())  # TCL188

        def f7(x, out):
            return x.add((x + 1).requires_grad_())  # TCL188

        def f8(x):
            return print((x + 1).requires_grad_())  # TCL188

        class Net(torch.nn.Module):
            def forward(self, x):
                return x + 1
            def f1(self, x):
                return self((x + 1).requires_grad_())  # TCL188
            def f2(self, x):
                return self(x=(x + 1).requires_grad_())  # TCL188
    """,
    "numbers in asserts": """
        def f1(x: torch.Tensor):
            assert x.sum().item() < x.shape[0]  # TCL112
            return x

        def f2(x: torch.Tensor):
            assert x.sum().item() < 3  # TCL112
            return x

        def f3(x: torch.Tensor):
            assert int(x.sum()) < 3  # TCL112: `int` drops the fraction before the
            return x

        def f4(x: torch.Tensor):
            assert x.tolist() < [3]
            return x

        def f5(x: torch.Tensor):
            assert 0 < x.sum().item() < 3  # TCL112: the number is part of a comparison chain
            return x

        def f7(x: torch.Tensor):
            torch._dynamo.config.capture_scalar_outputs = True
            assert x.sum().item() < 3  # TCL112
            return x

        def f9(x: torch.Tensor):
            assert x.float().sum().item() < x.size(0)  # TCL112
            return x
    """,
    "functions of numbers that are read": """
        def f1(x: torch.Tensor):
            n = x.sum().item()  # TCL101
            return x * (n // 2)

        def f2(x: torch.Tensor, k: int):
            n = x.sum().item()  # TCL101
            return x * (n + k)

        def f3(x: torch.Tensor, k: bool):
            n = x.sum().item()  # TCL101
            return x * (n + k)

        def f4(x: torch.Tensor):
            n = x.long().sum().item()  # TCL101
            return x * (n / x.shape[0])

        def f5(x: torch.Tensor):
            import math
            n = x.long().sum().item()  # TCL101: `math.fsum` needs a Python number
            return x * math.fsum(n)

        def f6(x: torch.Tensor):
            import math
            n = x.long().sum().item()  # TCL101: `math.gcd` needs a Python number
            return x * math.gcd(n) * math.sqrt(n)
    """,
    "sizes that are folded": """
        def f1(x):
            n = torch.tensor(3)
            return torch.zeros(-n)

        def f2(x):
            n = torch.tensor(x.shape[0])
            return torch.zeros((-n, n + 1))

        def f3(x):
            n = torch.tensor([3])
            m = -n
            return torch.ones(m)

        def f4(x):
            return torch.ones(int(-torch.tensor(3)))  # TCL102: this argument of `torch.ones` is

        def f5(x):
            return range(-torch.tensor(3))  # TCL102: `range` needs Python numbers
    """,
    "what may be a flag": """
        def f1(x: torch.Tensor, keep: "bool | torch.Tensor"):
            if keep:  # TCL160: `keep` is not known to be a single
                return x
            return x + 1

        def f2(x: torch.Tensor, keep: bool | torch.Tensor):
            while keep:
                x = x + 1
            return x

        def f5(x: torch.Tensor):
            while torch.bernoulli(x[0]) > 0:  # TCL162: the number of iterations is known only
                x = x - 1
            return x
    """,
    "bounds of clamp": """
        def f1(x: torch.Tensor):
            if x.isinf().any():  # TCL160
                low = -3.0
                high = -low
                x = torch.clamp(x, min=low, max=high)
            return x

        def f2(x: torch.Tensor):
            if x.isinf().any():  # TCL160: `torch.finfo(x.dtype).min / 2` is not
                low = torch.finfo(x.dtype).min / 2
                high = -low
                x = torch.clamp(x, min=low, max=high)
            return x

        def f3(x: torch.Tensor, k):
            if x.isinf().any():  # TCL160: `k` is not known to be a number
                low = k
                high = -low
                x = torch.clamp(x, min=low, max=high)
            return x

        def f4(x: torch.Tensor, k: float):
            if x.isinf().any():  # TCL160
                low = k
                x = torch.clamp(x, max=low)
            return x

        def f5(x: torch.Tensor):
            if x.isinf().any():  # TCL160
                x = torch.clamp(x, max=1e6)
            return x
    """,
    "values in a try": """
        import numpy as np

        def f3(x: torch.Tensor):
            for i in np.arange(3):  # TCL141: `j` is assigned more than once
                try:
                    j = i
                    j = j + 1
                    x = x + j
                except ValueError:
                    x = x + j
            return x

        def f4(x: torch.Tensor):
            for i in np.arange(3):  # TCL141
                try:
                    j = i
                    j = j + 1
                    x = x + j
                except ValueError:
                    j = 2
            return x
    """,
    "stores by masks": """
        def f1(x: torch.Tensor):
            x = x + 1
            m = x > 0
            x[m] = x[m] * 2  # TCL170
            return x

        def f2(x: torch.Tensor, layer):
            x = x + 1
            m = x.sum(-1) > 0
            x[m] = layer(x[m])  # TCL170: `layer(x[m])` may depend on what else
            return x

        def f3(x: torch.Tensor):
            x = x + 1
            m = x > 0
            x[m] = x[m][..., 0]  # TCL170: `x[m][..., 0]` may depend on what else
            return x

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.l = torch.nn.Linear(4, 4)
            def f4(self, x: torch.Tensor):
                x = x + 1
                m = x.sum(-1) > 0
                x[m] = self.l(x[m])  # TCL170: `self.l(x[m])` may depend on what else
                return x
            def f5(self, x: torch.Tensor):
                x = (x + 1).reshape(3)
                m = x > 0
                x[m] = self.l(x[m])  # TCL170: `self.l(x[m])` may depend on what else is
                return x

        def f11(x: torch.Tensor):
            x = x + 1
            m = x > 0
            if torch.compiler.is_compiling():
                x[m] = x[m] * 2  # TCL170
            return x
    """,
    "products of sizes by numpy": """
        import numpy as np

        def f1(x: torch.Tensor):
            n = int(np.prod(x.shape[1:]))  # TCL142
            return x.reshape(-1, n)

        def f2(x: torch.Tensor, sizes):
            n = int(np.prod(sizes))
            return x.reshape(-1, n)

        def f3(x: torch.Tensor, sizes: tuple):
            n = int(np.prod(sizes))
            return x.reshape(-1, n)

        def f4(x: torch.Tensor):
            n = np.prod((2, 3))  # TCL142
            return x.reshape(-1, n)

        def f5(x: torch.Tensor):
            n = int(np.prod((2.5, 3)))  # TCL142
            return x.reshape(-1, n)
        SIZES = (2, 3)

        def f6(x: torch.Tensor):
            n = int(np.prod(SIZES))  # TCL142
            return x.reshape(-1, n)

        class Net(torch.nn.Module):
            def __init__(self, n=(2, 3)):
                super().__init__()
                self.n = n
            def f7(self, x: torch.Tensor):
                return x.reshape(-1, int(np.prod(self.n)))  # TCL142
    """,
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_lines_are_reported_as_they_are_marked(tmp_path: Path, text: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(f"import torch\n{dedent(text)}", encoding="utf-8")
    wanted = {
        row: (mark[1], mark[2] or "")
        for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (mark := _MARK.search(line))
    }
    config = Config(
        tmp_path,
        settings=_DEEP_FROM_TWO,
        select=tuple({code for code, _ in wanted.values()}),
        weak=True,
        compiled=("*:f*",),
    )
    results = check_files([path], config).results
    found = {r.diagnostic.span.start.row: r.diagnostic for r in results}
    assert {row: one.code for row, one in found.items()} == {r: c for r, (c, _) in wanted.items()}
    for row, (_, words) in wanted.items():
        declined = found[row].declined
        assert bool(words) == (declined is not None), row
        assert declined is None or words in declined.reason, row
