"""What earlier runs found and printed, and whether it still holds."""
