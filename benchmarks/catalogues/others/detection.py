"""Detectors and local features: boxes, keypoints, matches, whose number the picture decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.catalogues.inputs import Inputs, Model, floats, nested, plain, tensor

FAMILY: Final = "detection"
PICTURES: Final = {"images": nested([floats(3, 64, 64), floats(3, 48, 64)])}
BOXES: Final = {
    "targets": nested([{"boxes": tensor([[4.0, 4.0, 40.0, 40.0]]), "labels": tensor([1])}] * 2)
}
TINY: Final = {"weights_backbone": None, "num_classes": 3, "min_size": 64, "max_size": 64}
GRAY: Final = {"img": floats(1, 1, 64, 64)}


def _detector(name: str, cls: str, config: Mapping[str, object]) -> Model:
    path = f"torchvision.models.detection.{cls}"
    return Model(name, path, FAMILY, PICTURES, BOXES, config, "torchvision")


def _kornia(name: str, cls: str, inputs: Inputs, config: Mapping[str, object]) -> Model:
    return Model(name, f"kornia.{cls}", FAMILY, inputs, {}, config, "kornia")


DETECTION: Final[tuple[Model, ...]] = (
    _detector("faster_rcnn", "fasterrcnn_mobilenet_v3_large_320_fpn", TINY),
    _detector("ssd_lite", "ssdlite320_mobilenet_v3_large",
              {"weights_backbone": None, "num_classes": 3}),
    _detector("fcos", "fcos_resnet50_fpn", TINY),
    _kornia(
        "loftr", "feature.LoFTR",
        {"data": nested({"image0": floats(1, 1, 64, 64), "image1": floats(1, 1, 64, 64)})},
        {"pretrained": None},
    ),
    _kornia("disk", "feature.DISK", {"images": floats(1, 3, 64, 64), "n": plain(16)}, {}),
    _kornia("xfeat", "feature.xfeat.XFeatModel", {"x": floats(1, 3, 64, 64)}, {}),
    _kornia("keynet", "feature.KeyNet", {"x": floats(1, 1, 64, 64)}, {"pretrained": False}),
    _kornia(
        "scale_space_detector", "feature.ScaleSpaceDetector", GRAY, {"num_features": 16}
    ),
    _kornia("sift_descriptor", "feature.SIFTDescriptor", {"input": floats(2, 1, 41, 41)}, {}),
    _kornia("canny", "filters.Canny", {"input": floats(1, 1, 32, 32)}, {}),
    _kornia(
        "random_affine", "augmentation.RandomAffine", {"input": floats(2, 3, 16, 16)},
        {"degrees": 10.0, "p": 1.0},
    ),
    _kornia(
        "hausdorff", "losses.HausdorffERLoss",
        {"pred": floats(1, 2, 8, 8), "target": tensor([[[[0, 1] * 4] * 8]])},
        {"k": 2},
    ),
)  # fmt: skip
