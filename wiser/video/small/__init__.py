"""A small Cosmos, trained on clips of a pouring robot arm that it draws itself."""
