"""``html``: one page that needs nothing else, for people who were not at the terminal."""

from __future__ import annotations

import os
import re
from collections import Counter
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from tclint.diagnostics import Applicability, Effect
from tclint.report import statistics
from tclint.report.colour import Paint
from tclint.report.excerpt import excerpt
from tclint.report.full import notes
from tclint.report.html_page import PAGE
from tclint.report.looked import compiled_at, looked_line
from tclint.report.place import place_text
from tclint.report.places import by_place
from tclint.report.project import NAME
from tclint.report.severity import level
from tclint.report.style import STYLE
from tclint.report.summary import summary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tclint.diagnostics import Diagnostic
    from tclint.lint.engine import Result, Run
    from tclint.report.view import View

_MORE_STYLE = """
article { border-top: 1px solid var(--line); padding: .8rem 0 }
article:first-of-type { border-top: 0 }
article h4 { margin: 0 0 .4rem; font-weight: 600; overflow-wrap: anywhere }
article h4 .where { color: var(--soft); font-weight: 400 }
article p { margin: .2rem 0; overflow-wrap: anywhere }
article p b { color: var(--soft); font-weight: 500 }
article pre { white-space: pre; overflow-x: auto }
h2 { overflow-wrap: anywhere }
details { margin-top: 2rem }
details > summary { cursor: pointer; font-size: 1.2rem; font-weight: 600 }
code.error { color: var(--bad) }
code.warning { color: var(--warn) }
code.note { color: var(--soft) }
"""


def render(run: Run, view: View) -> str:
    """The page: totals, rules, then every finding by file."""
    parts = [_totals(run), _looked(run), _rules(run), *_errors(run, view), *_regions(run, view)]
    parts += [_place(heading, found, view) for heading, found in by_place(run.results)]
    return PAGE.substitute(
        title=f"{NAME} check",
        style=STYLE + _MORE_STYLE,
        summary=_prose(summary(run)),
        body="\n".join(part for part in parts if part),
    )


def _totals(run: Run) -> str:
    found = [result.diagnostic for result in run.results]
    effects = Counter(
        one.effect.value.replace("-", " ") for one in found if one.effect is not Effect.NONE
    )
    files = len({one.path for one in found})
    fixable = sum(one.fixable is Applicability.SAFE for one in found)
    shown = [
        ("findings", len(found)),
        *effects.most_common(),
        (f"of {run.files} files", files),
        ("fixable with tclint fix", fixable),
    ]
    cells = "".join(
        f'<div class="figure"><b>{number}</b><span>{escape(name)}</span></div>'
        for name, number in shown
    )
    return f'<div class="figures">{cells}</div>'


def _looked(run: Run) -> str:
    return f"<p>{_prose(looked_line(run))}</p>"


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
    table = f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'
    yield f"<details><summary>Compiled regions</summary>\n{table}</details>"


def _rules(run: Run) -> str:
    urls = {result.diagnostic.code: result.diagnostic for result in run.results}
    rows = "".join(
        f"<tr><td>{_code(urls[str(row['code'])])}</td><td>{escape(str(row['name']))}</td>"
        f"<td>{row['count']}</td><td>{row['fixable']}</td></tr>"
        for row in statistics.rows(run)
    )
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in ("rule", "name", "findings", "fixable"))
    return f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'


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
    source = "\n".join(excerpt(result.file, diagnostic.span, Paint(enabled=False)).lines)
    said = "".join(
        f"<p><b>{escape(label)}</b> {_prose(text)}</p>"
        for label, text in notes(result, view)
        if label != "help"
    )
    return (
        f"<article><h4>{_code(diagnostic)} {_prose(diagnostic.message)}"
        f' <span class="where">{escape(where)}</span></h4>'
        f"<pre>{escape(source)}</pre>{said}</article>"
    )


def _prose(text: str) -> str:
    """Words with code in backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _code(diagnostic: Diagnostic) -> str:
    text = f'<code class="{level(diagnostic)}">{escape(diagnostic.code)}</code>'
    if diagnostic.url is None:
        return text
    return f'<a href="{escape(diagnostic.url)}">{text}</a>'
