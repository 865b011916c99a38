"""Commands of `wiser`, one file each. They import what they work with when they run, so that help comes at once."""
