"""Backbones of pictures and video: timm, torchvision, segmentation_models_pytorch, kornia."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.catalogues.inputs import Inputs, Model, floats

FAMILY: Final = "backbones"
SMALL: Final = {"img_size": 64, "num_classes": 5}
FREE: Final = {"num_classes": 5}
PICTURE: Final = {"x": floats(2, 3, 64, 64)}


def _timm(name: str, config: Mapping[str, object]) -> Model:
    return Model(f"timm_{name}", name, FAMILY, PICTURE, {}, config, "timm")


def _vision(name: str, cls: str, inputs: Inputs, config: Mapping[str, object]) -> Model:
    return Model(name, f"torchvision.models.{cls}", FAMILY, inputs, {}, config, "torchvision")


def _segmenting(name: str, cls: str) -> Model:
    return Model(
        name, f"segmentation_models_pytorch.{cls}", FAMILY, PICTURE, {},
        {"encoder_name": "resnet18", "encoder_weights": None, "classes": 2},
        "segmentation_models_pytorch",
    )  # fmt: skip


BACKBONES: Final[tuple[Model, ...]] = (
    _timm("resnet18", FREE),
    _timm("efficientnet_b0", FREE),
    _timm("swin_tiny_patch4_window7_224", {**SMALL, "depths": (1, 1), "num_heads": (2, 4),
                                           "embed_dim": 32, "window_size": 4}),
    _timm("maxvit_pico_rw_256", {**SMALL}),
    _timm("coat_lite_tiny", {**SMALL}),
    _timm("levit_128s", {**SMALL}),
    _timm("mobilevitv2_050", FREE),
    _timm("naflexvit_base_patch16_gap", {"num_classes": 5, "embed_dim": 64, "depth": 2,
                                         "num_heads": 4}),
    _timm("hiera_tiny_224", {**SMALL}),
    _vision("video_swin", "video.swin3d_t", {"x": floats(1, 3, 4, 32, 32)}, {}),
    _vision(
        "raft_small", "optical_flow.raft_small",
        {"image1": floats(1, 3, 128, 128), "image2": floats(1, 3, 128, 128)}, {},
    ),
    _vision(
        "deeplab", "segmentation.deeplabv3_mobilenet_v3_large", PICTURE,
        {"weights_backbone": None},
    ),
    _segmenting("smp_unet", "Unet"),
    _segmenting("smp_upernet", "UPerNet"),
    Model(
        "tiny_vit", "kornia.models.tiny_vit.TinyViT", FAMILY, PICTURE, {},
        {"img_size": 64, "num_classes": 5, "embed_dims": (16, 16, 16, 16),
         "num_heads": (1, 1, 2, 2), "depths": (1, 1, 1, 1), "window_sizes": (4, 4, 4, 2)},
        "kornia",
    ),
    Model("mobile_vit", "kornia.models.vit_mobile.MobileViT", FAMILY,
          {"x": floats(1, 3, 256, 256)}, {}, {}, "kornia"),
)  # fmt: skip
