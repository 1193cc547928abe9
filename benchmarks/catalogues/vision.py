"""Models of pictures and films."""

from __future__ import annotations

from typing import Final

from benchmarks.catalogues.inputs import CLASSES, Inputs, Model, family, floats, ids

FAMILY: Final = "vision"
PICTURE: Final = {"pixel_values": floats(2, 3, 32, 32)}
BIGGER: Final = {"pixel_values": floats(2, 3, 64, 64)}
FILM: Final = {"pixel_values": floats(2, 4, 3, 32, 32)}
PAIR: Final = {"pixel_values": floats(1, 2, 3, 64, 64)}
DEPTH: Final = {"labels": floats(2, 64, 64)}
PIXEL_CLASSES: Final = {"labels": ids(2, 64, 64, below=2)}
NONE: Final[Inputs] = {}

STAGES: Final = {
    "embed_dim": 16, "hidden_size": 32, "depths": (1, 1), "num_heads": (2, 4), "num_layers": 2,
    "patch_size": 4, "window_size": 4,
}  # fmt: skip
STAGES4: Final = {
    "embed_dim": 16, "hidden_size": 128, "depths": (1, 1, 1, 1), "num_heads": (2, 2, 4, 4),
    "num_layers": 4, "patch_size": 4, "window_size": 4,
}  # fmt: skip
KEYPOINTS: Final = {
    "encoder_hidden_sizes": [16, 16, 32, 32], "decoder_hidden_size": 32,
    "descriptor_decoder_dim": 32, "keypoint_decoder_dim": 65, "keypoint_threshold": 0.0,
    "max_keypoints": 16,
}  # fmt: skip

VISION: Final[tuple[Model, ...]] = (
    *family(
        FAMILY, PICTURE, CLASSES,
        "vit:ViTForImageClassification", "deit:DeiTForImageClassification",
        "beit:BeitForImageClassification", "convnext:ConvNextForImageClassification",
        "convnextv2:ConvNextV2ForImageClassification", "resnet:ResNetForImageClassification",
        "regnet:RegNetForImageClassification", "dinov2:Dinov2ForImageClassification",
        "mobilevit:MobileViTForImageClassification", "pvt:PvtForImageClassification",
        "poolformer:PoolFormerForImageClassification", "cvt:CvtForImageClassification",
        "mobilenet_v2:MobileNetV2ForImageClassification",
        "focalnet:FocalNetForImageClassification", "ijepa:IJepaForImageClassification",
    ),
    *family(
        FAMILY, BIGGER, CLASSES,
        "mobilevitv2:MobileViTV2ForImageClassification",
        "swiftformer:SwiftFormerForImageClassification", "pvt_v2:PvtV2ForImageClassification",
    ),
    *family(FAMILY, PICTURE, NONE, "vit_mae:ViTMAEForPreTraining", "yolos:YolosForObjectDetection"),
    *family(FAMILY, BIGGER, DEPTH, "glpn:GLPNForDepthEstimation"),
    *family(FAMILY, BIGGER, PIXEL_CLASSES, "segformer:SegformerForSemanticSegmentation"),
    Model("swin", "SwinForImageClassification", FAMILY, PICTURE, CLASSES, STAGES),
    Model("swinv2", "Swinv2ForImageClassification", FAMILY, PICTURE, CLASSES, STAGES),
    Model(
        "levit", "LevitForImageClassification", FAMILY, BIGGER, CLASSES,
        {"image_size": 64, "patch_size": 16},
    ),
    Model(
        "hiera", "HieraForImageClassification", FAMILY, BIGGER, CLASSES,
        {"image_size": (64, 64), "embed_dim": 16, "hidden_size": 128, "depths": (1, 1, 1, 1)},
    ),
    Model(
        "videomae", "VideoMAEForVideoClassification", FAMILY, FILM, CLASSES,
        {"num_frames": 4, "tubelet_size": 2},
    ),
    Model(
        "timesformer", "TimesformerForVideoClassification", FAMILY, FILM, CLASSES,
        {"num_frames": 4},
    ),
    Model(
        "vivit", "VivitForVideoClassification", FAMILY, FILM, CLASSES,
        {"num_frames": 4, "tubelet_size": [2, 8, 8]},
    ),
    Model("superpoint", "SuperPointForKeypointDetection", FAMILY, BIGGER, {}, KEYPOINTS),
    Model(
        "superglue", "SuperGlueForKeypointMatching", FAMILY, PAIR, {},
        {
            "keypoint_detector_config": KEYPOINTS, "hidden_size": 32,
            "keypoint_encoder_sizes": [16, 32], "gnn_layers_types": ["self", "cross"],
        },
    ),
    Model(
        "lightglue", "LightGlueForKeypointMatching", FAMILY, PAIR, {},
        {"keypoint_detector_config": KEYPOINTS, "hidden_size": 32, "descriptor_dim": 32},
    ),
    Model(
        "eomt", "EomtForUniversalSegmentation", FAMILY, PICTURE, {},
        {"num_blocks": 1, "num_upscale_blocks": 1},
    ),
    Model(
        "dpt", "DPTForDepthEstimation", FAMILY, PICTURE, {},
        {
            "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3],
            "neck_hidden_sizes": [16, 16, 32, 32], "fusion_hidden_size": 16,
        },
    ),
    Model(
        "efficientnet", "EfficientNetForImageClassification", FAMILY, PICTURE, CLASSES,
        {"hidden_dim": 2560},
    ),
    Model(
        "rt_detr", "RTDetrForObjectDetection", FAMILY, BIGGER, {},
        {
            "backbone_config": {
                "embedding_size": 16, "hidden_sizes": [16, 16, 32, 32], "depths": [1, 1, 1, 1],
            },
            "encoder_in_channels": [16, 32, 32], "encoder_hidden_dim": 32,
            "decoder_in_channels": [32, 32, 32],
        },
    ),
    Model(
        "mask2former", "Mask2FormerForUniversalSegmentation", FAMILY, BIGGER, {},
        {"feature_size": 32, "mask_feature_size": 32, "hidden_dim": 32, "backbone_config": STAGES4},
    ),
    Model(
        "sam", "SamModel", FAMILY,
        {"pixel_values": floats(1, 3, 32, 32), "input_points": floats(1, 1, 1, 2)}, {},
        {
            "vision_config": {
                "output_channels": 32, "num_pos_feats": 16, "global_attn_indexes": [1],
                "window_size": 2,
            },
            "prompt_encoder_config": {
                "image_size": 32, "patch_size": 8, "image_embedding_size": 4,
            },
        },
    ),
)  # fmt: skip
