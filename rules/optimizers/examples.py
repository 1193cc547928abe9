"""Training programs that the rules about optimizers are shown and proved with."""

from __future__ import annotations

from tclint.lint.rule import Bad, Untouched

PROGRAM = """\
model = nn.Linear(3, 3)
optimizer = torch.optim.{optimizer}
scheduler = torch.optim.lr_scheduler.{scheduler}


{compiled}def update():
    optimizer.step()


def f(x):
    model(x).sum().backward()
    update()
    {change}
    return model.weight.detach()
"""
EXPONENTIAL = "ExponentialLR(optimizer, gamma=0.5)"
STEPS = "[(torch.ones(4, 3),)] * 3"


def program(
    optimizer: str,
    scheduler: str = EXPONENTIAL,
    change: str = "scheduler.step()",
    compiled: str = "@torch.compile\n",
) -> str:
    """A training program in which one thing is as the example needs it."""
    return PROGRAM.format(
        optimizer=optimizer, scheduler=scheduler, change=change, compiled=compiled
    )


FLOAT = program("SGD(model.parameters(), lr=0.5)")
TENSOR = program("SGD(model.parameters(), lr=torch.tensor(0.5))")
EAGER = program("SGD(model.parameters(), lr=0.5)", compiled="").replace(
    "def f(x):\n    model(x)",
    "def f(x):\n    return torch.relu(x)\n\n\ndef train(x):\n    model(f(x))",
)

_GROUPED = (
    'SGD([{{"params": [model.weight], "lr": {one}}}, {{"params": [model.bias]}}], lr={other})'
)
GROUPS = Bad(
    code=program(_GROUPED.format(one="0.25", other="0.5")),
    unsafe=program(_GROUPED.format(one="torch.tensor(0.25)", other="torch.tensor(0.5)")),
    inputs=STEPS,
    proves=("recompile",),
    title="parameter groups",
)
ONE_CYCLE = Untouched(
    code=program(
        "AdamW(model.parameters(), lr=0.1)", "OneCycleLR(optimizer, max_lr=0.1, total_steps=20)"
    ),
    reason="`OneCycleLR` writes floats",
    inputs=STEPS,
    proves=("recompile",),
    title="a scheduler that writes floats",
)
WRITTEN = Untouched(
    code=program(
        "SGD(model.parameters(), lr=0.5)", change='optimizer.param_groups[0]["lr"] = 0.05'
    ).replace(f"scheduler = torch.optim.lr_scheduler.{EXPONENTIAL}\n", ""),
    reason="would undo it",
    inputs=STEPS,
    proves=("recompile",),
    title="a write to the parameter groups",
)
ADAM_FOREACH = Untouched(
    code=program("Adam(model.parameters(), lr=0.1, foreach=True)"),
    reason="needs `capturable=True`",
    inputs=STEPS,
    proves=("recompile",),
    title="foreach without capturable",
)
DEFAULT_RATE = Untouched(
    code=program("Adam(model.parameters())"),
    reason="write it out first",
    inputs=STEPS,
    proves=("recompile",),
    title="the default learning rate",
)
