"""The other cars on a CARLA server: driven by its traffic manager, placed and timed by the episode's generator."""

from __future__ import annotations

import math
from typing import Protocol

import carla
import numpy as np

from wiser.envs.driving.carla_backend.scene import pose_of, size_of
from wiser.envs.driving.carla_backend.server import Session
from wiser.envs.driving.carla_backend.town import on_town
from wiser.envs.driving.drivers import STANDSTILL, indicate, project
from wiser.envs.driving.progress import Progress
from wiser.envs.driving.roads import SAMPLE, Floats
from wiser.envs.driving.tasks import Task
from wiser.envs.driving.traffic import FLOW_SPEED

TOWN_CARS = 50  # spread over the whole town, where the embedded world keeps a window of traffic round the ego
KEEP_CLEAR = 12.0  # metres round the ego in which nobody is placed
CLEARANCE = 0.3  # metres above the road at which cars are put down
ROOM = 5.5  # metres that a car about to be placed may need
PATH_STEP = 20  # samples between the points of a path given to the traffic manager


class Traffic(Protocol):
    """The other cars of one episode."""

    def step(self, ego: Floats, progress: Progress) -> None:
        """Let cars in and out, once per tick; ego (1, 4)."""


def car_blueprints(world: carla.World) -> list[carla.ActorBlueprint]:
    """Ordinary cars, always in the same order."""
    found = [
        blueprint
        for blueprint in world.get_blueprint_library().filter("vehicle.*")
        if blueprint.get_attribute("number_of_wheels").as_int() == 4
        and (not blueprint.has_attribute("base_type") or blueprint.get_attribute("base_type").as_str() == "car")
    ]
    return sorted(found, key=lambda blueprint: blueprint.id)


def draw_car(blueprints: list[carla.ActorBlueprint], rng: np.random.Generator) -> carla.ActorBlueprint:
    """A model and one of its colours."""
    blueprint = blueprints[int(rng.integers(len(blueprints)))]
    if blueprint.has_attribute("color"):
        colours = blueprint.get_attribute("color").recommended_values
        blueprint.set_attribute("color", colours[int(rng.integers(len(colours)))])
    blueprint.set_attribute("role_name", "autopilot")
    return blueprint


def pose_on_road(x: float, y: float, yaw: float, height: float) -> carla.Transform:
    """Where to put a car down: a little above the road, yaw in radians."""
    return carla.Transform(carla.Location(x=x, y=y, z=height + CLEARANCE), carla.Rotation(yaw=math.degrees(yaw)))


class TownTraffic:
    """Cars on autopilot at random places of the town, changing lanes as they like. They stay all episode."""

    def __init__(
        self, session: Session, town: carla.Map, cars: int, rng: np.random.Generator, ego: carla.Location
    ) -> None:
        places = [place for place in town.get_spawn_points() if place.location.distance(ego) > KEEP_CLEAR]
        blueprints, port = car_blueprints(session.world), session.options.traffic_port
        placed = 0
        for k in rng.permutation(len(places)).tolist():
            if placed == cars:
                break
            vehicle = session.spawn_vehicle(draw_car(blueprints, rng), places[k])
            if vehicle is not None:
                vehicle.set_autopilot(True, port)
                session.traffic.auto_lane_change(vehicle, True)
                placed += 1

    def step(self, ego: Floats, progress: Progress) -> None:
        """Nobody comes or goes."""


