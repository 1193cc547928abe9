"""Code that makes the host wait for the device."""
