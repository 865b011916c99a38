"""dreamer."""
