"""``tclint rule`` and ``tclint config``."""

from __future__ import annotations

import json
from pathlib import Path

from tclint.config import describe_keys
from tclint.diagnostics import Effect
from tclint.lint.registry import known_rules
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.report.page import page
from tclint.semantics.events import Call
from tests.test_cli_check import project, tclint

__all__ = ["project"]


class Sample(Rule[Call]):
    """Something happens in compiled code.

    ## What it does
    Reports it.
    """

    code = "ABC101"
    name = "sample-in-region"
    summary = "Something happens in compiled code"
    on = Call
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007",)
    examples = (
        Bad("\ndef f(x):\n    return g(x)\n", fixed="def f(x):\n    return x\n", title="a call"),
        Good("def f(x):\n    return x\n"),
        Untouched("def f(x): ...", reason="it is used"),
    )

    def check(self, event: Call) -> Finding | None:
        return None


def test_a_page_is_the_docstring_and_the_examples() -> None:
    assert (
        page(Sample())
        == """\
# sample-in-region (ABC101)

Something happens in compiled code.

- Effect: graph-break
- Worth: medium: not measured, estimated from its effect
- Graph breaks: [GB0007](https://meta-pytorch.org/compile-graph-break-site/gb/gb0007.html)
- Fix: safe
- Torch: any release, as known up to 2.15
- Silence it: `# tclint: ignore[ABC101]` on the line

## What it does
Reports it.

## Examples

### Reported: a call

```python
def f(x):
    return g(x)
```

`tclint fix` changes:

```diff
 def f(x):
-    return g(x)
+    return x
```

### Not reported

```python
def f(x):
    return x
```

### Reported, not fixed

```python
def f(x): ...
```

Why there is no fix: it is used.
"""
    )


def test_rules_are_explained_by_code_and_by_name(project: Path) -> None:
    rule = known_rules()[0]
    by_code = tclint("rule", rule.code.lower(), cwd=project)
    assert by_code.returncode == 0
    assert by_code.stdout == page(rule)
    assert tclint("rule", rule.name, cwd=project).stdout == by_code.stdout


def test_a_rule_is_found_by_a_name_that_it_had_before(project: Path) -> None:
    assert tclint("rule", "scaler-waits", cwd=project).stdout.startswith("# grad-scaler-sync")


def test_all_rules_as_json(project: Path) -> None:
    objects = json.loads(tclint("rule", "--all", "--output-format=json", cwd=project).stdout)
    assert [item["code"] for item in objects] == [rule.code for rule in known_rules()]
    single = json.loads(
        tclint("rule", objects[0]["code"], "--output-format=json", cwd=project).stdout
    )
    assert single == objects[0]


def test_without_a_code_the_rules_are_listed(project: Path) -> None:
    lines = tclint("rule", cwd=project).stdout.splitlines()
    assert len(lines) == len(known_rules())
    assert lines[0].startswith(known_rules()[0].code)


def test_a_misspelled_code_gets_a_hint(project: Path) -> None:
    code = known_rules()[0].code
    done = tclint("rule", code[:-1], cwd=project)
    assert done.returncode == 2
    assert code in done.stderr


def test_keys_are_explained(project: Path) -> None:
    done = tclint("config", "scope", cwd=project)
    assert 'Type: "compiled" | "modules" | "all"\nDefault: "modules"\n' in done.stdout
    assert len(tclint("config", cwd=project).stdout.splitlines()) == len(describe_keys())
