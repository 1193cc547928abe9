"""Programs that would show a recorder that is not careful: each prints all that it can see."""

from __future__ import annotations

SETTING = """
import atexit, collections, gc, hashlib, io, logging, logging.config, os, random, sys, threading
import time, traceback, warnings, weakref
import numpy, torch
import torch._dynamo
from torch._dynamo.utils import counters

torch.manual_seed(1)
random.seed(1)
numpy.random.seed(1)
torch.set_num_threads(1)
graphs = []

def backend(graph, inputs):
    graphs.append([str(node.target) for node in graph.graph.nodes])
    return graph.forward

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(), torch.nn.Linear(4, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)

def batch(i=0):
    return torch.rand(2 + i % 2, 4)

def loss_of(x, model=model):
    return model(x).square().mean()

def step(x, model=model):
    optimizer.zero_grad()
    loss = loss_of(x, model)
    loss.backward()
    optimizer.step()
    return loss

def state():
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict(), torch.get_rng_state()], file)
    drawn = random.random(), numpy.random.rand(), torch.rand(1)
    return hashlib.sha256(file.getvalue()).hexdigest(), drawn

def done(name):
    names = sorted(name for name in os.environ if "TCLINT" not in name and name != "PYTHONPATH")
    # What Dynamo looks at and leaves as it is may be a frame more or less.
    told = {kind: dict(counts) for kind, counts in counters.items() if kind != "frames"}
    print(name, state(), graphs, told, names)
    threads = [one.name for one in threading.enumerate() if "Queue" not in one.name]
    print(len(warnings.filters), warnings.showwarning, threads, sys.gettrace())

def leave():
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)

STEPS = 50
"""

