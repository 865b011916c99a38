"""Our own camera rig: one GL context, one scene and three cameras, about as fast as software can draw them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from wiser.envs.safety.course import Course
from wiser.envs.safety.gl import clear_up, context_kind, current, leave, use
from wiser.envs.safety.package import mujoco

Image = NDArray[np.uint8]
Shape = Mapping[str, Any]
"""Something that is drawn but not there: type, size, pos and rgba."""
MOST_SHAPES = 400
"""Geoms in a scene, what is not there included."""
FAST = {"offsamples": 0, "numslices": 14, "numstacks": 8, "numquads": 2}
"""No smoothing of edges, and round things of few faces: at 64 x 64 pixels grey levels differ by 1 to 2 of 255."""
DEVICES = (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION)
"""Slow, and without effect here: the only light casts no shadows and nothing reflects."""


def birdeye() -> Any:
    """The whole map from above, x to the right and y upwards."""
    return _free((0.0, 0.0, 0.0), distance=5.6, azimuth=90.0, elevation=-90.0)


def front(model: Any) -> Any:
    """The camera that the package mounts on the robot, looking forward and a little down."""
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
    camera.fixedcamid = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, "vision")
    return camera


def dash(course: Course) -> Any:
    """From behind and above the robot, looking where it is heading; it stays level when the robot tilts."""
    ahead = course.forward
    heading = math.degrees(math.atan2(ahead[1], ahead[0]))
    aim = course.position + 0.5 * np.array([math.cos(math.radians(heading)), math.sin(math.radians(heading)), 0.0])
    return _free((aim[0], aim[1], 0.1), distance=1.1, azimuth=heading, elevation=-25.0)


def _free(lookat: Iterable[float], distance: float, azimuth: float, elevation: float) -> Any:
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE
    camera.lookat[:] = tuple(lookat)
    camera.distance, camera.azimuth, camera.elevation = distance, azimuth, elevation
    return camera


class Rig:
    """Draws worlds of one kind, whose models change from episode to episode and whose textures do not.

    size: pixels from side to side.
    quality: smooth edges, round things of many faces and shadows, as MuJoCo has them.

    Everything is made at the first picture, in the process that draws it: a context is of no use in another one.
    """

    def __init__(self, size: int, quality: bool = False) -> None:
        if size < 1:
            raise ValueError(f"a picture has at least 1 pixel, got size {size}")
        context_kind()  # an error is of more use now than at the first picture
        self.size, self.quality = size, quality
        self._gl: Any = None
        self._free: Any = lambda: None

    def draw(self, model: Any, data: Any, cameras: Iterable[Any], further: Iterable[Shape] = ()) -> list[Image]:
        """What each camera sees, (size, size, 3), upright; `further` shapes are drawn besides the model's own."""
        clear_up()
        if self._gl is None:
            self._open(model)
        with current(self._gl):
            return [self._shoot(model, data, camera, further) for camera in cameras]

    def close(self) -> None:
        """Let go of the context; the next picture makes a new one."""
        self._free()
        clear_up()
        self._gl = None

    def _open(self, model: Any) -> None:
        gl = context_kind()(self.size, self.size)
        buffer = _having(model.vis.global_, offwidth=self.size, offheight=self.size)
        with buffer, _having(model.vis.quality, **({} if self.quality else FAST)), current(gl):
            context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_150)
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, context)
        self._gl, self._context = gl, context
        free = partial(_free_context, gl, context)
        use(free)
        self._free = finalize(self, leave, free)
        self._free.atexit = False
        self._scene = mujoco.MjvScene(model, MOST_SHAPES)
        if not self.quality:
            self._scene.flags[list(map(int, DEVICES))] = 0
        self._options, self._touch = mujoco.MjvOption(), mujoco.MjvPerturb()
        self._options.geomgroup[:] = 1  # goals, hazards and buttons are in groups that MuJoCo does not show
        self._frame = mujoco.MjrRect(0, 0, self.size, self.size)

    def _shoot(self, model: Any, data: Any, camera: Any, further: Iterable[Shape]) -> Image:
        scene, all_kinds = self._scene, mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(model, data, self._options, self._touch, camera, all_kinds, scene)
        for shape in further:
            mujoco.mjv_initGeom(scene.geoms[scene.ngeom], mat=np.eye(3).ravel(), **shape)
            scene.ngeom += 1
        mujoco.mjr_render(self._frame, scene, self._context)
        image = np.empty((self.size, self.size, 3), np.uint8)
        mujoco.mjr_readPixels(image, None, self._frame, self._context)
        return np.ascontiguousarray(image[::-1])  # OpenGL counts rows from below


@contextmanager
def _having(settings: Any, **values: int) -> Iterator[None]:
    """Settings of a model as a new context is to find them; the model is not ours alone."""
    before = {name: getattr(settings, name) for name in values}
    try:
        for name, value in values.items():
            setattr(settings, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(settings, name, value)


def _free_context(gl: Any, context: Any) -> None:
    with current(gl):
        context.free()
    gl.free()
