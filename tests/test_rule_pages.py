"""A rule's page: read from the file beside its module, with one error for whatever it is not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tclint.diagnostics import Effect
from tclint.lint import pages
from tclint.lint.pages import Page, PageError, page_file, page_of, parse_page, read_page
from tclint.lint.registry import known_rules, load_rules
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.report.page import fix_kinds, page
from tclint.semantics.events import Call

PATH = Path("seed.md")
TITLE = "# seed-in-region (ABC101)"
HEAD = f"{TITLE}\n\nThe seed is set.\n\n## What it does\nReports it.\n\n"
CODE = "```python\ndef f(x):\n    return x\n```\n"
PAGE = f"""\
{HEAD}```python
## Examples
```

## Examples

### Bad: it is: so

- proves: GB0007, host-sync
- inputs: `(torch.ones(3),)`
- fails on: `(torch.ones(0),)`

```python
# a comment

def f(x):
    return x
```

Fixed:

{CODE}
Unsafe:

{CODE}
### Good

{CODE}
## More examples

### Untouched: kept

- reason: `x` is read: twice

{CODE}"""


class Seed(Rule[Call]):
    """A rule whose page is a file."""

    code = "ABC101"
    name = "seed-in-region"
    summary = "The seed is set"
    on = Call
    effects = (Effect.GRAPH_BREAK,)

    def check(self, event: Call) -> Finding | None:
        return None


class Shown(Seed):
    """The seed is set where it is shown."""

    examples = (Good("def f(x): ..."),)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that is the page of the rules above."""
    path = tmp_path / "seed.md"
    monkeypatch.setattr(pages, "page_file", lambda rule: path)
    pages._page_of.cache_clear()
    return path


def error(text: str) -> str:
    with pytest.raises(PageError) as raised:
        parse_page(text, PATH, TITLE)
    return str(raised.value)


def test_a_page_is_prose_and_examples() -> None:
    code = "\ndef f(x):\n    return x\n"
    assert parse_page(PAGE, PATH, TITLE) == Page(
        "The seed is set.\n\n## What it does\nReports it.\n\n```python\n## Examples\n```",
        (
            Bad(
                "\n# a comment\n\ndef f(x):\n    return x\n",
                inputs="(torch.ones(3),)",
                fixed=code,
                unsafe=code,
                proves=("GB0007", "host-sync"),
                fails_on="(torch.ones(0),)",
                title="it is: so",
            ),
            Good(code),
        ),
        (Untouched(code, "`x` is read: twice", title="kept"),),
    )


def test_examples_may_be_missing() -> None:
    assert parse_page(HEAD, PATH, TITLE) == Page("The seed is set.\n\n## What it does\nReports it.")
    [only] = parse_page(f"{HEAD}## More examples\n### Good\n{CODE}", PATH, TITLE).more
    assert only.title == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"1: the first line is not `{TITLE}`"),
        ("# seed (ABC101)\n\nIt.\n", f"1: the first line is not `{TITLE}`"),
        (f"{TITLE}\n\n## What it does\nIt.\n", "1: no paragraph between the title and the first"),
        (f"{TITLE}\n\n## Examples\n", "1: no paragraph between the title and the first"),
        (f"{HEAD}```python\nf(x)\n", "8: the block is not closed with ```"),
        (f"{HEAD}### Bad: it\n", "8: an example comes below `## Examples` or `## More examples`"),
    ],
)
def test_prose_that_is_wrong_is_one_error(text: str, message: str) -> None:
    assert error(text).startswith(f"seed.md:{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "8: no example follows `## Examples`"),
        ("\nSome words.\n", "10: `Some words.` is not part of an example"),
        ("### Wrong: it\n", "9: `### Wrong: it` is none of `### Bad: title`, `### Good: title`, "),
        ("### Bad it\n", "9: `### Bad it` is none of "),
        (f"### Good\n{CODE}## References\n", "14: `## References` is not part of an example"),
        (f"### Good\n{CODE}## Examples\n", "14: `## Examples` is not part of an example"),
        (f"### Good\n{CODE}# Notes\n", "14: `# Notes` is not part of an example"),
        (f"### Good\n- proves: GB0007\n{CODE}", "10: `- proves: GB0007` is none of `- inputs: ..."),
        (f"### Bad\nproves: GB0007\n{CODE}", "10: `proves: GB0007` is none of `- proves: ...`, "),
        (f"### Bad\n- inputs\n{CODE}", "10: inputs are Python in backquotes, as in `(torch."),
        (f"### Bad\n- inputs: (x,)\n{CODE}", "10: inputs are Python in backquotes, as in `(torch."),
        (f"### Bad\n- fails on: ``\n{CODE}", "10: inputs are Python in backquotes, as in `(torch."),
        (f"### Bad\n- inputs: `1`\n- inputs: `2`\n{CODE}", "11: `inputs` is there twice"),
        (f"### Bad\n- proves: GB7\n{CODE}", "10: `GB7` is neither a graph break like `GB0124` nor"),
        (
            f"### Bad\n- proves: GB0007 > 2.13\n{CODE}",
            "10: `GB0007 > 2.13` is to end like",
        ),
        (f"### Good\n- torch: 2.13\n{CODE}", "10: the releases of torch are written `< 2.14` or"),
        (f"### Bad\n- proves:\n{CODE}", "10: `` is neither a graph break like"),
        (f"### Untouched: kept\n{CODE}", "9: `- reason: ...` is missing"),
        (f"### Untouched\n- reason:\n{CODE}", "10: `reason` is empty"),
        ("### Bad: it\n\n### Good: it\n", "9: a block that opens with ```python is missing"),
        ("### Bad: it\n", "9: a block that opens with ```python is missing"),
        ("### Good\n```py\nx\n```\n", "10: a block of code opens with ```python, not with ```py"),
        ("### Good\n```python\nx\n", "10: the block is not closed with ```"),
        ("### Good\n```python\n\n```\n", "10: the block is empty"),
        (f"### Bad\n{CODE}{CODE}", "14: ````python` is not `Fixed:`, `Unsafe:` or the next"),
        (f"### Bad\n{CODE}fixed:\n{CODE}", "14: `fixed:` is not `Fixed:`, `Unsafe:` or the next"),
        (f"### Bad\n{CODE}Fixed:\n### Good\n", "14: no block that opens with ```python follows"),
        (f"### Bad\n{CODE}Fixed:\n{CODE}Fixed:\n{CODE}", "19: `Fixed:` is there twice"),
        (f"### Good\n{CODE}Fixed:\n{CODE}", "14: `Fixed:` is not an example"),
    ],
)
def test_an_example_that_is_wrong_is_one_error(text: str, message: str) -> None:
    assert error(f"{HEAD}## Examples\n{text}").startswith(f"seed.md:{message}")


