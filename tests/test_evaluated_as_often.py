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
