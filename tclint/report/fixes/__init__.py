"""What fixing did, for people and for programs."""