def test_the_page_is_the_file_beside_the_module(file: Path) -> None:
    file.write_text(PAGE, encoding="utf-8")
    assert len(page_of(Seed()).examples) == 2
    printed = page(Seed())
    assert "The seed is set." in printed
    assert "### Reported: it is: so" in printed
    assert "kept" not in printed


def test_windows_line_ends_are_line_ends(file: Path) -> None:
    file.write_text(PAGE, encoding="utf-8", newline="\r\n")
    assert read_page(Seed) == parse_page(PAGE, file, TITLE)


def test_examples_of_the_class_come_with_its_docstring(file: Path) -> None:
    file.write_text("# Something else\n", encoding="utf-8")
    assert page_of(Shown()) == Page("The seed is set where it is shown.", Shown.examples)


def test_a_rule_without_a_file_has_its_docstring(file: Path) -> None:
    assert not file.exists()
    assert page_of(Seed()) == Page("A rule whose page is a file.")


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"# Something else\n", "1: the first line is not"), (b"# \xff\n", " not UTF-8: byte 2")],
)
def test_a_file_that_is_no_page_is_one_warning(file: Path, data: bytes, message: str) -> None:
    file.write_bytes(data)
    with pytest.warns(RuntimeWarning, match=f"{file}:{message}.*; its docstring is shown instead"):
        assert page_of(Seed()) == Page("A rule whose page is a file.")
    with pytest.raises(PageError):
        read_page(Seed)


def test_every_page_of_a_built_in_rule_has_all_parts() -> None:
    for rule in known_rules():
        told = page_of(rule)
        wanted = ["What it does", "Why it hurts", "Fix safety", "When to leave it"]
        if fix_kinds(rule) == "none" or "\n## What to do instead\n" in told.text:
            wanted.insert(3, "What to do instead")
        found = [line[3:] for line in told.text.splitlines() if line.startswith("## ")]
        assert [name for name in found if name != "References"] == wanted, rule.code


def test_every_built_in_rule_is_a_file_with_references_and_examples() -> None:
    for rule in map(type, load_rules()):
        path = page_file(rule)
        assert path is not None
        assert path.is_file(), rule
        told = read_page(rule)
        assert "\n## References\n" in told.text, path
        assert told.examples, path


def test_a_summary_begins_with_a_capital_or_code_and_ends_without_a_full_stop() -> None:
    for rule in load_rules():
        assert re.match(r"[A-Z`]", rule.summary), rule.summary
        assert not rule.summary.endswith("."), rule.summary


def test_a_built_in_rule_says_on_its_class_what_its_page_says_first() -> None:
    for rule in load_rules():
        told = " ".join(read_page(type(rule)).text.split())
        assert told.startswith(str(type(rule).__doc__)), rule.code


def test_every_page_belongs_to_a_rule(repository: Path) -> None:
    used = {path.resolve() for rule in load_rules() if (path := page_file(type(rule)))}
    assert used == {path.resolve() for path in (repository / "rules").rglob("*.md")}


def test_a_check_reads_no_page(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch\n", encoding="utf-8")
    script = (
        "import sys\n"
        "sys.addaudithook(lambda event, arguments: print(arguments[0])\n"
        "    if event == 'open' and str(arguments[0]).endswith('.md') else None)\n"
        "from tclint.cli import main\n"
        "sys.argv = ['tclint', 'check', '--no-cache', '-q', 'net.py']\n"
        "try:\n    main()\n"
        "finally:\n    print('tclint.lint.pages' in sys.modules)\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False\n", "")
