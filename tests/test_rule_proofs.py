"""Every example of every rule is held to its word by torch itself."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING

import pytest

from tclint.diagnostics import Effect
from tclint.lint.claims import releases, split
from tclint.lint.rule import Bad, Good, Rule, Untouched

from .dynamo import RELEASE
from .proof.cases import cases

pytest.importorskip("torch", reason="the proofs run torch.compile")

from .proof.equal import difference
from .proof.run import count_launches, count_syncs, run_compiled, run_eager

if TYPE_CHECKING:
    from .proof.run import Outcome

_WARNS = re.compile(r"^.*Warning: .*\b(?:deprecated|should be passed)\b.*\n", re.MULTILINE)


def _claims(_rule: Rule, example: Bad | Untouched) -> bool:
    return bool(example.proves)


def _is_fixed(_rule: Rule, example: Bad) -> bool:
    return (example.unsafe or example.fixed) is not None


def _is_fixed_safely(_rule: Rule, example: Bad) -> bool:
    return example.fixed is not None


def _is_single_tensor(rule: Rule, _example: Bad) -> bool:
    return rule.code == "TCL503"


@pytest.mark.parametrize(("rule", "example"), cases(Bad, Untouched, where=_claims))
def test_torch_shows_the_effect(rule: Rule, example: Bad | Untouched) -> None:
    proves = _proves(example)
    run = run_compiled(example.code, example.inputs)
    ids = {claim for claim in proves if claim.startswith("GB")}
    assert ids <= run.compilation.gb_ids, run.compilation.reasons
    if "raises" in proves:
        assert run.raised
    if "recompile" in proves:
        assert run.compilation.recompiles > 0
    if "host-sync" in proves:
        assert count_syncs(example.code, example.inputs).syncs
    if "launches" in proves:  # fewer with the fix: that is another test
        assert isinstance(example, Bad)
        assert _is_fixed(rule, example)
    if "warns" in proves:
        assert _WARNS.search(run_eager(example.code, example.inputs).text)


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_is_fixed))
def test_fixed_code_does_not_show_it(rule: Rule, example: Bad) -> None:
    code, proves = example.unsafe or example.fixed, _proves(example)
    assert code is not None
    run = run_compiled(code, example.inputs)
    assert not run.compilation.gb_ids & proves, run.compilation.reasons
    assert not run.raised
    if "recompile" in proves:
        before = run_compiled(example.code, example.inputs)
        assert run.compilation.recompiles < before.compilation.recompiles
    if "host-sync" in proves:
        reads = count_syncs(example.code, example.inputs).syncs
        assert len(count_syncs(code, example.inputs).syncs) < len(reads)
    if "launches" in proves:
        launches = count_launches(example.code, example.inputs)
        assert count_launches(code, example.inputs) < launches
    eager = run_eager(code, example.inputs)
    if "warns" in proves:
        assert not _WARNS.search(eager.text)
    assert difference(eager.results, run.results, "compiled result") is None
    assert difference(eager.state, run.state, "compiled state") is None


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_is_fixed_safely))
def test_safe_fix_keeps_what_eager_does(rule: Rule, example: Bad) -> None:
    assert example.fixed is not None
    proves = _proves(example)
    before = run_eager(example.code, example.inputs)
    after = run_eager(example.fixed, example.inputs)
    if "warns" in proves:  # without the warning the fix keeps everything
        before.text = _WARNS.sub("", before.text)
    _assert_same(before, after)
    if example.fails_on is not None:
        before = run_eager(example.code, example.fails_on)
        assert before.raised, "eager was to fail on these inputs"
        _assert_same(before, run_eager(example.fixed, example.fails_on))


@pytest.mark.parametrize(("rule", "example"), cases(Good))
def test_torch_shows_nothing_on_good_code(rule: Rule, example: Good) -> None:
    _skip_other_torch(example)
    run = run_compiled(example.code, example.inputs)
    assert not run.raised
    assert run.compilation.reasons == []
    if rule.effects == (Effect.RECOMPILE,):
        assert run.compilation.recompiles == 0


@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_is_single_tensor))
def test_a_step_for_each_parameter_holds_more_operators(
    rule: Rule, example: Bad, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On the CPU, torch's own choice is that for GPUs from here on.
    optimizer = importlib.import_module("torch.optim.optimizer")
    monkeypatch.setattr(optimizer, "_get_foreach_kernels_supported_devices", lambda: ["cpu"])
    assert example.unsafe is not None
    steps = (run_compiled(code, example.inputs) for code in (example.code, example.unsafe))
    before, after = (step.compilation.operators for step in steps)
    assert 0 < after < before


def _proves(example: Bad | Untouched) -> set[str]:
    """What an example claims of the installed torch."""
    _skip_other_torch(example)
    return {what for what, of in map(split, example.proves) if of and of.holds(RELEASE)}


def _skip_other_torch(example: Bad | Good | Untouched) -> None:
    about = releases(example.torch)
    if about is None or not about.holds(RELEASE):
        pytest.skip(f"the example is about torch {example.torch}")


def _assert_same(before: Outcome, after: Outcome) -> None:
    assert difference(before.results, after.results) is None
    assert difference(before.raised, after.raised, "exceptions") is None
    assert difference(before.state, after.state, "state") is None
    assert before.text == after.text
