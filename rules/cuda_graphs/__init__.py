"""Rules about what CUDA graphs, as `mode="reduce-overhead"` makes them, cannot do."""
