"""Check the built site: ``python -m scripts.site_check [site]`` counts what is broken.

Links that lead nowhere, also to a place within a page; pages that need a server elsewhere; pages
of rules without a part that each must have; and messages of findings that are too long for a line.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tclint.lint.registry import load_rules
from tclint.lint.rule import Good
from tclint.testing import examples_of, findings

LONGEST_MESSAGE = 120
PARTS = ("what-it-does", "why-it-hurts", "fix-safety", "when-to-leave-it", "examples")
_NO_EXAMPLES = {"TCL001"}
"""Rules of which an example is no Python."""


class Page(HTMLParser):
    """The links of a page, what it loads, and the places that links may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the attributes that matter."""
        given = {name: value or "" for name, value in attrs}
        self.places.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") in {"stylesheet", "icon"}:
            self.loaded.append(given["href"])


def broken(site: Path) -> Iterator[str]:
    """Each link that leads nowhere, and each thing that is loaded from elsewhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        if path.name == "404.html":  # its links hold for the address that the site will have
            continue
        name = path.relative_to(site).as_posix()
        yield from (f"{name}: loads {one}" for one in page.loaded if urlsplit(one).netloc)
        for link in {*page.links, *page.loaded}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                yield f"{name}: {link} leads nowhere"
            elif (page_there := pages.get(target)) and parts.fragment:
                if unquote(parts.fragment) in page_there.places:
                    continue
                yield f"{name}: {link} leads to no place of that page"


def incomplete(site: Path) -> Iterator[str]:
    """Each part that the page of a rule lacks."""
    for path in sorted(site.glob("rules/*/index.html")):
        code, page = path.parent.name, Page(path.read_text(encoding="utf-8"))
        for part in PARTS:
            if part not in page.places and not (part == "examples" and code in _NO_EXAMPLES):
                yield f"{code}: no part {part}"


def long_messages() -> Iterator[str]:
    """Each message of an example that is too long."""
    with tempfile.TemporaryDirectory() as name:
        for rule in load_rules():
            for number, example in enumerate(examples_of(rule)):
                if isinstance(example, Good):
                    continue
                folder = Path(name, rule.code, str(number))
                folder.mkdir(parents=True)
                for found in findings(rule, example.code, folder, example.torch):
                    if len(found.message) > LONGEST_MESSAGE:
                        yield f"{found.code}: {len(found.message)} characters: {found.message}"


def main() -> int:
    """Print what is wrong, and how much of each kind."""
    site = Path(*sys.argv[1:2] or ["site"]).resolve()
    counts = []
    for what, found in (
        ("broken links", broken(site)),
        ("missing parts of rule pages", incomplete(site)),
        (f"messages over {LONGEST_MESSAGE} characters", long_messages()),
    ):
        problems = [*found]
        counts.append(f"{len(problems)} {what}")
        for problem in problems:
            sys.stderr.write(f"{problem}\n")
    print(", ".join(counts))
    return any(not count.startswith("0 ") for count in counts)


if __name__ == "__main__":
    sys.exit(main())
