"""Stand-ins for a CARLA server's objects, carrying the client library's real value types.

Cars are boxes on our own maps: the ego is the embedded world's bicycle, the others follow their lane and brake for
whatever is ahead. `Server.log` keeps the order of everything that must be undone; `Server.faults` makes things fail.
"""

from __future__ import annotations

import fnmatch
import math
from types import SimpleNamespace

import carla
import numpy as np

from wiser.envs.driving import dynamics
from wiser.envs.driving.carla_backend.scene import middle_of
from wiser.envs.driving.opendrive import to_opendrive

LOCK = math.degrees(dynamics.MAX_STEER)
SETTINGS = ("synchronous_mode", "no_rendering_mode", "fixed_delta_seconds", "substepping", "max_substeps")


class Attribute:
    def __init__(self, value, recommended_values=()):
        self.value, self.recommended_values = value, list(recommended_values)

    def as_int(self):
        return int(self.value)

    def as_str(self):
        return str(self.value)


class Blueprint:
    def __init__(self, id, **attributes):
        self.id, self.attributes = id, {name: Attribute(*value) for name, value in attributes.items()}

    def has_attribute(self, id):
        return id in self.attributes

    def get_attribute(self, id):
        return self.attributes[id]

    def set_attribute(self, id, value):
        assert isinstance(value, str)
        self.attributes[id].value = value


def car(id, wheels="4"):
    colours = ["200,60,50", "60,105,190"]
    return Blueprint(id, number_of_wheels=(wheels,), base_type=("car",), color=("0,0,0", colours), role_name=("",))


def library():
    camera = ("image_size_x", "image_size_y", "fov")
    lidar = ("channels", "range", "lower_fov", "upper_fov", "rotation_frequency", "points_per_second")
    cars = [car("vehicle.tesla.model3"), car("vehicle.audi.tt"), car("vehicle.yamaha.yzf", wheels="2")]
    return Library(
        [
            *cars,
            Blueprint("sensor.other.collision"),
            Blueprint("sensor.camera.rgb", **dict.fromkeys(camera, ("0",))),
            Blueprint("sensor.lidar.ray_cast", **dict.fromkeys(lidar, ("0",))),
        ]
    )


class Library(list):
    def filter(self, wildcard_pattern):
        return Library(item for item in self if fnmatch.fnmatch(item.id, wildcard_pattern))

    def find(self, id):
        return next(item for item in self if item.id == id)


class Actors(list):
    def filter(self, wildcard_pattern):
        return Actors(item for item in self if fnmatch.fnmatch(item.type_id, wildcard_pattern))


class Actor:
    def __init__(self, server, blueprint, transform):
        self.server, self.type_id, self.id = server, blueprint.id, server.next_id()
        self.attributes = {name: attribute.as_str() for name, attribute in blueprint.attributes.items()}
        self.transform, self.velocity = transform, carla.Vector3D()
        self.seen = carla.Transform(), carla.Vector3D()  # clients know nothing of an actor before the next tick
        half = carla.Vector3D(x=dynamics.LENGTH / 2, y=dynamics.WIDTH / 2, z=dynamics.HEIGHT / 2)
        self.bounding_box = carla.BoundingBox(carla.Location(x=0.1, y=0.0, z=0.75), half)

    def get_transform(self):
        return self.seen[0]

    def get_velocity(self):
        return self.seen[1]

    def middle(self):
        place = middle_of(self.bounding_box, self.transform)
        return place.x, place.y, math.radians(self.transform.rotation.yaw)

    def place(self, x, y, yaw, z=0.0):
        """Put the middle of the box somewhere."""
        ahead = self.bounding_box.location.x
        location = carla.Location(x=x - ahead * math.cos(yaw), y=y - ahead * math.sin(yaw), z=z)
        self.transform = carla.Transform(location, carla.Rotation(yaw=math.degrees(yaw)))


class Vehicle(Actor):
    autopilot, speed, wish = False, 0.0, 5.0

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.control = carla.VehicleControl()

    def apply_control(self, control):
        self.control = control

    def set_autopilot(self, enabled=True, port=8000):
        self.autopilot = enabled

    def get_physics_control(self):
        return carla.VehiclePhysicsControl(wheels=[carla.WheelPhysicsControl(max_steer_angle=LOCK)] * 4)

    def drive(self):
        (self._follow_lane if self.autopilot else self._obey)()

    def _obey(self):
        c = self.control
        state, velocity = np.array([[*self.middle(), self.speed]]), np.zeros((1, 2))
        pedal = -9.0 if c.hand_brake else 3.0 * (c.throttle - c.brake)
        dynamics.move_ego(state, velocity, np.array([pedal]), np.array([-c.steer]))
        self.speed = float(state[0, 3])
        self.place(*map(float, state[0, :3]))
        self.velocity = carla.Vector3D(x=velocity[0, 0], y=velocity[0, 1], z=0.0)

    def _follow_lane(self):
        x, y, yaw = self.middle()
        gap = 30.0
        for other in self.server.vehicles():
            ox, oy, _ = other.middle()
            ahead = (ox - x) * math.cos(yaw) + (oy - y) * math.sin(yaw)
            aside = (oy - y) * math.cos(yaw) - (ox - x) * math.sin(yaw)
            if other is not self and ahead > 0.0 and abs(aside) < 2.3:
                gap = min(gap, ahead - dynamics.LENGTH)
        self.speed = min(max(gap - 2.0, 0.0), self.wish)
        lane = self.server.town.get_waypoint(carla.Location(x=x, y=y))
        branches = lane.next(max(0.1 * self.speed, 0.001))
        if branches and self.speed > 0.0:
            straight = min(
                branches, key=lambda w: abs(math.remainder(w.transform.rotation.yaw - math.degrees(yaw), 360))
            )
            pose = straight.transform
            self.place(pose.location.x, pose.location.y, math.radians(pose.rotation.yaw))
        yaw = math.radians(self.transform.rotation.yaw)
        self.velocity = carla.Vector3D(x=self.speed * math.cos(yaw), y=self.speed * math.sin(yaw), z=0.0)


class Sensor(Actor):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.callback, self.deaf = None, True  # a new sensor misses its first tick

    def listen(self, callback):
        self.callback = callback

    def stop(self):
        self.server.log.append(("stop", self.id))
        self.callback = None

    def emit(self, frame):
        deaf, self.deaf = self.deaf, False
        if deaf or self.callback is None or self.type_id in self.server.faults:
            return
        if self.type_id == "sensor.camera.rgb":
            pixels = int(self.attributes["image_size_x"]) * int(self.attributes["image_size_y"])
            self.callback(SimpleNamespace(frame=frame, raw_data=bytes([10, 20, 30, 255]) * pixels))
        elif self.type_id == "sensor.lidar.ray_cast":
            points = np.array([[5.0, 0.0, -1.0, 0.9], [8.0, 2.0, -2.4, 0.5]], np.float32)
            self.callback(SimpleNamespace(frame=frame, raw_data=points.tobytes()))
        elif self.server.ego_touches():
            self.callback(SimpleNamespace(frame=frame, normal_impulse=carla.Vector3D(x=1.0, y=0.0, z=0.0)))


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


def overlap(one, other):
    size = (dynamics.LENGTH, dynamics.WIDTH)
    return dynamics.boxes_touch(*one.middle(), *size, *other.middle(), *size)


def copied(settings):
    out = carla.WorldSettings()
    for name in SETTINGS:
        setattr(out, name, getattr(settings, name))
    return out
