"""What a fix writes evaluates an expression of the user's as often as the user's code did."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run before and after their fixes")

from tclint.config import Config
from tclint.diagnostics import Change
from tclint.fix.apply import fix_files
from tclint.lint.engine import load_project
from tclint.lint.repeated import as_often
from tclint.lint.rewrite import Insert, Repair, Replace
from tclint.semantics.events import TensorBranch
from tclint.semantics.interpreter.run import interpret
from tests.before_and_after import fixed, outcome
from tests.samples import one_in

PROGRAM = """
import torch
from torch import nn

READS = []


class Made:
    def __getattr__(self, name):
        READS.append(name)
        return 0.0 if len(READS) & 1 else 1.0


class Every:
    layerdrop = 0.0

    def __getattribute__(self, name):
        READS.append(name)
        return object.__getattribute__(self, name)


class Kept:
    @property
    def layerdrop(self):
        READS.append("kept")
        return 0.0


class Below(Kept):
    pass


class Descriptor:
    def __get__(self, owner, kind):
        READS.append("descriptor")
        return 0.0


class Described:
    layerdrop = Descriptor()


class Table(dict):
    def __getitem__(self, key):
        READS.append(key)
        return 0.0


class Mixin:
    layerdrop = Descriptor()


class Odd:
    def __getattr__(self, name):
        READS.append(name)
        if name == "layerdrop":
            return 0.0
        return super().__getattr__(name)


def rate():
    READS.append("function")
    return 0.0


def rates():
    while True:
        READS.append("generator")
        yield 0.0


class Net(%s):
    def __init__(self, cfg=None):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
        for p in self.parameters():
            nn.init.constant_(p, 0.5)
        self.cfg = cfg
        %s

    %s

    def forward(self, x):
        for layer in self.layers:
            p = torch.rand([])
            if p < %s:
                continue
            x = layer(x)
        return x


def main():
    net = Net(%s)
    return net(torch.ones(1, 3)), READS
