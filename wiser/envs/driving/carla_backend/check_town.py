"""Before driving on a server: does a task's route lie on the lanes of this town?

Reads a town's OpenDRIVE file, as found in a CARLA package under `CarlaUE4/Content/Carla/Maps/OpenDrive` or written by
`carla.Map.to_opendrive`, with the client library itself, and says how far the route is from the lanes' centres. With
`--picture` it also draws the roads as the bird's-eye views will show them, with the route.
"""

from __future__ import annotations

from pathlib import Path

import carla
import cv2
import numpy as np
import tyro

from wiser.envs.driving.carla_backend.town import on_town, town_surface
from wiser.envs.driving.sensors.birdeye import ROUTE, ROUTE_WIDTH
from wiser.envs.driving.sensors.textures import STYLES, draw_surface
from wiser.envs.driving.tasks import TASKS, build_route


def main(opendrive: Path, task: str, seed: int = 0, picture: Path | None = None) -> None:
    """Check one task on one town."""
    town = carla.Map(opendrive.stem, opendrive.read_text())
    route = build_route(TASKS[task], np.random.default_rng(seed)).waypoints
    heights, away = on_town(town, route)
    print(f"{task} on {opendrive.stem}: {len(route)} waypoints, {heights.min():.2f} to {heights.max():.2f} m high,")
    print(f"off the nearest lane's centre: {np.median(away):.2f} m median, {away.max():.2f} m worst")
    if TASKS[task].path == ():
        print("(between two lanes, where the route changes from one to the other, 1.75 m is right)")
    if picture is not None:
        canvas = draw_surface(town_surface(town, TASKS[task], route, heights), STYLES["birdeye"])
        canvas.stroke(route[:, :2], ROUTE_WIDTH, (int(ROUTE[0]), int(ROUTE[1]), int(ROUTE[2])))
        cv2.imwrite(str(picture), canvas.image[..., ::-1])


if __name__ == "__main__":
    tyro.cli(main)
