"""Stands in for torchvision: made images with the work of its transforms, no files."""

from torchvision import datasets, models, transforms, utils

__all__ = ["datasets", "models", "transforms", "utils"]
