"""Trains small models of transformers, compiled without a compiler: see ``run_breaks``."""

import sys

import torch
import transformers

torch.set_num_threads(1)
torch.manual_seed(0)

IDS = torch.randint(5, 90, (2, 32))
TEXT = {"input_ids": IDS, "labels": IDS}
SOUND = {"input_values": torch.randn(2, 1600), "labels": torch.randint(1, 90, (2, 4))}
SERIES = {
    "past_values": torch.randn(2, 32),
    "past_time_features": torch.randn(2, 32, 1),
    "past_observed_mask": torch.ones(2, 32),
    "future_values": torch.randn(2, 8),
    "future_time_features": torch.randn(2, 8, 1),
}

VOCABULARY = {"vocab_size": 100}
SMALL = VOCABULARY | {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 128,
}
PAIR = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
}
HEARING = SMALL | {
    "conv_dim": (16, 16),
    "conv_kernel": (10, 3),
    "conv_stride": (5, 2),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2,
    "mask_time_prob": 0.5,
    "mask_time_length": 2,
}
FORECAST = PAIR | {
    "prediction_length": 8,
    "context_length": 24,
    "lags_sequence": [1, 2, 8],
    "num_time_features": 1,
    "d_model": 16,
}
EXPERTS = SMALL | {"num_key_value_heads": 2}
CHUNKS = {
    "hidden_size": 32,
    "attention_head_size": 16,
    "num_attention_heads": 2,
    "feed_forward_size": 64,
    "axial_pos_shape": (4, 8),
    "axial_pos_embds_dim": (16, 16),
    "is_decoder": True,
    "num_buckets": 4,
    "num_hashes": 1,
    "lsh_attn_chunk_length": 8,
    "local_attn_chunk_length": 8,
}
SWITCH = {
    "d_model": 32,
    "d_kv": 16,
    "d_ff": 64,
    "num_layers": 2,
    "num_decoder_layers": 2,
    "num_heads": 2,
    "num_experts": 4,
}
SPARSE = {"attention_type": "block_sparse", "block_size": 4, "num_random_blocks": 1}
LONG = {
    "attention_window": 8,
    "max_encoder_position_embeddings": 128,
    "max_decoder_position_embeddings": 128,
}
LANGUAGES = {"langs": ["en", "de"], "src_vocab_size": 100, "tgt_vocab_size": 100}
FUNNEL = {"d_model": 32, "n_head": 2, "d_head": 16, "d_inner": 64, "block_sizes": [1, 1]}
NEO = {"hidden_size": 32, "num_layers": 2, "num_heads": 2}
MODELS = (
    ("MixtralForCausalLM", EXPERTS | {"num_local_experts": 4}, TEXT),
    ("Qwen2MoeForCausalLM", EXPERTS | {"num_experts": 4, "moe_intermediate_size": 16}, TEXT),
    ("SwitchTransformersForConditionalGeneration", VOCABULARY | SWITCH, TEXT),
    ("LongformerForMaskedLM", SMALL | {"attention_window": [8, 8], "pad_token_id": 1}, TEXT),
    ("BigBirdForMaskedLM", SMALL | SPARSE, TEXT),
    ("ReformerModelWithLMHead", VOCABULARY | CHUNKS, TEXT),
    ("XLNetLMHeadModel", VOCABULARY | {"d_model": 32, "n_layer": 2, "n_head": 2}, TEXT),
    ("LEDForConditionalGeneration", VOCABULARY | PAIR | LONG, TEXT),
    ("FunnelForMaskedLM", VOCABULARY | FUNNEL, TEXT),
    ("Wav2Vec2ForCTC", HEARING, SOUND),
    ("HubertForCTC", HEARING, SOUND),
    ("UniSpeechSatForCTC", HEARING, SOUND),
    ("WavLMForCTC", HEARING, SOUND),
    ("SEWForCTC", HEARING | {"squeeze_factor": 2}, SOUND),
    ("BartForConditionalGeneration", VOCABULARY | PAIR | {"encoder_layerdrop": 0.1}, TEXT),
    ("FSMTForConditionalGeneration", LANGUAGES | PAIR, TEXT),
    ("MegatronBertForMaskedLM", SMALL, TEXT),
    ("AutoformerForPrediction", FORECAST, SERIES),
    ("InformerForPrediction", FORECAST, SERIES),
    ("DebertaV2ForMaskedLM", SMALL | {"relative_attention": True}, TEXT),
    ("IBertForMaskedLM", SMALL | {"quant_mode": False}, TEXT),
    ("GPTNeoForCausalLM", VOCABULARY | NEO | {"attention_types": [[["global", "local"], 1]]}, TEXT),
)


def trained(name: str, settings: dict[str, object], batch: dict[str, torch.Tensor]) -> float:
    """The loss of one model after a few compiled steps."""
    kind = getattr(transformers, name)
    config = kind.config_class(**settings)
    for token in ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"):
        known = getattr(config, token, None)
        if known is None or known >= 100:
            setattr(config, token, 1)
    model = kind(config).train()
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for _ in range(3):
        loss = compiled(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch._dynamo.reset()
    return float(loss)


for each in MODELS:
    if not any(part in each[0] for part in sys.argv[1].split(",")):
        continue
    print(each[0], trained(*each), flush=True)
