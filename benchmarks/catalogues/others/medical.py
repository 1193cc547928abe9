"""Medical imaging: segmentation, registration, generation, and a detector with its anchors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.catalogues.inputs import Inputs, Model, floats, ids, made, nested, tensor

FAMILY: Final = "medical"
PICTURE: Final = {"x": floats(1, 1, 32, 32)}
FLAT: Final = {"spatial_dims": 2, "in_channels": 1, "out_channels": 2}
STAGES: Final = {"channels": (4, 8, 16), "strides": (2, 2)}


def _net(name: str, cls: str, inputs: Inputs, config: Mapping[str, object]) -> Model:
    return Model(name, f"monai.networks.nets.{cls}", FAMILY, inputs, {}, config, "monai")


MEDICAL: Final[tuple[Model, ...]] = (
    _net("unet", "UNet", PICTURE, {**FLAT, **STAGES}),
    _net(
        "dyn_unet", "DynUNet", PICTURE,
        {**FLAT, "kernel_size": [3, 3, 3], "strides": [1, 2, 2], "upsample_kernel_size": [2, 2],
         "filters": [4, 8, 16], "deep_supervision": True, "deep_supr_num": 1},
    ),
    _net(
        "swin_unetr", "SwinUNETR", {"x_in": floats(1, 1, 64, 64)},
        {"in_channels": 1, "out_channels": 2, "feature_size": 12, "spatial_dims": 2,
         "depths": (1, 1, 1, 1), "num_heads": (2, 2, 2, 2)},
    ),
    _net(
        "unetr", "UNETR", {"x_in": floats(1, 1, 32, 32)},
        {"in_channels": 1, "out_channels": 2, "img_size": 32, "feature_size": 4,
         "hidden_size": 32, "mlp_dim": 32, "num_heads": 4, "spatial_dims": 2},
    ),
    _net(
        "masked_autoencoder_vit", "MaskedAutoEncoderViT", PICTURE,
        {"in_channels": 1, "img_size": 32, "patch_size": 8, "hidden_size": 32, "mlp_dim": 32,
         "num_layers": 2, "num_heads": 4, "decoder_hidden_size": 32, "decoder_mlp_dim": 32,
         "decoder_num_layers": 1, "decoder_num_heads": 4, "spatial_dims": 2},
    ),
    _net(
        "vq_vae", "VQVAE", {"images": floats(1, 1, 32, 32)},
        {"spatial_dims": 2, "in_channels": 1, "out_channels": 1, "channels": (8, 8),
         "num_res_channels": (8, 8), "num_res_layers": 1, "num_embeddings": 16,
         "embedding_dim": 8, "downsample_parameters": ((2, 4, 1, 1), (2, 4, 1, 1)),
         "upsample_parameters": ((2, 4, 1, 1, 0), (2, 4, 1, 1, 0))},
    ),
    _net(
        "diffusion_unet", "DiffusionModelUNet", {**PICTURE, "timesteps": tensor([3])},
        {"spatial_dims": 2, "in_channels": 1, "out_channels": 1, "channels": (8, 8),
         "num_res_blocks": 1, "attention_levels": (False, True), "norm_num_groups": 4,
         "num_head_channels": 4},
    ),
    _net(
        "var_autoencoder", "VarAutoEncoder", PICTURE,
        {"spatial_dims": 2, "in_shape": (1, 32, 32), "out_channels": 1, "latent_size": 4,
         "channels": (4, 8), "strides": (2, 2)},
    ),
    _net(
        "mil_model", "MILModel", {"x": floats(1, 2, 3, 32, 32)},
        {"num_classes": 2, "mil_mode": "att_trans", "pretrained": False, "backbone": "resnet18"},
    ),
    _net(
        "quicknat", "Quicknat", {"input": floats(1, 1, 32, 32)},
        {"num_classes": 2, "num_filters": 4},
    ),
    _net(
        "voxel_morph", "VoxelMorph",
        {"moving": floats(1, 1, 32, 32), "fixed": floats(1, 1, 32, 32)},
        {
            "spatial_dims": 2,
            "backbone": made(
                "monai.networks.nets.VoxelMorphUNet", spatial_dims=2, in_channels=2,
                unet_out_channels=4, channels=(4, 4, 4, 4), final_conv_channels=(4,),
            ),
        },
    ),
    _net(
        "decoder_only", "DecoderOnlyTransformer", {"x": ids(2, 8, below=32)},
        {"num_tokens": 32, "max_seq_len": 16, "attn_layers_dim": 32, "attn_layers_depth": 2,
         "attn_layers_heads": 4},
    ),
    _net(
        "navit_medical", "NaViT",
        {"batched_images": nested([[floats(1, 16, 16), floats(1, 32, 16)], [floats(1, 8, 8)]])},
        {"image_size": (32, 32), "patch_size": 8, "num_classes": 3, "hidden_size": 32,
         "mlp_dim": 32, "num_layers": 1, "num_heads": 2, "spatial_dims": 2},
    ),
    _net(
        "regunet_global", "GlobalNet", PICTURE,
        {"image_size": [32, 32], "spatial_dims": 2, "in_channels": 1, "num_channel_initial": 4,
         "depth": 2},
    ),
    _net(
        "spade_net", "SPADENet", {**PICTURE, "seg": floats(1, 3, 32, 32)},
        {"spatial_dims": 2, "in_channels": 1, "out_channels": 1, "label_nc": 3,
         "input_shape": [32, 32], "channels": [8, 8], "z_dim": 8},
    ),
    Model(
        "retinanet_monai", "monai.apps.detection.networks.retinanet_detector.RetinaNetDetector",
        FAMILY, {"input_images": nested([floats(1, 64, 64)])},
        {},
        {
            "network": made(
                "monai.apps.detection.networks.retinanet_network.RetinaNet",
                spatial_dims=2, num_classes=3, num_anchors=1,
                feature_extractor=made(
                    "monai.apps.detection.networks.retinanet_network.resnet_fpn_feature_extractor",
                    backbone=made("monai.networks.nets.resnet.resnet10", spatial_dims=2,
                                  n_input_channels=1),
                    spatial_dims=2, returned_layers=(1, 2),
                ),
                size_divisible=16,
            ),
            "anchor_generator": made(
                "monai.apps.detection.utils.anchor_utils.AnchorGeneratorWithAnchorShape",
                base_anchor_shapes=((8, 8),), feature_map_scales=(1, 2, 4),
            ),
        },
        "monai",
    ),
)  # fmt: skip
