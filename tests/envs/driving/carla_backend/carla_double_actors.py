"""Stand-ins for blueprints, vehicles and sensors, carrying the client library's real value types.

Cars are boxes: the ego is the embedded world's bicycle, the others follow their lane and brake for whatever is ahead.
"""

from __future__ import annotations

import fnmatch
import math
from types import SimpleNamespace

import carla
import numpy as np

from wiser.envs.driving import dynamics
from wiser.envs.driving.carla_backend.scene import middle_of

LOCK = math.degrees(dynamics.MAX_STEER)


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


def overlap(one, other):
    size = (dynamics.LENGTH, dynamics.WIDTH)
    return dynamics.boxes_touch(*one.middle(), *size, *other.middle(), *size)
