"""Experts, quantizers, hashing and clustering, diffusion, flows, tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.catalogues.inputs import Inputs, Model, floats, ids, made

FAMILY: Final = "routing"
SEQUENCE: Final = {"x": floats(2, 16, 32)}


def _other(path: str, inputs: Inputs, config: Mapping[str, object]) -> Model:
    package, *_, cls = path.split(".")
    return Model(f"{package}_{cls}", path, FAMILY, inputs, {}, config, package)


def _quantizer(cls: str, config: Mapping[str, object]) -> Model:
    return _other(f"vector_quantize_pytorch.{cls}", SEQUENCE, config)


ROUTING: Final[tuple[Model, ...]] = (
    _quantizer("VectorQuantize", {"dim": 32, "codebook_size": 16, "kmeans_init": True,
                                  "threshold_ema_dead_code": 2}),
    _quantizer("ResidualVQ", {"dim": 32, "codebook_size": 16, "num_quantizers": 2,
                              "quantize_dropout": True}),
    _other("vector_quantize_pytorch.FSQ", {"z": floats(2, 16, 32)},
           {"levels": [8, 5, 5], "dim": 32}),
    _quantizer("LFQ", {"dim": 32, "codebook_size": 16}),
    _quantizer("SimVQ", {"dim": 32, "codebook_size": 16}),
    _other("vector_quantize_pytorch.LatentQuantize", {"z": floats(2, 32, 16)},
           {"levels": [5, 5, 8], "dim": 32}),
    _quantizer("RandomProjectionQuantizer",
               {"dim": 32, "codebook_size": 16, "codebook_dim": 8, "num_codebooks": 2}),
    _other("mixture_of_experts.MoE", {"inputs": floats(2, 16, 32)},
           {"dim": 32, "num_experts": 4}),
    _other("st_moe_pytorch.MoE", SEQUENCE, {"dim": 32, "num_experts": 4}),
    _other("soft_moe_pytorch.SoftMoE", SEQUENCE, {"dim": 32, "seq_len": 16, "num_experts": 4}),
    _other("local_attention.LocalTransformer", {"x": ids(2, 16, below=32)},
           {"num_tokens": 32, "max_seq_len": 32, "dim": 32, "depth": 1,
            "local_attn_window_size": 8, "dim_head": 16, "heads": 2}),
    _other("routing_transformer.RoutingTransformerLM", {"x": ids(1, 32, below=32)},
           {"num_tokens": 32, "dim": 32, "depth": 1, "max_seq_len": 32, "heads": 2,
            "window_size": 8}),
    _other("reformer_pytorch.ReformerLM", {"x": ids(1, 32, below=32)},
           {"num_tokens": 32, "dim": 32, "depth": 1, "max_seq_len": 32, "heads": 2,
            "bucket_size": 8, "causal": True}),
    _other("perceiver_pytorch.Perceiver", {"data": floats(1, 8, 8, 3)},
           {"num_freq_bands": 2, "depth": 1, "max_freq": 4.0, "num_latents": 8,
            "latent_dim": 16, "num_classes": 5}),
    _other("colt5_attention.ConditionalRoutedFeedForward", SEQUENCE,
           {"dim": 32, "num_heavy_tokens": 4}),
    _other("pytorch_tabnet.tab_network.TabNet", {"x": floats(8, 6)},
           {"input_dim": 6, "output_dim": 2, "group_attention_matrix": made("torch.eye", 6)}),
    _other("denoising_diffusion_pytorch.Unet", {"x": floats(1, 3, 32, 32), "time": ids(1)},
           {"dim": 8, "dim_mults": (1, 2), "flash_attn": False}),
    _other("denoising_diffusion_pytorch.GaussianDiffusion", {"img": floats(1, 3, 32, 32)},
           {"model": made("denoising_diffusion_pytorch.Unet", dim=8, dim_mults=(1, 2)),
            "image_size": 32}),
    _other("nflows.transforms.MaskedPiecewiseRationalQuadraticAutoregressiveTransform",
           {"inputs": floats(4, 4)},
           {"features": 4, "hidden_features": 8, "num_bins": 4, "tails": "linear",
            "tail_bound": 3.0}),
    _other("e3nn.o3.Linear", {"features": floats(4, 16)},
           {"irreps_in": "4x0e + 4x1o", "irreps_out": "2x0e + 2x1o"}),
)  # fmt: skip
