"""Training loops that the rules about the step are shown and proved with."""

from __future__ import annotations

LOOP = """\
model = nn.Linear(3, 3)
optimizer = torch.optim.{optimizer}


def f(x):
    total = 0.0
    for _ in range(3):
        {zero}
        loss = model(x).square().mean()
        loss.backward()
        {before}
        {step}
        {after}
    return total
"""


def loop(
    *,
    optimizer: str = "SGD(model.parameters(), lr=0.1)",
    zero: str = "optimizer.zero_grad()",
    before: str = "pass",
    step: str = "optimizer.step()",
    after: str = "pass",
) -> str:
    """A training loop in which one thing is as the example needs it."""
    text = LOOP.format(optimizer=optimizer, zero=zero, before=before, step=step, after=after)
    return text.replace("        pass\n", "")
