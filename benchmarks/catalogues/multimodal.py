"""Models of more than one kind of input, and of time series."""

from __future__ import annotations

from typing import Final

from benchmarks.catalogues.inputs import (
    NEXT_TOKENS,
    TOKENS,
    Model,
    family,
    floats,
    ids,
    ones,
    plain,
    tensor,
)
from benchmarks.catalogues.vision import PICTURE

FAMILY: Final = "multimodal"
BOTH: Final = {**TOKENS, **PICTURE}
IMAGE_TOKEN: Final = 120
# 16 patches of 8x8 in a picture of 32x32.
WITH_IMAGE: Final = {
    "input_ids": tensor([[5, *[IMAGE_TOKEN] * 16, 7, 8, 9]] * 2),
    "attention_mask": ones(2, 20),
    **PICTURE,
}
IMAGE_LABELS: Final = {"labels": ids(2, 20)}
TEXT_CONFIG: Final = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 128,
}  # fmt: skip

ROPE: Final = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}

MULTIMODAL: Final[tuple[Model, ...]] = (
    *family(
        FAMILY, BOTH, {"return_loss": plain(True)},
        "clip:CLIPModel", "altclip:AltCLIPModel",
        "chinese_clip:ChineseCLIPModel", "metaclip_2:MetaClip2Model",
    ),
    Model(
        "siglip", "SiglipModel", FAMILY, BOTH, {"return_loss": plain(True)},
        {"text_config": {"projection_size": 32}},
    ),
    *family(FAMILY, BOTH, {}, "flava:FlavaModel"),
    *family(
        FAMILY, BOTH, NEXT_TOKENS,
        "blip:BlipForConditionalGeneration", "git:GitForCausalLM", "vilt:ViltForMaskedLM",
    ),
    Model(
        "llava", "LlavaForConditionalGeneration", FAMILY, WITH_IMAGE, IMAGE_LABELS,
        {
            "image_token_id": IMAGE_TOKEN, "image_token_index": IMAGE_TOKEN,
            "vision_feature_layer": -1,
        },
    ),
    Model(
        "paligemma", "PaliGemmaForConditionalGeneration", FAMILY, WITH_IMAGE, IMAGE_LABELS,
        {"image_token_id": IMAGE_TOKEN, "image_token_index": IMAGE_TOKEN,
         "text_config": TEXT_CONFIG, "vision_config": {"projection_dim": 32}},
    ),
    Model(
        "idefics2", "Idefics2ForConditionalGeneration", FAMILY,
        {"input_ids": tensor([[5, *[IMAGE_TOKEN] * 4, 7, 8, 9]] * 2), "attention_mask": ones(2, 8),
         "pixel_values": floats(2, 1, 3, 32, 32)},
        {"labels": ids(2, 8)},
        {"image_token_id": IMAGE_TOKEN, "text_config": TEXT_CONFIG,
         "perceiver_config": {"hidden_size": 32, "resampler_n_latents": 4, "resampler_depth": 1,
                              "resampler_n_heads": 2, "resampler_head_dim": 8}},
    ),
    Model(
        "qwen2_vl", "Qwen2VLForConditionalGeneration", FAMILY,
        {"input_ids": tensor([[5, 110, *[IMAGE_TOKEN] * 4, 111, 7]]), "attention_mask": ones(1, 8),
         "pixel_values": floats(16, 3 * 2 * 8 * 8), "image_grid_thw": tensor([[1, 4, 4]]),
         "mm_token_type_ids": tensor([[0, 0, 1, 1, 1, 1, 0, 0]])},
        {"labels": ids(1, 8)},
        {
            "image_token_id": IMAGE_TOKEN, "vision_start_token_id": 110,
            "vision_end_token_id": 111, "text_config": {**TEXT_CONFIG, "rope_parameters": ROPE},
            "vision_config": {
                "hidden_size": 32, "embed_dim": 32, "depth": 2, "num_heads": 4, "patch_size": 8,
            },
        },
    ),
    Model(
        "visual_bert", "VisualBertForPreTraining", FAMILY,
        {**TOKENS, "visual_embeds": floats(2, 4, 32), "visual_attention_mask": ones(2, 4)},
        {"labels": ids(2, 20)}, {"visual_embedding_dim": 32},
    ),
    Model(
        "lxmert", "LxmertForPreTraining", FAMILY,
        {**TOKENS, "visual_feats": floats(2, 4, 32), "visual_pos": floats(2, 4, 4)}, {},
        {"visual_feat_dim": 32, "l_layers": 1, "x_layers": 1, "r_layers": 1},
    ),
    Model(
        "decision_transformer", "DecisionTransformerModel", "reinforcement learning",
        {"states": floats(2, 4, 17), "actions": floats(2, 4, 4), "rewards": floats(2, 4, 1),
         "returns_to_go": floats(2, 4, 1), "timesteps": ids(2, 4, below=50),
         "attention_mask": ones(2, 4)},
    ),
    Model(
        "patchtst", "PatchTSTForPrediction", "time series",
        {"past_values": floats(2, 32, 1)}, {"future_values": floats(2, 24, 1)},
    ),
    Model(
        "time_series_transformer", "TimeSeriesTransformerForPrediction", "time series",
        {"past_values": floats(2, 15), "past_time_features": floats(2, 15, 1),
         "past_observed_mask": ones(2, 15), "future_values": floats(2, 8),
         "future_time_features": floats(2, 8, 1)},
        {}, {"prediction_length": 8, "context_length": 8, "num_time_features": 1,
            "feature_size": 10},
    ),
    Model(
        "vit_tiny", "vit_tiny_patch16_224", "vision", {"x": floats(2, 3, 32, 32)}, {},
        {"img_size": 32, "depth": 2, "embed_dim": 32, "num_heads": 4}, "timm",
    ),
)  # fmt: skip