"""
NONE = "pass"
# The bases, what `__init__` does, what else the class has, the rate, and the argument.
RATES = {
    "an attribute that is made up": ("nn.Module", NONE, NONE, "self.cfg.layerdrop", "Made()"),
    "one of an object made in sight": (
        "nn.Module",
        "self.made = Made()",
        NONE,
        "self.made.layerdrop",
        "",
    ),
    "every attribute is seen": (
        "nn.Module",
        "self.every = Every()",
        NONE,
        "self.every.layerdrop",
        "",
    ),
    "every attribute of an argument is seen": (
        "nn.Module",
        NONE,
        NONE,
        "self.cfg.layerdrop",
        "Every()",
    ),
    "property": (
        "nn.Module",
        NONE,
        "@property\n    def layerdrop(self):\n        READS.append('own')\n        return 0.0",
        "self.layerdrop",
        "",
    ),
    "a property of an argument": ("nn.Module", NONE, NONE, "self.cfg.layerdrop", "Kept()"),
    "a property of an object made in sight": (
        "nn.Module",
        "self.kept = Kept()",
        NONE,
        "self.kept.layerdrop",
        "",
    ),
    "inherited property": ("nn.Module", "self.kept = Below()", NONE, "self.kept.layerdrop", ""),
    "descriptor": ("nn.Module", "self.kept = Described()", NONE, "self.kept.layerdrop", ""),
    "own descriptor": ("nn.Module", NONE, "layerdrop = Descriptor()", "self.layerdrop", ""),
    "a descriptor of a base": ("Mixin, nn.Module", NONE, NONE, "self.layerdrop", ""),
    "a base that makes attributes up": ("Odd, nn.Module", NONE, NONE, "self.layerdrop", ""),
    "a dict that is none": ("nn.Module", NONE, NONE, "self.cfg['layerdrop']", "Table()"),
    "one made in sight": ("nn.Module", "self.table = Table()", NONE, "self.table['layerdrop']", ""),
    "function": ("nn.Module", NONE, NONE, "rate()", ""),
    "method": (
        "nn.Module",
        NONE,
        "def rate(self):\n        READS.append('method')\n        return 0.0",
        "self.rate()",
        "",
    ),
    "generator": ("nn.Module", "self.rates = rates()", NONE, "next(self.rates)", ""),
    "a list that shrinks": ("nn.Module", "self.rates = [0.0] * 9", NONE, "self.rates.pop()", ""),
    "getattr": ("nn.Module", NONE, NONE, "getattr(self.cfg, 'layerdrop')", "Made()"),
    "a product": ("nn.Module", NONE, NONE, "self.cfg.layerdrop * 0", "Made()"),
    "a choice": (
        "nn.Module",
        NONE,
        NONE,
        "(self.cfg.layerdrop if self.training else 0.0)",
        "Kept()",
    ),
    "a walrus": ("nn.Module", NONE, NONE, "(r := rate())", ""),
    "another draw": ("nn.Module", NONE, NONE, "torch.rand(()).item() * 0", ""),
    "an element": ("nn.Module", NONE, NONE, "self.cfg[0]", "[0.0]"),
    "a length": ("nn.Module", NONE, NONE, "len(self.cfg)", "''"),
    "an attribute": ("nn.Module", "self.layerdrop = 0.0", NONE, "self.layerdrop", ""),
    "an attribute of the class": ("nn.Module", NONE, "layerdrop = 0.0", "self.layerdrop", ""),
    "a property with a setter": (
        "nn.Module",
        "self.layerdrop = 0.0",
        (
            "@property\n    def layerdrop(self):\n        READS.append(1)\n        return 0.0\n\n"
            "    @layerdrop.setter\n    def layerdrop(self, v):\n        pass"
        ),
        "self.layerdrop",
        "",
    ),
    "a property by its function": (
        "nn.Module",
        NONE,
        (
            "def get(self):\n        READS.append(1)\n        return 0.0\n\n"
            "    layerdrop = property(get)"
        ),
        "self.layerdrop",
        "",
    ),
    "a property of a lambda": (
        "nn.Module",
        NONE,
        "layerdrop = property(lambda self: READS.append(1) or 0.0)",
        "self.layerdrop",
        "",
    ),
    "a property that comes late": (
        "nn.Module",
        "type(self).layerdrop = property(lambda self: READS.append(1) or 0.0)",
        NONE,
        "self.layerdrop",
        "",
    ),
    "nothing of that name": ("nn.Module", NONE, NONE, "self.missing", ""),
}
PLAIN = ("an attribute", "an attribute of the class")
KEPT = ("a list that shrinks", "another draw", "nothing of that name", "a property that comes late")
UNKNOWN = ("descriptor", "own descriptor", "a descriptor of a base")


def program(name: str) -> dict[str, str]:
    """LayerDrop at a rate of zero that is read somewhere."""
    return {"program.py": PROGRAM % RATES[name]}


@pytest.mark.parametrize("name", one_in(3, RATES))
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_a_rate_is_read_as_often(name: str, unsafe: bool, tmp_path: Path) -> None:
    files = program(name)
    after = fixed(tmp_path, files, unsafe=unsafe)
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


@pytest.mark.parametrize("name", sorted(RATES.keys() - {*KEPT, *UNKNOWN}))
def test_what_may_run_code_is_kept_in_a_variable(name: str, tmp_path: Path) -> None:
    after = fixed(tmp_path, program(name), unsafe=True)["program.py"]
    assert (" := " in after.split("p = torch.rand")[1]) is (name not in PLAIN)


@pytest.mark.parametrize("rate", ["float(x[0])", "min(rate, 0.5)", "rate * 2"])
def test_what_torchscript_may_take_is_changed_by_no_safe_fix(rate: str, tmp_path: Path) -> None:
    lines = ["p = torch.rand([])", f"if p < {rate}:", "    return x", "return x * 2"]
    body = "".join(f"    {line}\n" for line in lines)
    code = f"import torch\n\n\n@torch.compile\ndef f(x, rate: float):\n{body}"
    assert fixed(tmp_path, {"program.py": code}) == {"program.py": code}


SHARED = """
import torch


class Limits:
    @property
    def low(self):
        print("read")
        return torch.zeros(2)


class Net(torch.nn.Module):
    def __init__(self, limits):
        super().__init__()
        self.limits = limits

    def forward(self, x: torch.Tensor):
        {body}
        return x


def main():
    return Net(Limits())(torch.ones(2))
