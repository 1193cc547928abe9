"""What functions, tensor methods and tensor attributes give, by torch's own stubs."""

from __future__ import annotations

from tclint.torch_facts.table import canonical, section


def function_returns(dotted: str) -> str | None:
    """What a function of torch returns; None when the tables do not know it."""
    name = canonical(dotted)
    if name.startswith("torch.Tensor."):
        return method_returns(name.removeprefix("torch.Tensor."))
    code: str | None = section("functions").get(name)
    return code


def method_returns(name: str) -> str | None:
    """What a method of ``torch.Tensor`` returns, all overloads together."""
    code: str | None = section("methods").get(name)
    return code


def attribute_kind(name: str) -> str | None:
    """What an attribute of ``torch.Tensor`` holds."""
    code: str | None = section("attributes").get(name)
    return code
