"""The answer as Markdown, for the description of a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tclint.run.proof import Proof
from tclint.run.report import text
from tclint.run.session import Answer, Ranked

_SHOWN = 20


def render(answer: Answer, root: Path, proof: Proof | None = None) -> str:
    """The step, the lines by price as a table, and what was proved."""
    return "\n".join(_lines(answer, root, proof)) + "\n"


def _lines(answer: Answer, root: Path, proof: Proof | None) -> Iterator[str]:
    if answer.command:
        yield f"`{text.shown_command(answer)}`"
        yield ""
    for rank in answer.ranks:
        yield f"- {text.head(rank, named=len(answer.ranks) > 1)}"
    ranked = answer.dear if answer.priced else answer.cheap
    if ranked:
        yield ""
        yield "| ms a step | share | line | what | remedy |"
        yield "| ---: | ---: | --- | --- | --- |"
        yield from (_row(one, answer, root) for one in ranked[:_SHOWN])
    if answer.priced and answer.cheap:
        places = ", ".join(f"`{_place(one, root)}`" for one in answer.cheap[:_SHOWN])
        yield ""
        yield f"Worth nothing here: {places}."
    if proof is not None:
        yield ""
        yield from _proved(proof, root)
    for note in answer.notes:
        yield ""
        yield f"Note: {note}."


def _row(one: Ranked, answer: Answer, root: Path) -> str:
    step, ms = (answer.first.step.value if answer.first else 0.0), one.price.total
    cells = (
        f"{ms.value:.2g} ({ms.low:.2g} to {ms.high:.2g})" if step else "",
        f"{ms.value / step:.0%}" if step else "",
        f"`{_place(one, root)}`",
        _escaped(text.says(one.line)),
        text.remedy(one.line),
    )
    return f"| {' | '.join(cells)} |"


def _proved(proof: Proof, root: Path) -> Iterator[str]:
    before, after, speedup = proof.before, proof.after, proof.speedup
    yield "| | before | after |"
    yield "| --- | ---: | ---: |"
    yield f"| step, ms | {before.step.value:.4g} | {after.step.value:.4g} |"
    yield f"| graph breaks | {before.breaks} | {after.breaks} |"
    yield ""
    yield f"{speedup.value:.3g}x ({speedup.low:.3g} to {speedup.high:.3g}); {proof.losses}. Fixes:"
    yield ""
    for fix in proof.fixed.fixes:
        place = f"{text.shown(str(fix.diagnostic.path), root)}:{fix.diagnostic.span.start.row}"
        yield f"- `{place}` {fix.diagnostic.code}: {_escaped(fix.message)}"


def _place(one: Ranked, root: Path) -> str:
    return f"{text.shown(one.line.filename, root)}:{one.line.row}"


def _escaped(words: str) -> str:
    return words.replace("|", "\\|")