"""
BODIES = {
    "a chain": "assert 0 <= self.limits.low.min() <= 1",
    "a chain with a message": "assert 0 <= self.limits.low.min() <= 1, 'low'",
    "two sides": "assert self.limits.low.min() <= x.min() <= x.max()",
    "a mask": "x[x > 2] = self.limits.low.min()",
    "a branch": "x = self.limits.low if x.sum() > 1 else -self.limits.low",
    "a branch of statements": (
        "if x.sum() > 5:\n            x = x + self.limits.low\n"
        "        else:\n            x = x - self.limits.low"
    ),
    "a read": "x = x / self.limits.low.max().item()",
    "a slice": "n = int(x.sum())\n        self.limits.low[:n] = 0",
}


@pytest.mark.parametrize("name", BODIES)
def test_no_safe_fix_reads_a_property_twice(name: str, tmp_path: Path) -> None:
    files = {"program.py": SHARED.format(body=BODIES[name])}
    after = fixed(tmp_path, files)
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


@pytest.mark.parametrize("name", BODIES)
def test_an_unsafe_fix_says_what_it_reads_twice(name: str, tmp_path: Path) -> None:
    files = {"program.py": SHARED.format(body=BODIES[name])}
    before = outcome(tmp_path, files).count("read")
    (tmp_path / "program.py").write_text(files["program.py"])
    run = fix_files([tmp_path / "program.py"], Config(root=tmp_path), unsafe=True)
    for changed in run.changed:
        often = outcome(tmp_path, {"program.py": changed.after}).count("read") > before
        said = any("more than once" in fix.changes for fix in changed.fixes)
        assert said >= often


ASKED = """
import torch


class Net(torch.nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg, self.rate = cfg, 0.5

    def forward(self, x: torch.Tensor):
        if x.sum() > {asked}:
            return x
        return -x
"""
# A template that stands for the condition `$test` of sides `$a` and `$b`, and whether `$b` is
# evaluated more often.
TEMPLATES = {
    "as before": ("$a > $b", False),
    "the whole": ("bool($test)", False),
    "twice": ("$b != 0 and $a > $b", True),
    "beside the whole": ("$b != 0 and $test", True),
    "in one of two ways": ("$a > $b if $a else $b", False),
    "in a condition and a way": ("$a > $b if $b else $a", True),
    "below a loop": ("any($b for i in range(3))", True),
    "what a loop goes over": ("any(i for i in $b)", False),
    "in an inner loop": ("any(j for i in $a for j in $b)", True),
    "by its text": ("{asked} != 0 and $test", True),
    "in another function": ("(lambda: $b) and $test", False),
    "named once": ("(rate := $b) != 0 and rate < $a", False),
}
READS = {
    "self.cfg.rate": True, "self.cfg[0]": True, "self.cfg()": True, "self.cfg.rates[0].rate": True,
    "x.cfg(3)": True, "torch.rand(())": True, "self.rate": False, "x.shape[0]": False,
    "x.mean()": False, "x.mean().item()": False, "len(x)": False, "x[0, 0]": False, "rate": False,
    "0.5": False, "torch.mean(x)": False, "x.add_(1).sum()": True, "float(self.rate)": False,
    "sum(self.cfg)": True,
}  # fmt: skip


@pytest.mark.parametrize("asked", one_in(4, READS))
@pytest.mark.parametrize("name", TEMPLATES)
def test_what_a_template_repeats_is_counted(name: str, asked: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(ASKED.format(asked=asked), encoding="utf-8")
    project = load_project([path], Config(root=tmp_path))
    events = interpret(project, [path], Config(root=tmp_path), (TensorBranch,)).finish()
    [event] = [one for one in events if isinstance(one, TensorBranch)]
    test = event.test
    assert isinstance(test, ast.Compare)
    template, is_repeated = TEMPLATES[name]
    parts = {"a": test.left, "b": test.comparators[0], "test": test}
    rewrite = Replace(test, template.format(asked=asked), parts)
    judged = as_often(Repair("Ask", (rewrite,)), event.site, project)
    assert isinstance(judged, Repair)
    seen = is_repeated and READS[asked]
    assert judged.change is (Change.BEHAVIOUR if seen else Change.SAME_BITS)
    assert ("is evaluated more than once" in judged.changes) is seen


INSERTED = {
    "before": ("y = $b", False, True),
    "behind": ("y = $b", True, True),
    "before, and it leaves": ("if x is None:\n    return $b", False, False),
    "before, and it may leave": ("if x is None:\n    y = $b", False, True),
    "before, in what asks": ("if $b:\n    return x", False, True),
}


@pytest.mark.parametrize("name", INSERTED)
def test_what_is_inserted_comes_on_top_unless_it_leaves(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(ASKED.format(asked="self.cfg.rate"), encoding="utf-8")
    project = load_project([path], Config(root=tmp_path))
    events = interpret(project, [path], Config(root=tmp_path), (TensorBranch,)).finish()
    [event] = [one for one in events if isinstance(one, TensorBranch)]
    template, after, is_repeated = INSERTED[name]
    assert isinstance(event.test, ast.Compare)
    parts = {"b": event.test.comparators[0]}
    inserted = Insert(event.site.statement, template, parts, after=after)
    judged = as_often(Repair("Ask", (inserted,)), event.site, project)
    assert isinstance(judged, Repair)
    assert judged.change is (Change.BEHAVIOUR if is_repeated else Change.SAME_BITS)
