"""``html``: one page that needs nothing else, for people who were not at the terminal."""

from __future__ import annotations

import os
import re
from collections import Counter
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from tclint.diagnostics import Applicability, Effect, Fix
from tclint.lint.links import on_web
from tclint.report import statistics
from tclint.report.full import notes
from tclint.report.html_page import PAGE
from tclint.report.looked import compiled_at, looked_line
from tclint.report.painted import CODE_STYLE, painted_diff, painted_excerpt
from tclint.report.place import by_place, place_text
from tclint.report.project import NAME
from tclint.report.repairs import fix_of
from tclint.report.settings import settings_lines
from tclint.report.severity import level
from tclint.report.style import STYLE
from tclint.report.summary import summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tclint.diagnostics import Diagnostic
    from tclint.lint.engine import Result, Run
    from tclint.report.view import View

_MORE_STYLE = """
article { border-top: 1px solid var(--line); padding: .8rem 0 }
article:first-of-type { border-top: 0 }
article h3 { margin: 0 0 .4rem; font-weight: 600; overflow-wrap: anywhere }
article h3 .where { color: var(--soft); font-weight: 400 }
article p { margin: .2rem 0; overflow-wrap: anywhere }
article p b { color: var(--soft); font-weight: 500 }
h2 { overflow-wrap: anywhere }
details { margin-top: 2rem }
details > summary { cursor: pointer; font-size: 1.2rem; font-weight: 600 }
code.error { color: var(--bad) }
code.warning { color: var(--warn) }
code.note { color: var(--soft) }
fieldset { border: 0; margin: 0; padding: 0 }
legend { color: var(--soft); font-size: .85rem; padding: 0 }
label.figure { cursor: pointer; position: relative }
label.figure input { position: absolute; opacity: 0 }
label.figure:has(:checked) { outline: 2px solid var(--two) }
label.figure:has(:focus-visible) { outline: 3px solid var(--ink) }
"""
_FIXABLE = "fixable"


def render(run: Run, view: View) -> str:
    """The page: what to show, rules, then every finding by file."""
    choices = _choices(run)
    parts = [
        _filter(choices, len(run.results)),
        _looked(run),
        _rules(run, view),
        *_errors(run, view),
    ]
    parts += _regions(run, view)
    parts += [_place(heading, found, view) for heading, found in by_place(run.results)]
    summary_of_run = "<br>".join(map(prose, (summary(run), *settings_lines(run, view))))
    if view.origin:
        summary_of_run += f"<br>{escape(view.origin)}"
    return PAGE.substitute(
        title=f"{NAME} check",
        style=STYLE + CODE_STYLE + _MORE_STYLE + _hiding(choices),
        summary=summary_of_run,
        body="\n".join(part for part in parts if part),
    )


def _choices(run: Run) -> dict[str, int]:
    """What findings can be shown alone, with how many they are."""
    found = [result.diagnostic for result in run.results]
    effects = Counter(one.effect.value for one in found if one.effect is not Effect.NONE)
    fixable = sum(one.fixable is Applicability.SAFE for one in found)
    return {**dict(effects.most_common()), **({_FIXABLE: fixable} if fixable else {})}


def _filter(choices: Mapping[str, int], findings: int) -> str:
    """The totals, each of which shows what it counts: by style alone, since scripts may be off."""
    cells = [_choice("all", findings, "findings", checked=True)]
    for name, number in choices.items():
        said = "fixable with tclint fix" if name == _FIXABLE else name.replace("-", " ")
        cells.append(_choice(name, number, said))
    return f'<fieldset><legend>Show</legend><div class="figures">{"".join(cells)}</div></fieldset>'


def _choice(name: str, number: int, said: str, *, checked: bool = False) -> str:
    chosen = " checked" if checked else ""
    return (
        f'<label class="figure"><input type="radio" name="shown" id="show-{name}"{chosen}>'
        f"<b>{number}</b><span>{escape(said)}</span></label>"
    )


def _hiding(choices: Iterable[str]) -> str:
    """Style that hides what was not asked for, and files in which nothing is left."""
    return "".join(
        f"body:has(#show-{name}:checked) :is(article:not(.{name}),"
        f" section:not(:has(article.{name}))) {{ display: none }}\n"
        for name in choices
    )


