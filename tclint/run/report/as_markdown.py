"""The answer as Markdown, for the description of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from tclint.report.rounded import rounded
from tclint.run.ablate import Ablation
from tclint.run.proof import Proof
from tclint.run.report import words
from tclint.run.report.verdict_words import listed, savings, verdict
from tclint.run.session import Answer, Ranked

_SHOWN = 20


def render(
    answer: Answer, root: Path, proof: Proof | None = None, ablation: Ablation | None = None
) -> str:
    """The step, the lines by price as a table, and what was proved."""
    return "\n".join(_lines(answer, root, proof, ablation)) + "\n"


def _lines(
    answer: Answer, root: Path, proof: Proof | None, ablation: Ablation | None
) -> Iterator[str]:
    if answer.command:
        yield f"`{words.command(answer)}`"
        yield ""
    for told in verdict(answer, root):
        yield f"**{_escaped(told)}**"
        yield ""
    if proof is not None:
        yield from _proved(proof, root)
        yield ""
    for rank in answer.ranks:
        yield f"- {words.head(rank, answer)}"
    if answer.priced:
        yield ""
        yield "| share | ms a step | where the time goes |"
        yield "| ---: | ---: | --- |"
        yield from (f"| {a} | {b} | {_escaped(c)} |" for a, b, c in listed(answer, root))
    again = islice(words.recompiled_lines(answer, root), _SHOWN)
    yield from _listed(f"compiled again: {told}" for told in again)
    ranked = words.ranked(answer)
    if ranked:
        measured = ablation is not None
        yield ""
        yield f"| ms a step | share | line | what | remedy |{' measured |' * measured}"
        yield f"| ---: | ---: | --- | --- | --- |{' --- |' * measured}"
        yield from (_row(one, answer, root, ablation) for one in ranked[:_SHOWN])
    yield from _listed(savings(answer))
    drowned = answer.drowned
    cheap = words.worthless(answer)
    if drowned:
        yield ""
        yield f"{words.DROWNED[:1].upper()}{words.DROWNED[1:]}:"
        yield ""
        yield from (_small(one, answer, root) for one in drowned[:_SHOWN])
    if cheap:
        places = ", ".join(f"`{words.place(one.line, root)}`" for one in cheap[:_SHOWN])
        yield ""
        yield f"Worth nothing here: {places}."
    if apart := [*words.apart(answer, root)]:
        yield ""
        yield from (f"- only {told}" for told in apart)
    for note in answer.notes:
        yield ""
        yield f"Note: {note}."


def _listed(said: Iterable[str]) -> Iterator[str]:
    """A list below an empty line; nothing where there is nothing to say."""
    for n, told in enumerate(said):
        yield from [""] * (n == 0)
        yield f"- {_escaped(told)}"


def _row(one: Ranked, answer: Answer, root: Path, ablation: Ablation | None) -> str:
    price = f"{words.milliseconds(one)} ({words.interval(one.price.total)})"
    cells = [
        price if answer.priced else "",
        words.share(one, answer),
        f"`{words.place(one.line, root)}`",
        _escaped(words.says(one.line, answer)),
        words.remedy(one.line),
    ]
    if ablation is not None:
        cells.append(_escaped(words.measured(ablation.of(one.line), root)))
    return f"| {' | '.join(cells)} |"


def _small(one: Ranked, answer: Answer, root: Path) -> str:
    told = f"{_escaped(words.says(one.line, answer))} ({words.remedy(one.line)})"
    return f"- `{words.place(one.line, root)}` {words.milliseconds(one)} ms: {told}"


def _proved(proof: Proof, root: Path) -> Iterator[str]:
    before, after, speedup = proof.before, proof.after, proof.speedup
    yield "| | before | after |"
    yield "| --- | ---: | ---: |"
    yield f"| step, ms | {rounded(before.step.value, 4)} | {rounded(after.step.value, 4)} |"
    yield f"| graph breaks | {before.breaks} | {after.breaks} |"
    yield ""
    told = f"{words.speed(proof)} ({speedup.low:.3g} to {speedup.high:.3g}); {proof.losses}"
    yield f"{told[:1].upper()}{told[1:]}. Fixes:"
    yield ""
    for fix in proof.fixed.fixes:
        what = _escaped(fix.message)
        yield f"- `{words.fixed_place(fix, root)}` {fix.diagnostic.code}: {what}"


def _escaped(told: str) -> str:
    return told.replace("|", "\\|")
