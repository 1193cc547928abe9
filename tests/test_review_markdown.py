import pytest

from tclint.review.markdown import block, code, link, prose


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("Use `range` here", "Use `range` here"),
        ("`a_b` and c_d*e", r"`a_b` and c\_d\*e"),
        ("a <b> & [c](d)", r"a &lt;b&gt; &amp; \[c\](d)"),
        ("@torch.compile", "@\u200btorch.compile"),
        ("see #12", "see \\#\u200b12"),
        ("http://evil.example", "http://\u200bevil.example"),
        ("- 1. max-autotune", r"\- 1. max-autotune"),
        ("1. one", r"1\. one"),
        ("two\n\nlines", "two lines"),
        ("one ` tick", r"one \` tick"),
        ("<!-- x -->", r"&lt;\!-- x --&gt;"),
        ("`@torch.compile` <x>", "`@torch.compile` &lt;x&gt;"),
    ],
)
def test_prose_takes_everything_but_code_literally(text: str, markdown: str) -> None:
    assert prose(text) == markdown


@pytest.mark.parametrize(
    ("text", "markdown"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a`", "`` `a` ``"), ("a\nb", "`a b`")],
)
def test_a_code_span_holds_backticks(text: str, markdown: str) -> None:
    assert code(text) == markdown


def test_a_block_is_fenced_with_more_backticks_than_it_holds() -> None:
    assert block("suggestion", ["a"]) == "```suggestion\na\n```"
    assert block("suggestion", ["s = '```'"]) == "````suggestion\ns = '```'\n````"
    assert block("suggestion", []) == "```suggestion\n```"


def test_a_link_has_its_text_escaped() -> None:
    assert link("a]b", "https://example.org/a") == r"[a\]b](<https://example.org/a>)"
