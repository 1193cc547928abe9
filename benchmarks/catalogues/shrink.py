"""Make a configuration tiny: few layers, narrow, small vocabulary, small pictures (child only)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

VOCABULARY: Final = 128
LAYERS: Final = 2
# Tokens at the end of the vocabulary that stand for themselves: pictures, ends.
SPECIAL_TOKENS: Final = 20

# The first pattern that matches a field's whole name says its value.
SIZES: Final[tuple[tuple[str, int], ...]] = (
    (r"(\w+_)?vocab_size(_\w+)?|src_vocab_size|tgt_vocab_size|n_vocab", VOCABULARY),
    (r"num_(hidden_|encoder_|decoder_|block_|transformer_|code_|conformer_)?layers?", LAYERS),
    (r"(encoder|decoder|text|vision|speech|speech_encoder|n|enc|dec)_(num_)?layers?", LAYERS),
    (r"\w+_num_hidden_layers|num_layer|n_layers|depth|num_blocks|predictor_num_hidden_layers", 2),
    (r"num_(key_value|kv)_heads", 2),
    (r"(num_)?(\w+_)?(attention_|attn_)?heads?|n_heads?|num_heads", 4),
    (r"head_dim|(qk|v)_\w*head_dim|attention_head_dim|kv_channels|d_kv", 8),
    (r"hidden_size|d_model|dim|n_embd|embed_dim|emb_dim|d_embed|encoder_hidden_dim", 32),
    (r"(text|vision|projection|decoder|encoder|audio|embedding|q_lora|kv_lora)_(dim|rank)", 32),
    (r"\w*_(hidden_size|embed_dim|model_dim)", 32),
    (r"(\w+_)?(intermediate_size|ffn_dim|d_ff|n_inner|inner_dim|ffn_size|feed_forward_size)", 64),
    (r"dim_feedforward|ffn_hidden_size|feedforward_dim|mlp_dim|hidden_dim", 64),
    (r"(num_(local_|routed_)?experts|n_routed_experts|moe_num_experts)", 4),
    (r"(num_experts_per_tok|moe_topk|top_k_experts)", 2),
    (r"n_group|topk_group|n_shared_experts|num_shared_experts", 1),
    ("image_size", 32),
    (r"patch_size|patch_stride", 8),
    (r"num_queries", 6),
    (r"max_position_embeddings|n_positions|max_seq_len|max_source_positions", 128),
    (r"max_target_positions|n_ctx|max_sequence_length", 128),
    (r"num_mel_bins|num_conv_pos_embeddings", 16),
    (r"num_conv_pos_embedding_groups", 2),
    (r"sliding_window|attention_window", 8),
)
_COMPILED: Final = tuple((re.compile(pattern), size) for pattern, size in SIZES)


def shrink(config: Any, overrides: Mapping[str, Any]) -> None:
    """Make a configuration and those inside it small, then apply what the model needs itself."""
    for name, value in list(vars(config).items()):
        if hasattr(value, "to_dict"):
            shrink(value, {})
        elif isinstance(value, int) and not isinstance(value, bool):
            _shrink_number(config, name, value)
    _cut_to_layers(config)
    _apply(config, overrides)
    _keep_tokens_in_vocabulary(config)


def _shrink_number(config: Any, name: str, value: int) -> None:
    for pattern, size in _COMPILED:
        if pattern.fullmatch(name):
            _set(config, name, min(value, size) if value > 0 else value)
            return


def _cut_to_layers(config: Any) -> None:
    """Lists that say something of every layer get the number of layers."""
    layers = getattr(config, "num_hidden_layers", None)
    for name in ("layer_types", "mlp_layer_types", "attention_types", "layers_block_type"):
        kinds = vars(config).get(name)
        if isinstance(kinds, list) and isinstance(layers, int) and len(kinds) > layers:
            different = list(dict.fromkeys(kinds))
            _set(config, name, (different + kinds)[:layers])


def _apply(config: Any, overrides: Mapping[str, Any]) -> None:
    for name, value in overrides.items():
        inner = getattr(config, name, None)
        if isinstance(value, Mapping) and hasattr(inner, "to_dict"):
            _apply(inner, value)
        else:
            _set(config, name, value)


def _keep_tokens_in_vocabulary(config: Any) -> None:
    size = getattr(config, "vocab_size", None) or VOCABULARY
    if not isinstance(size, int):
        return
    for name, value in list(vars(config).items()):
        is_token = name.endswith(("_token_id", "_token_index")) and isinstance(value, int)
        if is_token and value >= size:
            _set(config, name, size - 1 - sum(map(ord, name)) % SPECIAL_TOKENS)


def _set(config: Any, name: str, value: Any) -> None:
    try:
        setattr(config, name, value)
    except (AttributeError, NotImplementedError):
        return  # a read-only alias of another field
