"""Development only: how far do our hand-written lanes lie from the lanes of CARLA's towns?

Reads the lanelet maps inside the torchdrivesim 0.2.3 wheel (`pip install --no-deps torchdrivesim==0.2.3`, in a venv of
its own). Their longitudes and latitudes come from CARLA's x and y through UTM with its origin at (0, 0): three degrees
from the central meridian of zone 31, where lengths are stretched by 1.00097. Nothing of them is kept in this project.
"""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import tyro

from wiser.envs.driving.roads import resample
from wiser.envs.driving.tasks import TASKS, build_route

METRES_PER_DEGREE = 1.00097 * np.array([111319.49, 110574.28])  # of longitude and latitude on WGS 84, at (0, 0)


def town_lanes(maps: Path, town: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Centre (P, 3) x, y, yaw and width (P,) of every lane of a town."""
    root = ET.parse(maps / f"carla_{town}" / f"carla_{town}.osm").getroot()
    nodes = {n.get("id"): (float(n.get("lon")), float(n.get("lat"))) for n in root.iter("node")}
    ways = {w.get("id"): np.array([nodes[r.get("ref")] for r in w.iter("nd")]) for w in root.iter("way")}
    lanes = []
    for relation in root.iter("relation"):
        sides = {m.get("role"): m.get("ref") for m in relation.iter("member")}
        if "left" in sides and "right" in sides:
            left, right = (_even(ways[sides[side]] * METRES_PER_DEGREE) for side in ("left", "right"))
            centre = (left + right) / 2
            yaw = np.arctan2(np.gradient(centre[:, 1]), np.gradient(centre[:, 0]))
            lanes.append((np.column_stack([centre, yaw]), np.hypot(*(left - right).T)))
    return lanes


def _even(line: np.ndarray, count: int = 200) -> np.ndarray:
    distance = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    along = np.linspace(0.0, distance[-1], count)
    return np.stack([np.interp(along, distance, line[:, k]) for k in range(2)], axis=1)


def compare(points: np.ndarray, lanes: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Distance to the nearest lane centre of the same direction, and that lane's width, for points (P, 3)."""
    centres, widths = np.concatenate([c for c, _ in lanes]), np.concatenate([w for _, w in lanes])
    away, wide = [], []
    for x, y, yaw in points:
        near = np.abs(centres[:, 0] - x) + np.abs(centres[:, 1] - y) < 8.0
        same = near & (np.cos(centres[:, 2] - yaw) > 0.8)
        gap = np.where(same, np.abs((centres[:, 1] - y) * np.cos(yaw) - (centres[:, 0] - x) * np.sin(yaw)), np.inf)
        close = np.where(
            np.abs((centres[:, 0] - x) * np.cos(yaw) + (centres[:, 1] - y) * np.sin(yaw)) < 0.6, gap, np.inf
        )
        away.append(close.min())
        wide.append(widths[close.argmin()])
    return np.array(away), np.array(wide)


def main(maps: Path | None = None) -> None:
    """Compare every task's route, and the four lanes of the motorway, with the town."""
    spec = importlib.util.find_spec("torchdrivesim") if maps is None else None
    if maps is None and (spec is None or spec.origin is None):
        raise SystemExit("pip install --no-deps torchdrivesim==0.2.3, in a venv of its own, or pass --maps")
    maps = maps or Path(spec.origin).parent / "resources" / "maps"
    for name in ("FourLane", "RightTurn", "StopSign"):
        task, road_map = TASKS[name], TASKS[name].road_map()
        lanes = town_lanes(maps, road_map.town)
        if task.path:
            lines = {"route": build_route(task, np.random.default_rng(0)).waypoints}
        else:
            road = road_map.roads[0]
            lines = {f"lane {-lane}": resample(road.lane_centre(lane)[:, :2], 0.8) for lane in road.lanes}
            lines = {key: line[(line[:, 1] < 100.0) & (line[:, 1] > -58.0)] for key, line in lines.items()}
        for key, line in lines.items():
            away, wide = compare(line, lanes)
            print(
                f"{name:9} {road_map.town} {key:6} {len(line):3} points: off the town's lane centre "
                f"{away.mean():.2f} m mean, {away.max():.2f} m worst; its lanes are {wide.mean():.2f} m wide"
            )


if __name__ == "__main__":
    tyro.cli(main)
