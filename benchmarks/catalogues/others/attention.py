"""Transformers of pictures, video and text, and the losses and samplers around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.catalogues.inputs import (
    Inputs,
    Made,
    Model,
    floats,
    ids,
    made,
    nested,
    tensor,
)  # fmt: skip

FAMILY: Final = "attention"
PICTURE: Final = {"img": floats(2, 3, 32, 32)}
VIT: Final = {
    "image_size": 32, "patch_size": 8, "num_classes": 5, "dim": 32, "depth": 2, "heads": 2,
    "mlp_dim": 32, "dim_head": 16,
}  # fmt: skip
ENCODER: Final = made("vit_pytorch.ViT", **VIT)
TOKENS: Final = {"x": ids(2, 16, below=32)}


def _vit(name: str, cls: str, inputs: Inputs, config: Mapping[str, object]) -> Model:
    return Model(name, f"vit_pytorch.{cls}", FAMILY, inputs, {}, config, "vit_pytorch")


def _text(name: str, cls: str, inputs: Inputs, config: Mapping[str, object]) -> Model:
    return Model(name, f"x_transformers.{cls}", FAMILY, inputs, {}, config, "x_transformers")


def _layers(cls: str, **options: object) -> Made:
    size = {"dim": 32, "depth": 2, "heads": 2, "attn_dim_head": 16}
    return made(f"x_transformers.{cls}", **size, **options)


def _decoder(**options: object) -> Mapping[str, object]:
    return {"num_tokens": 32, "max_seq_len": 32, "attn_layers": _layers("Decoder", **options)}


NET: Final = made("x_transformers.TransformerWrapper", **_decoder())

ATTENTION: Final[tuple[Model, ...]] = (
    _vit("simple_vit", "SimpleViT", PICTURE, VIT),
    _vit("ats_vit", "ats_vit.ViT", PICTURE, {**VIT, "max_tokens_per_depth": (12, 8)}),
    _vit("na_vit", "na_vit.NaViT",
         {"batched_images": nested([[floats(3, 16, 16), floats(3, 32, 16)], [floats(3, 8, 8)]])},
         {**VIT, "token_dropout_prob": 0.1}),
    _vit("na_vit_nested", "na_vit_nested_tensor.NaViT",
         {"images": nested([floats(3, 16, 16), floats(3, 32, 16)])},
         {**VIT, "token_dropout_prob": 0.1}),
    _vit("mae", "MAE", PICTURE, {"encoder": ENCODER, "decoder_dim": 32}),
    _vit("sim_mim", "simmim.SimMIM", PICTURE, {"encoder": ENCODER}),
    _vit("mpp", "mpp.MPP", {"input": floats(1, 3, 32, 32)},
         {"transformer": ENCODER, "patch_size": 8, "dim": 32}),
    _vit("cait", "cait.CaiT", PICTURE, {**VIT, "cls_depth": 1, "layer_dropout": 0.1}),
    _vit("patch_dropout", "vit_with_patch_dropout.ViT", PICTURE, VIT),
    _vit("dino", "Dino", {"x": floats(2, 3, 32, 32)},
         {"net": ENCODER, "image_size": 32, "hidden_layer": "to_latent", "num_classes_K": 32}),
    _vit("extractor", "extractor.Extractor", PICTURE, {"vit": ENCODER}),
    _vit("vivit", "vivit.ViViT", {"video": floats(1, 3, 4, 32, 32)},
         {"image_size": 32, "image_patch_size": 8, "frames": 4, "frame_patch_size": 2,
          "num_classes": 5, "dim": 32, "spatial_depth": 1, "temporal_depth": 1, "heads": 2,
          "mlp_dim": 32}),
    _text("decoder", "TransformerWrapper", TOKENS, _decoder(rotary_pos_emb=True)),
    _text("decoder_alibi", "TransformerWrapper", TOKENS, _decoder(alibi_pos_bias=True)),
    _text("encoder_decoder", "XTransformer",
          {"src": ids(2, 16, below=32), "tgt": ids(2, 16, below=32)},
          {"dim": 32, "enc_num_tokens": 32, "enc_depth": 1, "enc_heads": 2, "enc_max_seq_len": 32,
           "dec_num_tokens": 32, "dec_depth": 1, "dec_heads": 2, "dec_max_seq_len": 32}),
    _text("autoregressive", "AutoregressiveWrapper", TOKENS, {"net": NET, "mask_prob": 0.15}),
    _text("non_autoregressive", "NonAutoregressiveWrapper", TOKENS,
          {"net": made("x_transformers.TransformerWrapper", num_tokens=32, max_seq_len=16,
                       attn_layers=_layers("Encoder")),
           "mask_id": 31, "self_cond": True}),
    _text("xl_autoregressive", "XLAutoregressiveWrapper", TOKENS,
          {"net": made("x_transformers.TransformerWrapper", **_decoder(), max_mem_len=16)}),
    _text("belief_state", "belief_state_wrapper.BeliefStateWrapper",
          {"seq": ids(2, 8, below=32)}, {"forward_decoder": NET}),
    _text("entropy_tokenizer", "entropy_based_tokenizer.EntropyBasedTokenizer",
          {"seq": ids(2, 16, below=32)}, {"decoder": NET, "entropy_threshold": 3.0}),
    _text("dpo", "DPO",
          {"preferred_seq": ids(2, 8, below=32), "unpreferred_seq": ids(2, 8, below=32),
           "prompt_mask": tensor([[True, True] + [False] * 6] * 2)},
          {"model": NET}),
    _text("gpt_vae", "gpt_vae.GPTVAE", {"seq": ids(2, 16, below=32)},
          {"num_tokens": 32, "dim": 32, "depth": 1, "enc_depth": 1, "max_seq_len": 32,
           "heads": 2}),
    _text("free_transformer", "free_transformer.FreeTransformer", {"seq": ids(2, 16, below=32)},
          {"num_tokens": 32, "dim": 32, "dec_head_depth": 1, "dec_tail_depth": 1,
           "max_seq_len": 32, "heads": 2, "latent_bits": 4}),
    _text("continuous", "continuous.ContinuousAutoregressiveWrapper", {"x": floats(2, 16, 8)},
          {"net": made("x_transformers.ContinuousTransformerWrapper", dim_in=8, dim_out=8,
                       max_seq_len=32, attn_layers=_layers("Decoder"))}),
    _text("neo_mlp", "NeoMLP", {"x": floats(2, 4)},
          {"dim_in": 4, "dim_hidden": 4, "dim_out": 3, "dim_model": 32, "depth": 1}),
)  # fmt: skip
