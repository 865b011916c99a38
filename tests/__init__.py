"""A package, so that it comes before any other of this name that is installed (opensimplex brings one along)."""
