"""Code that makes torch.compile compile again: per size, per value, per call."""
