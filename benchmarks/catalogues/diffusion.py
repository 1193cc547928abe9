"""Diffusion models: denoisers, autoencoders, and what steers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.catalogues.inputs import Inputs, Model, floats, plain, tensor

FAMILY: Final = "diffusion"
LATENTS: Final = {"sample": floats(1, 4, 16, 16), "timestep": tensor(3)}
PICTURE: Final = {"sample": floats(1, 3, 16, 16)}
TEXT: Final = {"encoder_hidden_states": floats(1, 4, 16)}
CHANNELS: Final = {
    "sample_size": 16, "block_out_channels": (16, 32), "layers_per_block": 1, "norm_num_groups": 8,
    "attention_head_dim": 8,
}  # fmt: skip
CONDITIONED: Final = {
    **CHANNELS, "cross_attention_dim": 16,
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
    "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"),
}  # fmt: skip
SMALL: Final = {"num_attention_heads": 2, "attention_head_dim": 8, "num_layers": 2}


def _diffuser(name: str, cls: str, inputs: Inputs, config: Mapping[str, object]) -> Model:
    return Model(name, cls, FAMILY, inputs, {}, config, "diffusers")


DIFFUSION: Final[tuple[Model, ...]] = (
    _diffuser(
        "unet_2d", "UNet2DModel", {**PICTURE, "timestep": tensor(3)},
        {**CHANNELS, "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
         "up_block_types": ("AttnUpBlock2D", "UpBlock2D")},
    ),
    _diffuser("unet_2d_condition", "UNet2DConditionModel", {**LATENTS, **TEXT}, CONDITIONED),
    _diffuser(
        "unet_3d_condition", "UNet3DConditionModel",
        {"sample": floats(1, 4, 2, 16, 16), "timestep": tensor(3), **TEXT},
        {**CONDITIONED, "down_block_types": ("DownBlock3D", "CrossAttnDownBlock3D"),
         "up_block_types": ("CrossAttnUpBlock3D", "UpBlock3D")},
    ),
    _diffuser(
        "unet_1d", "UNet1DModel", {"sample": floats(1, 2, 64), "timestep": tensor(3)},
        {"block_out_channels": (32, 32, 64), "sample_size": 64, "extra_in_channels": 64},
    ),
    _diffuser(
        "controlnet", "ControlNetModel",
        {**LATENTS, **TEXT, "controlnet_cond": floats(1, 3, 128, 128)},
        {"block_out_channels": (16, 32), "layers_per_block": 1, "norm_num_groups": 8,
         "attention_head_dim": 8, "cross_attention_dim": 16,
         "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
         "conditioning_embedding_out_channels": (8, 16, 16, 16)},
    ),
    _diffuser(
        "autoencoder_kl", "AutoencoderKL", PICTURE,
        {"block_out_channels": (16,), "norm_num_groups": 8, "layers_per_block": 1},
    ),
    _diffuser(
        "autoencoder_asym_kl", "AsymmetricAutoencoderKL", PICTURE,
        {"down_block_out_channels": (16,), "up_block_out_channels": (16,), "norm_num_groups": 8},
    ),
    _diffuser(
        "autoencoder_tiny", "AutoencoderTiny", PICTURE,
        {"encoder_block_out_channels": (8, 8, 8, 8), "decoder_block_out_channels": (8, 8, 8, 8)},
    ),
    _diffuser(
        "autoencoder_oobleck", "AutoencoderOobleck", {"sample": floats(1, 2, 512)},
        {"encoder_hidden_size": 8, "decoder_channels": 8, "decoder_input_channels": 4,
         "downsampling_ratios": [2, 4], "channel_multiples": [1, 2]},
    ),
    _diffuser(
        "vq_model", "VQModel", PICTURE,
        {"block_out_channels": (16,), "norm_num_groups": 8, "num_vq_embeddings": 16},
    ),
    _diffuser(
        "dit_2d", "DiTTransformer2DModel",
        {"hidden_states": floats(1, 4, 8, 8), "timestep": tensor([3]), "class_labels": tensor([1])},
        {**SMALL, "in_channels": 4, "sample_size": 8, "patch_size": 2},
    ),
    _diffuser(
        "pixart", "PixArtTransformer2DModel",
        {"hidden_states": floats(1, 4, 8, 8), "timestep": tensor([3]), **TEXT},
        {**SMALL, "sample_size": 8, "cross_attention_dim": 16, "caption_channels": 16},
    ),
    _diffuser(
        "sd3", "SD3Transformer2DModel",
        {"hidden_states": floats(1, 4, 8, 8), "timestep": tensor([3]), **TEXT,
         "pooled_projections": floats(1, 16)},
        {**SMALL, "sample_size": 8, "in_channels": 4, "joint_attention_dim": 16,
         "caption_projection_dim": 16, "pooled_projection_dim": 16},
    ),
    _diffuser(
        "flux", "FluxTransformer2DModel",
        {"hidden_states": floats(1, 16, 4), "timestep": tensor([0.5]), **TEXT,
         "pooled_projections": floats(1, 16), "img_ids": floats(16, 3), "txt_ids": floats(4, 3)},
        {**SMALL, "num_single_layers": 1, "in_channels": 4, "joint_attention_dim": 16,
         "pooled_projection_dim": 16, "axes_dims_rope": (2, 2, 4)},
    ),
    _diffuser(
        "prior", "PriorTransformer",
        {"hidden_states": floats(2, 16), "timestep": tensor(3), "proj_embedding": floats(2, 16),
         "encoder_hidden_states": floats(2, 5, 16)},
        {**SMALL, "embedding_dim": 16, "num_embeddings": 5},
    ),
    _diffuser(
        "wan", "WanTransformer3DModel",
        {"hidden_states": floats(1, 4, 2, 8, 8), "timestep": tensor([3]), **TEXT},
        {**SMALL, "in_channels": 4, "out_channels": 4, "text_dim": 16, "ffn_dim": 32,
         "freq_dim": 16},
    ),
    _diffuser(
        "cogvideox", "CogVideoXTransformer3DModel",
        {"hidden_states": floats(1, 1, 4, 8, 8), "timestep": tensor([3]), **TEXT},
        {**SMALL, "in_channels": 4, "out_channels": 4, "time_embed_dim": 8, "text_embed_dim": 16,
         "sample_width": 8, "sample_height": 8, "sample_frames": 1, "max_text_seq_length": 4},
    ),
    _diffuser(
        "sana", "SanaTransformer2DModel",
        {"hidden_states": floats(1, 4, 8, 8), "timestep": tensor([3]), **TEXT},
        {**SMALL, "in_channels": 4, "out_channels": 4, "num_cross_attention_heads": 2,
         "cross_attention_head_dim": 8, "cross_attention_dim": 16, "caption_channels": 16,
         "sample_size": 8},
    ),
    _diffuser(
        "ltx", "LTXVideoTransformer3DModel",
        {"hidden_states": floats(1, 16, 4), "timestep": tensor([3]), **TEXT,
         "encoder_attention_mask": tensor([[1.0, 1.0, 1.0, 1.0]]), "num_frames": plain(1),
         "height": plain(4), "width": plain(4)},
        {**SMALL, "in_channels": 4, "out_channels": 4, "cross_attention_dim": 16,
         "caption_channels": 16},
    ),
)  # fmt: skip
