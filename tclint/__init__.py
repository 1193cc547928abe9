"""tclint finds, fixes and verifies PyTorch code that ``torch.compile`` cannot digest."""

__version__ = "0.1.0"