ATTACKS = {
    "eager": "print([step(batch()).item().hex() for _ in range(STEPS)])",
    "breaks and recompiles": """
compiled = torch.compile(lambda x: (model(x), print(end=""))[0].square().mean(), backend=backend)
for i in range(STEPS):
    optimizer.zero_grad(); compiled(batch(i)).backward(); optimizer.step()
    if i == 20:
        torch._dynamo.reset()
""",
    "a compiled optimizer": """
fast = torch.compile(optimizer.step, backend=backend)
for i in range(STEPS):
    optimizer.zero_grad(); loss_of(batch()).backward(); fast()
""",
    "a compiled step": """
whole = torch.compile(step, backend=backend)
for i in range(STEPS):
    whole(batch())
""",
    "a compiled step that breaks in the optimizer": """
class Odd(torch.optim.SGD):
    @torch._dynamo.disable
    def aside(self):
        pass
    def step(self, closure=None):
        self.aside()
        return super().step()
optimizer = Odd(model.parameters(), lr=0.1)
whole = torch.compile(step, backend=backend)
for i in range(STEPS):
    whole(batch())
""",
    "compiled autograd": """
with torch._dynamo.config.patch(compiled_autograd=True):
    whole = torch.compile(loss_of, backend=backend)
    for i in range(STEPS):
        optimizer.zero_grad(); whole(batch()).backward(); optimizer.step()
""",
    "warnings are errors": """
warnings.simplefilter("error")
for i in range(STEPS):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error" if i % 2 else "always")
        step(batch())
    assert not caught
""",
    "logging is off": """
logging.disable(logging.CRITICAL)
logging.config.dictConfig({"version": 1, "disable_existing_loggers": True})
for i in range(STEPS):
    step(batch(i), torch.compile(model, backend=backend))
""",
    "its own handlers": """
class Mine(logging.Handler):
    def emit(self, record):
        said[record.name, record.funcName, record.lineno, record.levelname] += 1
said = collections.Counter()
for name in ("torch", "torch.__trace", "torch._inductor.cudagraph_utils.__cudagraphs"):
    logging.getLogger(name).addHandler(Mine())
for i in range(STEPS):
    step(batch(i), torch.compile(model, backend=backend))
logging.getLogger("torch._inductor.cudagraph_utils.__cudagraphs").warning("skipping %s", 1)
print(said)
""",
    "modes that hear of every operation": """
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
class Dispatch(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        said[str(function)] += 1
        return function(*args, **(kwargs or {}))
class Function(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        said[str(function)] += 1
        return function(*args, **(kwargs or {}))
said = collections.Counter()
for mode in (Dispatch, Function):
    with mode():
        for i in range(STEPS):
            step(batch())
torch.set_default_device("meta")
for i in range(STEPS):
    step(torch.ones(2, 4, device="cpu"))
torch.set_default_device("cpu")
print(sorted(said.items()))
""",
    "its own profiler": """
from torch.profiler import ProfilerActivity, profile
for begin in (0, 34):
    for i in range(begin):
        step(batch())
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for i in range(STEPS):
            step(batch())
    # Its averages of the same take a hundred times as long.
    heard = collections.Counter(event.name() for event in profiler.profiler.kineto_results.events())
    print(sorted(heard.items()))
""",
    "backward fails": """
class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("no")
for i in range(STEPS):
    try:
        Fails.apply(loss_of(batch())).backward()
    except ValueError:
        text = traceback.format_exc()
    try:
        model(batch()).backward()
    except RuntimeError:
        text += traceback.format_exc()
print(text)
print(torch.autograd.graph._engine_run_backward.__code__.co_firstlineno)
""",
    "what is let go": """
class Held:
    pass
freed = []
def stepped(i):
    held, loss = Held(), step(batch())
    weakref.finalize(loss, freed.append, ("loss", i))
    # A node has no weak references: what it holds goes when it does.
    loss.grad_fn.metadata["held"] = held
    weakref.finalize(held, freed.append, ("node", i))
for i in range(STEPS):
    stepped(i)
    print(len(freed), end=" ")
print(freed)
""",
    "a loop in a thread": """
def loop():
    for i in range(STEPS):
        step(batch())
thread = threading.Thread(target=loop)
thread.start(); thread.join()
""",
    "numbers": "print(sum(float(step(batch())) for i in range(STEPS)))",
    "odd losses": """
for i in range(STEPS):
    optimizer.zero_grad()
    out = model(batch())
    torch.autograd.backward([out.sum(), out.mean()])
    model(batch()).backward(torch.ones(2, 4))
    model(batch()).double().sum().backward()
    model(batch()).to(torch.complex64).real.sum().backward(create_graph=i == 3)
    torch.autograd.grad(loss_of(batch()), list(model.parameters()))
    torch.func.grad(lambda x: model(x).sum())(batch())
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x + 0, lambda x: x):
        loss_of(batch()).backward()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = loss_of(batch())
    loss.backward()
    optimizer.step()
""",
    "deterministic": """
torch.use_deterministic_algorithms(True)
for i in range(STEPS):
    step(batch())
""",
    "data workers": """
data = torch.utils.data.TensorDataset(torch.rand(60, 4))
for x, in torch.utils.data.DataLoader(data, num_workers=2):
    step(x)
""",
    "two threads": """
def loop():
    mine = torch.nn.Linear(4, 4)
    for i in range(STEPS):
        mine(torch.ones(2, 4)).sum().backward()
        torch.optim.SGD(mine.parameters(), lr=0.1).step()
thread = threading.Thread(target=loop)
thread.start(); thread.join(); loop()
""",
}
"""By what each tries; all but the loop ends with ``done``."""


LATE = "a compiled optimizer"
"""The first of them to import much of torch, as programs do that compile; later ones have it."""


def program() -> str:
    """All of them, each in a process of its own that has torch already.

    What they share is frozen: each would look through it for garbage when it ends, for a second.
    They end as Python does, but for taking all modules apart, which takes a quarter of a second in
    each; the process that they are copies of ends whole.
    """
    parts = [SETTING, "gc.freeze()"]
    for name, text in ATTACKS.items():
        parts.append(
            "if os.fork() == 0:\n    random.seed(1)\n"
            f"    exec({text!r})\n    done({name!r})\n    leave()\n"
        )
        parts.append("sys.stdout.flush()\nprint(os.wait()[1], flush=True)")
        if name == LATE:
            parts.append("import torch._inductor.cudagraph_trees\ngc.freeze()")
    return "\n".join(parts)
