"""wiser."""
