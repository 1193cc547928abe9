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

_GROUPS = Bad(
    code=program('SGD([{"params": [model.weight], "lr": 0.25}, {"params": [model.bias]}], lr=0.5)'),
    unsafe=program(
        'SGD(\n    [{"params": [model.weight], "lr": torch.tensor(0.25)}, '
        '{"params": [model.bias]}],\n    lr=torch.tensor(0.5),\n)'
    ),
    inputs=STEPS,
    proves=("recompile",),
    title="parameter groups",
)


def _held(before: str, given: str = "groups", rate: str = "0.5") -> str:
    """The groups in variables."""
    text = program(f"SGD({given}, lr={rate})")
    return text.replace("optimizer =", f"{before}\noptimizer =", 1)


def _grouped(title: str, before: str, given: str = "groups") -> Bad:
    """Groups whose learning rates, in double brackets, become tensors."""
    fixed = before.replace("[[", "torch.tensor(").replace("]]", ")")
    return Bad(
        code=_held(before.replace("[[", "").replace("]]", ""), given),
        unsafe=_held(fixed, given, "torch.tensor(0.5)"),
        inputs=STEPS,
        proves=("recompile",),
        title=title,
    )


_WEIGHT, _BIAS = '{"params": [model.weight], "lr": [[0.25]]}', '{"params": [model.bias]}'
_HELD = _grouped(
    "groups in a variable",
    f"groups = [{_WEIGHT}]\ngroups.append(dict(params=model.bias, lr=[[0.1]]))",
)
_NAMED = _grouped(
    "each group in a variable", f"first = {_WEIGHT}\nsecond = {_BIAS}", "[first, second]"
)
_LISTED = _grouped(
    "a group for each parameter",
    'groups = [{"params": p, "lr": [[0.25]]} for p in model.parameters()]',
)
_READ_TWICE = Untouched(
    code=_held(
        f'groups = [{_BIAS}, {{"params": [model.weight], "lr": 0.2}}]\ngroups[0]["lr"] = 0.1'
    ),
    reason="`groups` is read elsewhere too",
    inputs=STEPS,
    proves=("recompile",),
    title="groups that are set elsewhere",
)
GROUPED = (_GROUPS, _HELD, _NAMED, _LISTED, _READ_TWICE)
ONE_CYCLE = Untouched(
    code=program(
        "AdamW(model.parameters(), lr=0.1)", "OneCycleLR(optimizer, max_lr=0.1, total_steps=20)"
    ),
    reason="`OneCycleLR` writes floats",
    inputs=STEPS,
    proves=("recompile",),
    title="a scheduler that writes floats",
)
_WRITING = program(
    "SGD(model.parameters(), lr=0.5)", change='optimizer.param_groups[0]["lr"] = 0.25'
).replace(f"scheduler = torch.optim.lr_scheduler.{EXPONENTIAL}\n", "")
WRITTEN = Bad(
    code=_WRITING,
    unsafe=_WRITING.replace("lr=0.5", "lr=torch.tensor(0.5)").replace(
        '["lr"] = 0.25', '["lr"].fill_(0.25)'
    ),
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
