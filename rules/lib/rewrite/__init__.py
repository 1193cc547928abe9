"""From a verdict to a repair, or to the reason why there is none."""
