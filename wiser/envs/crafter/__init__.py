"""Crafter: a world to survive in, seen in six ways, and novelties that change what is seen or who is to be feared."""
