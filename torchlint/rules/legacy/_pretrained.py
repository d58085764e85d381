"""The models of torchvision that took ``pretrained``, and the weights that it meant. Read from torchvision 0.29."""

from __future__ import annotations

from dataclasses import dataclass

_IMAGENET = "IMAGENET1K_V1"
_CLASSIFIERS = frozenset(
    {
        *("alexnet", "convnext_base", "convnext_large", "convnext_small", "convnext_tiny", "densenet121", "densenet161"),
        *("densenet169", "densenet201", "efficientnet_b0", "efficientnet_b1", "efficientnet_b2", "efficientnet_b3"),
        *("efficientnet_b4", "efficientnet_b5", "efficientnet_b6", "efficientnet_b7", "efficientnet_v2_l", "efficientnet_v2_m"),
        *("efficientnet_v2_s", "googlenet", "inception_v3", "maxvit_t", "mnasnet0_5", "mnasnet0_75", "mnasnet1_0"),
        *("mnasnet1_3", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small", "regnet_x_16gf", "regnet_x_1_6gf"),
        *("regnet_x_32gf", "regnet_x_3_2gf", "regnet_x_400mf", "regnet_x_800mf", "regnet_x_8gf", "regnet_y_128gf"),
        *("regnet_y_16gf", "regnet_y_1_6gf", "regnet_y_32gf", "regnet_y_3_2gf", "regnet_y_400mf", "regnet_y_800mf"),
        *("regnet_y_8gf", "resnet101", "resnet152", "resnet18", "resnet34", "resnet50", "resnext101_32x8d"),
        *("resnext101_64x4d", "resnext50_32x4d", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5"),
        *("shufflenet_v2_x2_0", "squeezenet1_0", "squeezenet1_1", "swin_b", "swin_s", "swin_t", "swin_v2_b", "swin_v2_s"),
        *("swin_v2_t", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn", "vit_b_16"),
        *("vit_b_32", "vit_h_14", "vit_l_16", "vit_l_32", "wide_resnet101_2", "wide_resnet50_2"),
    }
)
_DETECTORS = frozenset(
    {
        *("fasterrcnn_mobilenet_v3_large_320_fpn", "fasterrcnn_mobilenet_v3_large_fpn", "fasterrcnn_resnet50_fpn"),
        *("fasterrcnn_resnet50_fpn_v2", "fcos_resnet50_fpn", "keypointrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn"),
        *("maskrcnn_resnet50_fpn_v2", "retinanet_resnet50_fpn", "retinanet_resnet50_fpn_v2", "ssd300_vgg16"),
        "ssdlite320_mobilenet_v3_large",
    }
)
_SEGMENTERS = frozenset(
    {
        *("deeplabv3_mobilenet_v3_large", "deeplabv3_resnet101", "deeplabv3_resnet50", "fcn_resnet101", "fcn_resnet50"),
        "lraspp_mobilenet_v3_large",
    }
)
_VIDEO = frozenset({"mc3_18", "mvit_v1_b", "mvit_v2_s", "r2plus1d_18", "r3d_18", "s3d", "swin3d_b", "swin3d_s", "swin3d_t"})
_QUANTIZED = frozenset(
    {
        *("googlenet", "inception_v3", "mobilenet_v2", "mobilenet_v3_large", "resnet18", "resnet50", "resnext101_32x8d"),
        *("resnext101_64x4d", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0"),
    }
)
_FAMILIES = {
    "": (_CLASSIFIERS, _IMAGENET),
    "detection": (_DETECTORS, "COCO_V1"),
    "segmentation": (_SEGMENTERS, "COCO_WITH_VOC_LABELS_V1"),
    "video": (_VIDEO, "KINETICS400_V1"),
    "optical_flow": (frozenset({"raft_large"}), "C_T_SKHT_V2"),
}
"""The models of each package of `torchvision.models`, with the weights of all of them."""
BUILDERS = frozenset({"raft_small", *_QUANTIZED, *(name for names, _ in _FAMILIES.values() for name in names)})
"""What the functions are called that make them."""
_WITHOUT_WEIGHTS = frozenset({"regnet_y_128gf", "vit_h_14"})


@dataclass(frozen=True, slots=True)
class Builder:
    """A function that makes a model; the weights that ``pretrained=True`` and ``pretrained_backbone=True`` meant, if any."""

    weights: str | None
    backbone: str | None = None


ANY_CLASSIFIER = Builder(_IMAGENET)
"""What is taken from `torchvision.models` by a name that the program computes."""


def builder(name: str) -> Builder | None:
    """The builder of that dotted name; ``None`` for what is none, or took no ``pretrained``."""
    if not name.startswith("torchvision.models."):
        return None
    *path, last = name.removeprefix("torchvision.models.").split(".")
    family = path[0] if path and path[0] in (*_FAMILIES, "quantization") else ""
    if family == "quantization":
        return Builder(_IMAGENET) if last in _QUANTIZED else None
    if family == "optical_flow" and last == "raft_small":
        return Builder("C_T_V2")
    names, weights = _FAMILIES[family]
    if last not in names:
        return None
    backbone = "IMAGENET1K_FEATURES" if last == "ssd300_vgg16" else _IMAGENET
    return Builder(None if last in _WITHOUT_WEIGHTS else weights, backbone if family in ("detection", "segmentation") else None)
