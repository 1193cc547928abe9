"""Write the documentation's generated pages: ``python -m scripts.docs [--check]``.

The rules' classes, the table of configuration keys and the commands' signatures are their only
sources. With ``--check`` nothing is written, and the exit code is 1 if a page is out of date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from scripts.docs_commands import commands_page
from scripts.docs_guide import guide_page
from scripts.docs_rules import rules_table
from tclint.config import Key, describe_keys, json_schema
from tclint.lint.registry import known_rules
from tclint.report.keys import default_text
from tclint.report.page import page

ROOT = Path(__file__).resolve().parent.parent
RULE_PAGES = ROOT / "docs" / "rules"


def pages() -> dict[Path, str]:
    """Every generated file with its text."""
    rules = known_rules()
    return {
        **{RULE_PAGES / f"{rule.code}.md": page(rule) for rule in rules},
        ROOT / "docs" / "rules.md": rules_table(rules),
        ROOT / "docs" / "why-did-it-break.md": guide_page(rules),
        ROOT / "docs" / "configuration.md": configuration_page(),
        ROOT / "docs" / "cli.md": commands_page(),
        ROOT / "schema" / "tclint.schema.json": json.dumps(json_schema(), indent=2) + "\n",
    }


def configuration_page() -> str:
    """All keys, in the order in which they are declared."""
    head = """\
# Configuration

Each file uses exactly one configuration: the `tclint.toml`, or the table `[tool.tclint]` of
`pyproject.toml`, in the nearest folder upwards from it. To add to a configuration further up,
write `extend = "../tclint.toml"`. tclint treats the files of each configuration as one program and
follows calls from file to file. `tclint config KEY` prints the texts below,
`--config 'KEY = VALUE'` sets a key for one run, and
`schema/tclint.schema.json` describes the file to editors.

```toml
[tool.tclint]  # in tclint.toml the same without this line
target-torch = "2.13"
compiled = ["package.model:Net"]
ignore = ["TCL301"]
per-file-ignores = { "tests/**" = ["TCL3"] }
```
"""
    return "\n".join([head, *(_key_section(key) for key in describe_keys())])


def stale(wanted: Mapping[Path, str]) -> list[Path]:
    """The files whose content is not what it should be, and pages of rules that are gone."""
    changed = [path for path, text in wanted.items() if _content(path) != text]
    return changed + _leftovers(wanted)


def write(wanted: Mapping[Path, str]) -> None:
    """Bring all files up to date."""
    for path in _leftovers(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _key_section(key: Key) -> str:
    return f"""\
## `{key.name}`

{key.doc}

- Type: {key.type}
- Default: `{default_text(key)}`
"""


def _leftovers(wanted: Mapping[Path, str]) -> list[Path]:
    return [path for path in sorted(RULE_PAGES.glob("*.md")) if path not in wanted]


def _content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def main() -> int:
    """Write the pages, or say which ones are out of date."""
    wanted = pages()
    if "--check" not in sys.argv[1:]:
        write(wanted)
        return 0
    old = stale(wanted)
    for path in old:
        sys.stderr.write(f"out of date: {path.relative_to(ROOT)}; run `make docs`\n")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
