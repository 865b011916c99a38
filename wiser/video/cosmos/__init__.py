"""Cosmos Predict 2.5 through diffusers (extra `cosmos`)."""
