"""Rules about communication between processes inside compiled code."""