class CrossFlow:
    """A stream of cars with drawn gaps through the junction, in the lane that the ego turns into.

    As in the embedded world, an ego that has waited for a second at the mouth is let in.
    """

    def __init__(self, session: Session, town: carla.Map, task: Task, cars: int, rng: np.random.Generator) -> None:
        assert task.flow_gap is not None
        self._session, self._gaps, self._most, self._rng = session, task.flow_gap, cars, rng
        self._blueprints = car_blueprints(session.world)
        self._lane, self._heights = flow_lane(town, task)
        self._cars: list[carla.Vehicle] = []
        self._waited, self._claims = np.zeros(1), np.zeros((1, 3))
        front = self._length
        while front > ROOM and len(self._cars) < cars:
            front = self._let_in(front - 0.5 * ROOM) - self._draw_gap()
        self._gap = self._draw_gap()

    @property
    def _length(self) -> float:
        return (len(self._lane) - 1) * SAMPLE

    def _draw_gap(self) -> float:
        return float(self._rng.uniform(*self._gaps))

    def step(self, ego: Floats, progress: Progress) -> None:
        """Take away cars that have left the stage, let the next one in once the last is its gap away."""
        p = progress
        indicate(ego, p.route, p.index, p.yields, self._waited, self._lane, self._claims)
        rear = self._length
        for car in list(self._cars):
            x, y, _, speed = pose_of(car)
            s, half = float(project(self._lane, x, y)[0]), 0.5 * size_of(car)[0]
            if s > self._length - 1.0:
                self._session.remove_vehicle(car)
                self._cars.remove(car)
            else:
                rear = min(rear, s - half)
                wish = courteous_speed(self._claims[0, 0] - s - half, speed)
                self._session.traffic.set_desired_speed(car, wish * 3.6)  # km/h
        if len(self._cars) < self._most and rear > self._gap + ROOM:
            self._let_in(0.5 * ROOM)
            self._gap = self._draw_gap()

    def _place(self, k: int) -> carla.Transform:
        x, y, yaw = self._lane[k].tolist()
        return pose_on_road(x, y, yaw, float(self._heights[k]))

    def _let_in(self, s: float) -> float:
        """Put a car on the lane with its middle at `s`; where its rear is then, or would be if there was no room."""
        k = min(round(s / SAMPLE), len(self._lane) - 1)
        car = self._session.spawn_vehicle(draw_car(self._blueprints, self._rng), self._place(k))
        if car is None:
            return s - 0.5 * ROOM
        traffic = self._session.traffic
        car.set_autopilot(True, self._session.options.traffic_port)
        traffic.auto_lane_change(car, False)
        traffic.ignore_lights_percentage(car, 100.0)
        traffic.ignore_signs_percentage(car, 100.0)
        traffic.set_desired_speed(car, FLOW_SPEED * 3.6)
        traffic.distance_to_leading_vehicle(car, self._gaps[0])
        path = range(k + PATH_STEP, len(self._lane), PATH_STEP)
        traffic.set_path(car, [self._place(p).location for p in path])
        self._cars.append(car)
        return s - 0.5 * size_of(car)[0]


def courteous_speed(distance: float, speed: float) -> float:
    """Speed for a car `distance` metres before a place an ego asks for; one that would have to brake hard drives on."""
    if distance < 0.0 or speed * speed > 5.0 * (distance - 1.0):
        return FLOW_SPEED
    return min(FLOW_SPEED, math.sqrt(2.0 * max(distance - STANDSTILL, 0.0)))


def flow_lane(town: carla.Map, task: Task) -> tuple[Floats, Floats]:
    """The lane of the flow as far as the town has it, every half metre: (P, 3) x, y, yaw, and its height (P,).

    Our maps' arms are a little longer than the town's.
    """
    line, lanes = task.road_map().corridor()
    aside = lanes[-1]
    lane = line.copy()
    lane[:, 0], lane[:, 1] = line[:, 0] - aside * np.sin(line[:, 2]), line[:, 1] + aside * np.cos(line[:, 2])
    heights, away = on_town(town, lane)
    there = np.flatnonzero(away < 1.0)
    return lane[there[0] : there[-1] + 1].copy(), heights[there[0] : there[-1] + 1]


class NoTraffic:
    """An empty road."""

    def step(self, ego: Floats, progress: Progress) -> None:
        """Nobody comes or goes."""


def make_traffic(
    session: Session, town: carla.Map, task: Task, cars: int | None, rng: np.random.Generator, ego: carla.Location
) -> Traffic:
    """The task's traffic; `cars` overrides how many."""
    session.traffic.set_random_device_seed(int(rng.integers(2**31)))
    if task.flow_gap is not None:
        return CrossFlow(session, town, task, task.cars if cars is None else cars, rng)
    if task.cars or cars:
        return TownTraffic(session, town, TOWN_CARS if cars is None else cars, rng, ego)
    return NoTraffic()
