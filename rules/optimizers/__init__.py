"""Rules about optimizers and the training step."""
