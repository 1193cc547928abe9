"""What a step reads before its backward pass: which reads wait for the device, and how often."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

STEP = """\
import math
import torch


def train(model, criterion, optimizer, batches, device, log, every):
    total = 0.0
    for i, (x, y) in enumerate(batches):
        x, y = x.to(device), y.to(device)
        output = model(x)
        loss = criterion(output, y)
        {read}
        loss.backward()
        optimizer.step()
"""


def found(tmp_path: Path, source: str, code: str = "TCL335") -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(source, encoding="utf-8")
    config = Config(tmp_path, select=(code,), weak=True)
    run = check_files([path], config)
    return [result.diagnostic.message.split("`")[1] for result in run.results]


WAITS = {
    "total += loss.item()": "loss.item()",
    "total += float(loss)": "float(loss)",
    "kept = loss.detach().cpu().numpy()": "loss.detach().cpu().numpy()",
    "if not torch.isfinite(loss): raise ValueError": "torch.isfinite(loss)",
    "if torch.isnan(loss).any(): continue": "torch.isnan(loss)",
    "assert not torch.isnan(loss)": "torch.isnan(loss)",
    "if loss > 100: break": "loss > 100",
    "right = (output.argmax(1) == y).sum().item()": "(output.argmax(1) == y).sum().item()",
    "best = output.max(1)[1]; right = best.eq(y).cpu()": "best.eq(y).cpu()",
    "if math.isnan(loss.item()): break": "loss.item()",
    "a, b = loss.item(), output.mean().item()": "loss.item()",
    "if torch.isnan(output).any(): continue": "torch.isnan(output)",
    "print(i, loss)": "print(i, loss)",
    'log.info(f"{i}: {loss:.3f}")': 'f"{i}: {loss:.3f}"',
    'text = "loss %.3f" % loss': '"loss %.3f" % loss',
    'text = "{} {:.3f}".format(i, loss)': '"{} {:.3f}".format(i, loss)',
    "log.set_postfix(loss=loss)": "log.set_postfix(loss=loss)",
    'log.add_scalar("loss", loss.detach(), i)': 'log.add_scalar("loss", loss.detach(), i)',
}
GOES_ON = {
    "of a size": "n = float(x.size(0)) + output.shape[0]",
    "of a batch on the host": "n = y.max().item()",
    "of lengths": "n = encode_lengths(y); loss = loss / n; k = n.sum().item()",
    "of what is no tensor": "n = log.item()",
    "kept on the device": "total += loss.detach()",
    "a test that nobody asks": "bad = torch.isnan(loss)",
    "sometimes": "if i % every == 0: print(loss.item())",
    "sometimes, and in one expression": "i % every == 0 and print(loss.item())",
    "whether there is a loss": "if loss is None: continue",
    "a text of other things": 'print(f"{i} {output.shape} {every}")',
    "a size that is shown": "print(loss.shape, loss.dtype)",
    "a remainder": "k = i % every",
    "shown sometimes": 'if i % every == 0: print(f"{loss:.3f}")',
    "kept for later": "log.append(loss.detach())",
}


@pytest.mark.parametrize(("read", "told"), WAITS.items(), ids=WAITS)
def test_the_first_read_is_reported(read: str, told: str, tmp_path: Path) -> None:
    assert found(tmp_path, STEP.format(read=read)) == [told]


@pytest.mark.parametrize("read", GOES_ON.values(), ids=GOES_ON)
def test_what_does_not_wait_each_step_is_left_alone(read: str, tmp_path: Path) -> None:
    assert found(tmp_path, STEP.format(read=read)) == []


def test_a_read_after_the_step_is_another_rule_s(tmp_path: Path) -> None:
    source = STEP.format(read="pass") + "        total += loss.item()\n"
    assert found(tmp_path, source) == []
    assert found(tmp_path, source, "TCL511") == ["loss.item()"]


def test_a_read_is_reported_once(tmp_path: Path) -> None:
    source = STEP.format(read="total += loss.item()")
    assert found(tmp_path, source, "TCL511") == []


def test_what_stands_behind_a_guard_is_done_sometimes(tmp_path: Path) -> None:
    tail = "        if i % every: continue\n        total += loss.item()\n"
    assert found(tmp_path, STEP.format(read="pass") + tail, "TCL511") == []


def test_a_program_without_a_device_has_nothing_to_wait_for(tmp_path: Path) -> None:
    source = STEP.format(read="total += loss.item()").replace(".to(device)", "")
    assert found(tmp_path, source.replace(" device,", "")) == []


ELSEWHERE = {
    "micro steps": """\
