"""The parts of the package `safety-gymnasium` that the four tasks need, or how to get them.

Release 1.0.0 cannot be imported as a whole: it asks for a Gymnasium of 2023, and for dataclasses with arrays for
defaults, which Python forbids since 3.11. Its tasks, robots and physics are sound, and nothing of them is changed here.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from wiser.extras import install_hint

PACKAGE = "safety_gymnasium"


@contextmanager
def _bare_package() -> Iterator[None]:
    """Let modules of the package be imported without its `__init__`, which registers and wraps what is not needed."""
    spec = find_spec(PACKAGE)
    if spec is None:
        raise ImportError(f"No module named {PACKAGE!r}")
    bare = ModuleType(PACKAGE)
    bare.__spec__, bare.__file__ = spec, spec.origin
    bare.__path__ = list(spec.submodule_search_locations or ())
    sys.modules[PACKAGE] = bare
    try:
        yield
    except BaseException:
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]
        raise


@contextmanager
def _arrays_as_defaults() -> Iterator[None]:
    """Let fields of dataclasses have an array for a default: each instance gets a copy."""
    strict = dataclasses.dataclass

    def lenient(cls: Any = None, **settings: Any) -> Any:
        if cls is None:
            return lambda later: lenient(later, **settings)
        for name, value in list(vars(cls).items()):
            if isinstance(value, np.ndarray):
                setattr(cls, name, dataclasses.field(default_factory=value.copy))
        return strict(cls, **settings)

    dataclasses.dataclass = lenient
    try:
        yield
    finally:
        dataclasses.dataclass = strict


class _JointsByNumber:
    """A model whose `jnt` takes the one number in an array too: NumPy no longer makes it a number by itself."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def jnt(self, which: Any) -> Any:
        return self._model.jnt(int(np.asarray(which).item()))


def _number_joints(robot: Any) -> None:
    """Let robots with joints (the car) look them up."""
    look_up = robot._init_jnt_sensors

    @wraps(look_up)
    def numbered(self: Any) -> None:
        engine = self.engine
        self.engine = type(engine)(_JointsByNumber(engine.model), engine.data)
        try:
            look_up(self)
        finally:
            self.engine = engine

    robot._init_jnt_sensors = numbered


try:
    with _bare_package(), _arrays_as_defaults():
        import mujoco
        from safety_gymnasium import tasks, world
        from safety_gymnasium.bases.base_agent import BaseAgent
        from safety_gymnasium.builder import Builder
        from safety_gymnasium.utils.task_utils import get_body_xvelp, get_task_class_name
except ImportError as error:
    raise ImportError(f"Safety Gymnasium needs packages ({error}): {install_hint('safety')}") from error

_number_joints(BaseAgent)

__all__ = ["Builder", "get_body_xvelp", "get_task_class_name", "mujoco", "tasks", "world"]
