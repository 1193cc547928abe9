"""Repairs that take more than a template: what they need to hold, and how they are written."""