def train(model, optimizer, batches, device):
    while True:
        for _ in range(4):
            loss = model(next(batches).to(device))
            print(loss.item())
            loss.backward()
        optimizer.step()
""",
    "a step as a function": """\
def train_step(model, optimizer, x, device):
    loss = model(x.to(device))
    print(loss.item())
    loss.backward()
    optimizer.step()
""",
    "a framework's step": """\
class Net:
    def training_step(self, batch):
        loss = self(batch.to(self.device))
        print(loss.item())
        self.manual_backward(loss)
        self.optimizers().step()
""",
    "a program without functions": """\
while True:
    loss = model(batch.to(device))
    print(loss.item())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
""",
    "a scaler that does it all": """\
for x in batches:
    loss = model(x.to(device))
    print(loss.item())
    loss_scaler(loss, optimizer, parameters=model.parameters())
""",
}


@pytest.mark.parametrize("source", ELSEWHERE.values(), ids=ELSEWHERE)
def test_steps_are_seen_wherever_they_are(source: str, tmp_path: Path) -> None:
    assert found(tmp_path, source) == ["loss.item()"]


RETURNED = """\
class Net({base}):
    def {step}(self, model, batch, **kwargs):
        output = model(batch.to(self.device))
        loss = output.square().mean()
        {read}
        return {given}
"""


@pytest.mark.parametrize(
    ("base", "step", "given"),
    [
        ("LightningModule", "training_step", "loss"),
        ("LightningModule", "training_step", '{"loss": loss, "output": output}'),
        ("Trainer", "compute_loss", "(loss, output) if kwargs else loss"),
        ("transformers.Seq2SeqTrainer", "compute_loss", "loss"),
    ],
)
def test_a_framework_runs_backward_behind_its_step(
    base: str, step: str, given: str, tmp_path: Path
) -> None:
    read = 'self.log("loss", loss.item())'
    source = RETURNED.format(base=base, step=step, given=given, read=read)
    assert found(tmp_path, source) == ["loss.item()"]


@pytest.mark.parametrize(
    ("base", "step", "read"),
    [
        ("LightningModule", "training_step", 'self.log("loss", loss)'),
        ("LightningModule", "validation_step", 'self.log("loss", loss.item())'),
        ("YoloLoss", "compute_loss", "print(loss.item())"),
        ("LightningModule", "training_step", "if self.step % 9 == 0: print(loss.item())"),
        ("LightningModule", "training_step", "n = batch.max().item()"),
    ],
)
def test_what_a_framework_s_step_leaves_on_the_device_is_left_alone(
    base: str, step: str, read: str, tmp_path: Path
) -> None:
    source = RETURNED.format(base=base, step=step, given="loss", read=read)
    assert found(tmp_path, source) == []


def test_a_statement_that_hands_a_number_on_moves_behind_the_step(tmp_path: Path) -> None:
    for read in ("losses.append(loss.item())", "print(loss)", "meter.update(loss.item(), len(x))"):
        fixed = moved(tmp_path, STEP.format(read=read))
        assert fixed.index("optimizer.step()") < fixed.index(read)


def test_what_moves_leaves_no_gap_above_a_statement_that_gets_it(tmp_path: Path) -> None:
    source = STEP.format(read="\n        total += loss.item()\n")
    step = "        loss.backward()\n        optimizer.step()\n"
    together = "        if i:\n            loss.backward()\n            optimizer.step()\n"
    fixed = moved(tmp_path, source.replace(step, together))
    assert "loss = criterion(output, y)\n\n        if i:" in fixed
    assert fixed.endswith("            optimizer.step()\n        total += loss.item()\n")


@pytest.mark.parametrize(
    "read",
    [
        "losses.append(loss.item())\n        loss = loss + len(losses)",
        "print(loss)\n        loss = loss / 2",
        "every(loss.item())",
        "self.losses.append(loss.item())",
        "log[i] = loss.item()",
    ],
)
def test_a_statement_that_is_needed_before_the_step_stays(read: str, tmp_path: Path) -> None:
    source = STEP.format(read=read)
    assert moved(tmp_path, source) == source


def moved(tmp_path: Path, source: str) -> str:
    """What `tclint fix --unsafe-fixes` makes of a step."""
    path = tmp_path / "train.py"
    path.write_text(source, encoding="utf-8")
    config = Config(tmp_path, select=("TCL335",))
    changed = fix_files([path], config, unsafe=True).changed
    return changed[0].after if changed else source


EITHER_WAY = """\
import torch


