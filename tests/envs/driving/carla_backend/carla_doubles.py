"""Stand-ins for a CARLA server and its client, world and traffic manager, on our own maps.

`Server.log` keeps the order of everything that must be undone; `Server.faults` makes things fail.
"""

from __future__ import annotations

import math

import carla

from tests.envs.driving.carla_backend.carla_double_actors import Actors, Sensor, Vehicle, library, overlap
from wiser.envs.driving.opendrive import to_opendrive

SETTINGS = ("synchronous_mode", "no_rendering_mode", "fixed_delta_seconds", "substepping", "max_substeps")


class Town:
    """A real `carla.Map` of one of our maps, with places to spawn, which only a server knows."""

    def __init__(self, road_map):
        self._map = carla.Map(f"Carla/Maps/{road_map.town}", to_opendrive(road_map))

    def __getattr__(self, name):
        return getattr(self._map, name)

    def get_spawn_points(self):
        return [point.transform for point in self._map.generate_waypoints(40.0)]


class World:
    def __init__(self, server):
        self.server = server

    def get_map(self):
        return self.server.town

    def get_settings(self):
        return copied(self.server.settings)

    def apply_settings(self, world_settings):
        self.server.log.append(("settings", world_settings.synchronous_mode))
        self.server.settings = copied(world_settings)
        return self.server.frame

    def get_blueprint_library(self):
        return library()

    def get_actors(self):
        return Actors(self.server.actors.values())

    def try_spawn_actor(self, blueprint, transform, attach_to=None):
        self.server.fail("spawn")
        kind = Sensor if blueprint.id.startswith("sensor.") else Vehicle
        actor = kind(self.server, blueprint, transform)
        if kind is Vehicle:
            actor.place(transform.location.x, transform.location.y, math.radians(transform.rotation.yaw))
            if any(overlap(actor, other) for other in self.server.vehicles()):
                return None
        self.server.actors[actor.id] = actor
        return actor

    spawn_actor = try_spawn_actor

    def tick(self, seconds=10.0):
        self.server.fail("tick")
        assert self.server.settings.synchronous_mode
        self.server.frame += 1
        for actor in self.server.vehicles():
            actor.drive()
        for actor in self.server.vehicles():
            actor.seen = actor.transform, actor.velocity
        for actor in list(self.server.actors.values()):
            if isinstance(actor, Sensor):
                actor.emit(self.server.frame)
        return self.server.frame


class TrafficManager:
    def __init__(self, server):
        self.server, self.seeds = server, []

    def set_synchronous_mode(self, mode_switch=True):
        self.server.log.append(("traffic", mode_switch))

    def set_random_device_seed(self, value):
        self.seeds.append(value)

    def set_desired_speed(self, actor, speed):
        actor.wish = speed / 3.6

    def auto_lane_change(self, actor, enable):
        pass

    def ignore_lights_percentage(self, actor, perc):
        pass

    def ignore_signs_percentage(self, actor, perc):
        pass

    def distance_to_leading_vehicle(self, actor, distance):
        pass

    def set_path(self, actor, path):
        assert all(isinstance(place, carla.Location) for place in path)


class Client:
    def __init__(self, server):
        self.server = server

    def set_timeout(self, second):
        self.server.timeouts.append(second)

    def get_client_version(self):
        return "0.9.16"

    def get_server_version(self):
        self.server.fail("version")
        return self.server.version

    def get_world(self):
        return World(self.server)

    def load_world(self, map_name, reset_settings=True):
        self.server.log.append(("load", map_name))
        self.server.town = Town(self.server.maps[map_name])
        self.server.actors.clear()
        self.server.settings = carla.WorldSettings()
        return World(self.server)

    def get_trafficmanager(self, client_connection=8000):
        return self.server.traffic

    def apply_batch_sync(self, commands, do_tick=False):
        self.server.fail("destroy")
        for command in commands:
            self.server.log.append(("destroy", command.actor_id))
            self.server.actors.pop(command.actor_id)
        return []


class Server:
    """Everything behind the clients."""

    def __init__(self, road_map, loaded=None):
        """Serves one map of ours, in the name of its town; `loaded` is another one it has when the client comes."""
        self.maps = {road_map.town: road_map}
        self.town = Town(loaded or road_map)
        self.settings, self.version, self.frame = carla.WorldSettings(), "0.9.15", 100
        self.actors, self.log, self.timeouts, self.faults = {}, [], [], {}
        self.traffic, self._ids = TrafficManager(self), 0

    def __call__(self, host, port):
        """As the class of clients."""
        return Client(self)

    def next_id(self):
        self._ids += 1
        return self._ids

    def fail(self, what):
        """Raise the prepared error; `faults[what] = (k, error)` lets k calls pass first."""
        if what in self.faults:
            left, error = self.faults[what]
            self.faults[what] = (left - 1, error)
            if left <= 0:
                raise error

    def vehicles(self):
        return [actor for actor in self.actors.values() if isinstance(actor, Vehicle)]

    def ego(self):
        return next(actor for actor in self.vehicles() if actor.attributes["role_name"] == "hero")

    def ego_touches(self):
        ego = self.ego()
        return any(overlap(ego, other) for other in self.vehicles() if other is not ego)


def copied(settings):
    out = carla.WorldSettings()
    for name in SETTINGS:
        setattr(out, name, getattr(settings, name))
    return out
