"""What is measured: models, each in eval or train mode, in single or half precision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.catalogues import CATALOGUES, MODELS, Model
from benchmarks.catalogues.inputs import NEXT_TOKENS, TOKENS, floats, ids, ones

EVAL: Final = "eval"
TRAIN: Final = "train"
HALF: Final = "fp16"
BOTH: Final = "encoder-decoder"

_PAIR: Final = {**TOKENS, "decoder_input_ids": ids(2, 8), "decoder_attention_mask": ones(2, 8)}
_LONG_ROPE: Final = {
    "rope_type": "longrope", "type": "longrope", "short_factor": [1.0] * 4,
    "long_factor": [1.5] * 4,
}  # fmt: skip
# Checkpoints by the names that they are published under; the weights are random, the class is
# theirs.
_PUBLISHED: Final = (
    Model("t5-small", "T5ForConditionalGeneration", BOTH, _PAIR),
    Model(
        "whisper", "WhisperForConditionalGeneration", "audio",
        {"input_features": floats(2, 16, 64), "decoder_input_ids": ids(2, 8)}, {},
        {"max_source_positions": 32},
    ),
    Model("bart", "BartForConditionalGeneration", BOTH, _PAIR, {"labels": ids(2, 8)}),
    Model(
        "Phi-4-mini-instruct", "Phi3ForCausalLM", "decoder", TOKENS, NEXT_TOKENS,
        {
            "original_max_position_embeddings": 64, "partial_rotary_factor": 1.0,
            "rope_scaling": _LONG_ROPE,
        },
    ),
    Model(
        "longformer-base-4096", "LongformerModel", "encoder",
        {"input_ids": ids(2, 12), "attention_mask": ones(2, 12)},
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a model in a mode, with the weights in half precision or not."""

    model: Model
    mode: str = EVAL
    half: bool = False

    @property
    def name(self) -> str:
        """The model's name, and what is out of the ordinary: ``bart@train``."""
        odd = [HALF] * self.half + [TRAIN] * (self.mode == TRAIN)
        return "@".join([self.model.name, *odd])


def _published() -> Iterable[Row]:
    for model in _PUBLISHED:
        yield Row(model)
        if model.name == "bart":
            yield from (Row(model, half=True), Row(model, TRAIN))


def _catalogue() -> Iterable[Row]:
    for model in MODELS:
        if model.library == "transformers":
            yield from (Row(model), Row(model, TRAIN))


def _others() -> Iterable[Row]:
    return map(Row, CATALOGUES["others"])


TABLES: Final[dict[str, tuple[Row, ...]]] = {
    "published": tuple(_published()),
    "catalogue": tuple(_catalogue()),
    "others": tuple(_others()),
}


def chosen(table: str, names: Sequence[str]) -> list[Row]:
    """The rows of a table, or those named.

    Raises:
        KeyError: a name that the table does not have.
    """
    known = {row.name: row for row in TABLES[table]}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise KeyError(", ".join(unknown))
    return [known[name] for name in names] if names else [*known.values()]
