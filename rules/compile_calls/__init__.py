"""Rules about calls of ``torch.compile``: what it accepts, and what is best compiled."""
