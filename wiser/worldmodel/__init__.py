"""worldmodel."""
