"""Tensors, parameters and layers that are made anew in every step."""
