"""Why safe fixes leave what they leave: the models of the catalogue that break still, by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.repair.record import Measured

HEADING: Final = """\
### What safe fixes cannot remove, and why

A safe fix keeps every bit of the results, the gradients and the random stream, in eager code and in
compiled code, and everything that a caller can see.
"""


@dataclass(frozen=True, slots=True)
class Reason:
    """A class of breaks: the models that have it, which may be in train mode only."""

    title: str
    why: str
    models: frozenset[str]


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


_REASONS: Final = (
    Reason(
        "mixtures of experts",
        "An expert gets the rows that the data chooses. Computed for all rows and masked, sums are "
        "other sums: `linear(x[rows])` and `linear(x)[rows]` differed in bits in 28 to 126 of 200 "
        "random choices on a CPU. An expert without rows would get zeros as gradients, not none; "
        "an operator around the whole loop would keep the numbers, and not that.",
        _named(
            "mixtral qwen2_moe qwen3_moe olmoe phimoe granitemoe deepseek_v3 jamba jetmoe "
            "switch_transformers"
        ),
    ),
    Reason(
        "speech models in train mode",
        "SpecAugment draws with numpy and LayerDrop with `torch.rand` on the host; drawn in the "
        "graph, the stream is another. `requires_grad = True` on an activation decides whether "
        "the output has gradients where all parameters are frozen. The labels of `ctc_loss` are "
        "as many as the data says.",
        _named(
            "wav2vec2 hubert wavlm unispeech unispeech-sat sew data2vec-audio sew-d speecht5 "
            "wav2vec2-conformer wav2vec2-bert parakeet_ctc"
        ),
    ),
    Reason(
        "LayerDrop",
        "Whether a layer runs is drawn for each call. Computing it and choosing afterwards adds "
        "the draws of the dropped layer's own dropout.",
        _named(
            "nllb-moe@train m2m_100@train time_series_transformer@train seamless_m4t@train "
            "seamless_m4t_v2@train"
        ),
    ),
    Reason(
        "rows that a mask selects",
        "`nonzero`, `scores[mask]`, `out[mask] = f(x[mask])`: how many rows there are is known to "
        "the data alone. A sum or a mean over them adds in another order where all rows are "
        "computed and masked, and a step that is only defined inside of the mask (the spline of "
        "vits) may raise or give NaN outside of it. Settings capture most.",
        _named("vits superpoint superglue vilt idefics2 glpn"),
    ),
    Reason(
        "values that become sizes",
        "The end of an `arange`, the parts of a `split`, the shape of a `zeros`, the name of a "
        "module: a number on the host. Only the caller knows that it is the same each time.",
        _named("funnel xmod tapas fastspeech2_conformer qwen2_vl"),
    ),
    Reason(
        "numbers kept as tensors, and an LSTM",
        "A layer keeps its sizes as buffers. That each still holds the number that it was made of "
        "is not proved, so to compute with these numbers is unsafe. Dynamo traces an `nn.LSTM` "
        "with `allow_rnn` only; without, each layer in the loop around it is a graph of its own.",
        _named("encodec"),
    ),
    Reason(
        "branches on values",
        "The ways give other shapes, write to a cache or call other modules, so that both cannot "
        "be computed and one chosen: padding to whole chunks, an extra bucket, the first token or "
        "a later one, global attention or none.",
        _named("reformer mamba2 longformer led sam lightglue ctrl eomt ovis2"),
    ),
    Reason(
        "modules made in `forward`",
        "Another kind of attention is built, with its parameters, where a sequence is too short, "
        "and stays: a caller finds another module there.",
        _named("bigbird_pegasus big_bird"),
    ),
    Reason(
        "a copy of the configuration",
        "Before torch 2.12, `copy.deepcopy` is traced for nothing, and these models copy their "
        "configuration in each call that makes a cache. No rewriting was found.",
        _named(
            "t5 mt5 umt5 longt5 bart mbart plbart mvp pegasus pegasus_x marian m2m_100 prophetnet "
            "blenderbot-small whisper moonshine speech_to_text speecht5 nllb-moe seamless_m4t "
            "seamless_m4t_v2"
        ),
    ),
    Reason(
        "hooks that the first call installs",
        "The first call of a module puts hooks on its layers, under a lock of threads; the first "
        "call here is a compiled one.",
        _named("llava dpt segformer"),
    ),
    Reason(
        "what can be seen from outside",
        "A buffer that is replaced, one tensor given twice to an `autograd.Function`, a module "
        "that keeps statistics, an exception that comes later: a caller can tell.",
        _named("yoso ibert rt_detr mask2former mra"),
    ),
)


def left_by_reason(
    names: Sequence[str], found: Mapping[str, int], arms: Mapping[str, Mapping[str, Measured]]
) -> str:
    """The breaks of the rows that safe fixes leave some of, by reason, after each tier."""
    safe, *_ = arms.values()
    left = [name for name in names if safe[name].breaks]
    lines = []
    for reason in _REASONS:
        mine = [name for name in left if _is_of(name, reason)]
        left = [name for name in left if name not in mine]
        lines += [_line(reason.title, reason.why, mine, found, arms)] if mine else []
    lines += [_line("others", "Not looked at one by one.", left, found, arms)] if left else []
    heads = ["class", "rows", "as found", *arms, "why"]
    rule = ["---"] * len(heads)
    return "\n".join([HEADING, *map(_cells, (heads, rule, *lines)), ""])


def _is_of(name: str, reason: Reason) -> bool:
    return name in reason.models or name.partition("@")[0] in reason.models


def _line(
    title: str,
    why: str,
    rows: Sequence[str],
    found: Mapping[str, int],
    arms: Mapping[str, Mapping[str, Measured]],
) -> Sequence[str]:
    counts = [sum(found[name] for name in rows)]
    counts += [sum(kept[name].breaks for name in rows) for kept in arms.values()]
    return [title, str(len(rows)), *map(str, counts), why]


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
