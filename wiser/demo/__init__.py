"""A demonstration for any CPU: learn a small world in a minute, break its sensors, watch the guard."""

from wiser.demo.run import Demo, demo

__all__ = ["Demo", "demo"]
