"""What the recorder costs a step."""