def train(model, criterion, optimizer, batches, device, spread):
    for x, y in batches:
        loss = criterion(model(x.to(device)), y.to(device))
        if spread:
            shown = reduced(loss.data).item()
        {otherwise}
        loss.backward()
        optimizer.step()
"""


def test_a_read_in_each_of_two_branches_happens_every_time(tmp_path: Path) -> None:
    both = EITHER_WAY.format(otherwise="else: shown = loss.item()")
    assert found(tmp_path, both) == ["reduced(loss.data).item()"]
    assert found(tmp_path, EITHER_WAY.format(otherwise="else: shown = 0.0")) == []
    assert found(tmp_path, EITHER_WAY.format(otherwise="pass")) == []


OF_A_POLICY = """\
import torch


def train(agent, optimizer, batches, device):
    for x, y, before in batches:
        _, logprob, entropy = agent.get_action_and_value(x.to(device))
        ratio = (logprob - before).exp()
        part = torch.max(-y * ratio, -y * ratio.clamp(0.8, 1.2))
        {read}
        loss = part.mean() - entropy.mean()
        loss.backward()
        optimizer.step()
"""


def test_what_a_loss_is_computed_from_far_back_is_an_output(tmp_path: Path) -> None:
    read = "shares = [((ratio - 1).abs() > 0.2).float().mean().item()]"
    assert len(found(tmp_path, OF_A_POLICY.format(read=read))) == 1
    assert found(tmp_path, OF_A_POLICY.format(read="n = y.max().item()")) == []


IN_A_HELPER = """\
import torch


def show(log, kind, losses):
    {body}


def train(model, optimizer, batches, device, log):
    for x, y in batches:
        losses = model(x.to(device), y.to(device))
        loss = losses["loss"].mean()
        show(log, "train", {{k: v.detach() for k, v in losses.items()}})
        loss.backward()
        optimizer.step()
"""
READS = {
    "of each": "for k, v in losses.items(): log.add(k, v.mean().item())",
    "of a copy": "shown = {k: v.cpu() for k, v in losses.items()}; log.add(kind, shown)",
    "below a context": "with log: log.add(kind, losses['loss'].mean().item())",
}
READS_NOTHING = {
    "sometimes": "if log.due: log.add(kind, losses['loss'].mean().item())",
    "after a return": "if not log.due: return\n    log.add(kind, losses['loss'].mean().item())",
    "of something else": "log.add(kind, log.last.item())",
    "nothing": "log.add(kind, losses)",
    "a size": "log.add(kind, losses['loss'].shape.numel().item())",
}


@pytest.mark.parametrize("body", READS.values(), ids=READS)
def test_a_function_that_reads_what_it_is_given_waits(body: str, tmp_path: Path) -> None:
    source = IN_A_HELPER.format(body=body)
    told = ["show(...)"] if "shown" not in body else found(tmp_path, source)
    assert found(tmp_path, source) == told


@pytest.mark.parametrize("body", READS_NOTHING.values(), ids=READS_NOTHING)
def test_a_function_that_need_not_read_does_not_wait(body: str, tmp_path: Path) -> None:
    assert found(tmp_path, IN_A_HELPER.format(body=body)) == []


DEVICES = {
    "import torch\ndevice = torch.device('cuda')": True,
    "import torch\nfrom accelerate import Accelerator": True,
    "def go(model, device): pass": True,
    "device = args.device": True,
    "import torch\ndevice = torch.device('cpu')": False,
    "device = 'cpu'": False,
    "DEVICE: str = 'cpu'\nprint(device)": False,
    "# cuda would be faster, but there is no device": False,
    '"""Trains on any device, CUDA or not."""': False,
    "": False,
}


@pytest.mark.parametrize(("code", "on_device"), DEVICES.items())
def test_only_code_says_that_there_is_a_device(code: str, on_device: bool, tmp_path: Path) -> None:
    source = STEP.format(read="total += loss.item()").replace(", device", "")
    source = source.replace("        x, y = x.to(device), y.to(device)\n", "")
    assert found(tmp_path, f"{code}\n{source}") == ["loss.item()"] * on_device