def _looked(run: Run) -> str:
    return f"<p>{prose(looked_line(run))}</p>"


def _regions(run: Run, view: View) -> Iterable[str]:
    """What is compiled, where, and how much that reaches; folded, since there may be much."""
    if not run.looked.regions:
        return
    rows = "".join(
        f"<tr><td><code>{escape(region.root.function)}</code></td>"
        f"<td>{escape(compiled_at(region, view))}</td><td>{len(region.reached)}</td>"
        f"<td>{len(region.loops)}</td></tr>"
        for region in run.looked.regions
    )
    head = "".join(f"<th>{name}</th>" for name in ("region", "where", "functions", "loops"))
    table = f'<div class="wide" tabindex="0"><table><tr>{head}</tr>{rows}</table></div>'
    yield f"<details><summary>Compiled regions</summary>\n{table}</details>"


def _rules(run: Run, view: View) -> str:
    known = {result.diagnostic.code: result.diagnostic for result in run.results}
    told = {rule.code: rule.summary for rule in view.rules}
    unsafe = Counter(
        result.diagnostic.code
        for result in run.results
        if result.diagnostic.fixable is Applicability.UNSAFE
    )
    rows = "".join(
        f"<tr><td>{_code(known[str(row['code'])])}</td>"
        f"<td>{prose(told.get(str(row['code']), str(row['name'])))}</td>"
        f"<td>{row['count']}</td><td>{row['fixable'] or ''}</td>"
        f"<td>{unsafe[str(row['code'])] or ''}</td></tr>"
        for row in statistics.rows(run)
    )
    if not rows:
        return ""
    names = ("rule", "what it finds", "findings", "safe fixes", "unsafe fixes")
    head = "".join(f"<th>{name}</th>" for name in names)
    more = "<p class='soft'><code>tclint rule CODE</code> explains a rule.</p>"
    table = f'<table class="rules"><tr>{head}</tr>{rows}</table>'
    return f'<div class="wide" tabindex="0">{table}</div>{more}'


def _errors(run: Run, view: View) -> Iterable[str]:
    for error in run.errors:
        text = f"{view.path(error.path)}: {error.message}"
        yield f'<p><span class="mark failed">not checked</span> {escape(text)}</p>'


def _place(heading: str, results: Iterable[Result], view: View) -> str:
    """The findings by file; those in tests and the like can be folded away."""
    files = groupby(results, key=lambda result: result.diagnostic.path)
    sections = "\n".join(_file(view.path(path), found, view) for path, found in files)
    if not heading:
        return sections
    return f"<details open><summary>{escape(heading)}</summary>\n{sections}</details>"


def _file(path: str, results: Iterable[Result], view: View) -> str:
    articles = "\n".join(_finding(result, view) for result in results)
    return f'<section class="target"><h2>{escape(path)}</h2>\n{articles}</section>'


def _finding(result: Result, view: View) -> str:
    diagnostic = result.diagnostic
    where = place_text(result, view).rpartition(os.sep)[2]
    said = "".join(
        f"<p><b>{escape(label)}</b> {prose(text)}</p>"
        for label, text in notes(result, view, set())
        if label != "page"
    )
    fixable = f" {_FIXABLE}" if diagnostic.fixable is Applicability.SAFE else ""
    return (
        f'<article class="{diagnostic.effect.value}{fixable}">'
        f"<h3>{_code(diagnostic)} {prose(diagnostic.message)}"
        f' <span class="where">{escape(where)}</span></h3>'
        f"{painted_excerpt(result.file, diagnostic.span)}{said}{changes(result)}</article>"
    )


def changes(result: Result) -> str:
    """What the fix does to the file."""
    fix = fix_of(result)
    return painted_diff(result.file, fix.edits) if isinstance(fix, Fix) else ""


def prose(text: str) -> str:
    """Words with code in backticks, as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _code(diagnostic: Diagnostic) -> str:
    text = f'<code class="{level(diagnostic)}">{escape(diagnostic.code)}</code>'
    url = on_web(diagnostic.url)
    return text if url is None else f'<a href="{escape(url)}">{text}</a>'
