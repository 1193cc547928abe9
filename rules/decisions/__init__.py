"""What Python decides on a tensor: where the decision stands, what it is for, what drew it."""
