"""One world of a task on a CARLA server, with the interface of the embedded one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import carla
import numpy as np
from numpy.typing import NDArray

from wiser.envs.driving import dynamics, expert, tasks
from wiser.envs.driving.carla_backend import town, traffic
from wiser.envs.driving.carla_backend.scene import cars_round, pose_of
from wiser.envs.driving.carla_backend.sensors import RENDERED, SensorRig
from wiser.envs.driving.carla_backend.server import CarlaError, ServerOptions, Session
from wiser.envs.driving.progress import Mask, Progress, StepResult
from wiser.envs.driving.roads import Floats
from wiser.envs.driving.sensors.scene import Scene
from wiser.envs.driving.sensors.suite import SENSORS
from wiser.envs.driving.tasks import Task

EGO_BLUEPRINT = "vehicle.tesla.model3"
PEDAL = 3.0  # m/s^2 for which the whole pedal is pressed
SETTLE_TICKS = 10
HOLD = carla.VehicleControl(brake=1.0, hand_brake=True)


def to_control(acceleration: float, steer: float) -> carla.VehicleControl:
    """Pedals and wheel: a third of the acceleration, and CARLA steers positive to the right."""
    share = acceleration / PEDAL
    return carla.VehicleControl(throttle=max(share, 0.0), brake=max(-share, 0.0), steer=-steer)


class CarlaWorld:
    """A batch of one. Connects and loads the task's town at once; `reset` begins an episode.

    The server is let go of at `close`, and also when anything goes wrong in `reset` or `step`, an interrupt included.
    """

    batch = 1

    def __init__(
        self,
        task: Task,
        sensors: Sequence[str] = SENSORS,
        cars: int | None = None,
        options: ServerOptions | None = None,
        camera_pixels: int = 256,
        make_client: Callable[[str, int], carla.Client] = carla.Client,
    ) -> None:
        self.task = task
        self.renders = tuple(name for name in RENDERED if name in sensors)
        self.ego, self.velocity = np.zeros((1, 4)), np.zeros((1, 2))
        self.progress = Progress.of(task, 1)
        self.collided, self.ttc = np.zeros(1, np.bool_), np.full(1, np.inf)
        self._wanted_cars, self._pixels = cars, camera_pixels
        self._rng = np.random.default_rng()
        self._signs = np.array([[s.x, s.y, s.yaw] for s in task.road_map().signs]).reshape(-1, 3)
        self.session = Session(options or ServerOptions(), make_client)
        with self._letting_go():
            self.session.load(task.road_map().town, rendering="camera" in self.renders)
            self.town = self.session.world.get_map()
            route = tasks.build_route(task, np.random.default_rng(0)).waypoints
            self.surface = town.town_surface(self.town, task, route, town.route_heights(self.town, route))

    @contextmanager
    def _letting_go(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def reset(self, mask: Mask, seeds: Sequence[int | None] | None = None) -> None:
        """Begin a new episode; a seed of None goes on with the stream."""
        if not mask[0]:
            return
        if self.session.closed:
            raise CarlaError("the session with the CARLA server is over; make a new environment")
        seed = seeds[0] if seeds is not None else None
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        with self._letting_go():
            self.session.belongings.destroy()
            self.session.tick()  # what was destroyed is gone after a tick
            route = self.progress.begin(0, self._rng)
            x, y, yaw = map(float, tasks.start_pose(route, self._rng))
            place = traffic.pose_on_road(x, y, yaw, float(town.route_heights(self.town, route.waypoints)[0]))
            self._vehicle = self._spawn_ego(place)
            wheels = self._vehicle.get_physics_control().wheels
            self._lock = math.radians(max(wheel.max_steer_angle for wheel in wheels))
            self._rig = SensorRig(self.session, self._vehicle, self.renders, self._pixels)
            self._traffic = traffic.make_traffic(
                self.session, self.town, self.task, self._wanted_cars, self._rng, place.location
            )
            self._settle()
        self.collided[:] = False

    def _settle(self) -> None:
        """Let the cars come down on their wheels. A sensor may miss the first ticks after it was mounted."""
        for _ in range(SETTLE_TICKS):
            self._vehicle.apply_control(HOLD)
            frame = self.session.tick()
            self._look_around()
        self._rig.collect(frame)

    def _spawn_ego(self, place: carla.Transform) -> carla.Vehicle:
        blueprint = self.session.world.get_blueprint_library().find(EGO_BLUEPRINT)
        blueprint.set_attribute("role_name", "hero")
        vehicle = self.session.spawn_vehicle(blueprint, place)
        if vehicle is None:
            raise CarlaError(f"the ego's place at {place.location} is taken: remove other clients' vehicles")
        return vehicle

    def _look_around(self) -> None:
        """Read where everybody is. Traffic comes last: where a new actor is can only be read after the next tick."""
        velocity = self._vehicle.get_velocity()
        self.ego[0], self.velocity[0] = pose_of(self._vehicle), (velocity.x, velocity.y)
        self._cars = cars_round(self.town, self._vehicle, self.session.world.get_actors().filter("vehicle.*"))
        self._present = np.ones((1, len(self._cars.pose)), np.bool_)
        touches = np.zeros(1, np.bool_)  # by our boxes; CARLA's own collision sensor knows better
        dynamics.contacts(self.ego, self._cars.pose[None], self._cars.size[None], self._present, touches, self.ttc)
        self._traffic.step(self.ego, self.progress)

    def step(self, acceleration: Floats, steer: Floats, active: Mask) -> StepResult:
        """Drive for a tenth of a second, judge it. If the world is not active the server stands still."""
        if active[0]:
            with self._letting_go():
                self._vehicle.apply_control(to_control(float(acceleration[0]), float(steer[0])))
                self.collided[0] = self._rig.collect(self.session.tick())
                self._look_around()
        return self.progress.judge(self.ego[:, :2], self.velocity, self.collided, active)

    def expert_commands(self) -> Floats:
        """What the scripted driver would do now: (1, 2), its steering scaled to the ego's own wheel lock."""
        out, p, cars = np.zeros((1, 2)), self.progress, self._cars
        expert.drive(
            self.ego, cars.pose[None], cars.size[None], self._present, p.route, p.count, p.index, p.yields,
            p.route_stop, p.held, out,
        )  # fmt: skip
        out[0, 1] = np.clip(out[0, 1] * dynamics.MAX_STEER / self._lock, -1.0, 1.0)
        return out

    def scene(self) -> Scene:
        """What the sensors may look at."""
        cars, signs = self._cars, self._signs
        return Scene(
            ego=self.ego, cars=cars.pose[None], size=cars.size[None], paint=cars.paint[None], present=self._present,
            plans=cars.plans[None], route=self.progress.visible(), signs=signs, owed=self.progress.owed(len(signs)),
        )  # fmt: skip

    def images(self, size: int) -> dict[str, NDArray[np.uint8]]:
        """The camera's and lidar's images: (1, size, size, 3) each."""
        return {name: image[None] for name, image in self._rig.images(size).items()}

    def close(self) -> None:
        """Destroy what was spawned, restore the server's settings, stop it if it was started here."""
        self.session.close()
