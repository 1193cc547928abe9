"""What a training step leaves out of compiled code."""
