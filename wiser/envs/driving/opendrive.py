"""A map as OpenDRIVE 1.4, as `carla.Map` reads it: lanes, widths, markings, junctions and stop signs.

OpenDRIVE is right-handed: y, yaw and curvature change their sign on the way out. CARLA turns them back.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from wiser.envs.driving.roads import Road, RoadMap

JUNCTION = "100"


def to_opendrive(road_map: RoadMap) -> str:
    """The map as XML text."""
    root = ET.Element("OpenDRIVE")
    header = _add(root, "header", revMajor="1", revMinor="4", name=road_map.name, version="1.00")
    # CARLA places its worlds at latitude and longitude 0 and insists on a projection.
    _add(header, "geoReference").text = "+proj=tmerc +lat_0=0 +lon_0=0 +k=1 +x_0=0 +y_0=0 +datum=WGS84 +units=m"
    connecting = [road for road in road_map.roads if road.connecting]
    for road in road_map.roads:
        _road(root, road, road_map, connecting)
    if connecting:
        _junction(root, road_map, connecting)
    ET.indent(root)
    return '<?xml version="1.0" standalone="yes"?>\n' + ET.tostring(root, encoding="unicode")


def _add(parent: ET.Element, tag: str, **attributes: object) -> ET.Element:
    return ET.SubElement(parent, tag, {name: _text(value) for name, value in attributes.items()})


def _text(value: object) -> str:
    return f"{value:.9f}" if isinstance(value, float) else str(value)


def _road(root: ET.Element, road: Road, road_map: RoadMap, connecting: list[Road]) -> None:
    junction = JUNCTION if road.connecting else "-1"
    node = _add(root, "road", name=f"road {road.id}", length=road.length, id=road.id, junction=junction)
    _links(_add(node, "link"), road, connecting)
    plan = _add(node, "planView")
    for (s, x, y, yaw), (length, curvature) in zip(road.joints, road.pieces, strict=False):
        piece = _add(plan, "geometry", s=s, x=x, y=-y, hdg=-yaw, length=length)
        if curvature:
            _add(piece, "arc", curvature=-curvature)
        else:
            _add(piece, "line")
    _lanes(_add(node, "lanes"), road)
    signs = [sign for sign in road_map.signs if sign.road == road.id]
    signals = _add(node, "signals") if signs else None
    for number, sign in enumerate(signs):
        assert signals is not None
        signal = _add(
            signals, "signal", s=sign.s, t=-(road.right * road.width + 0.9), id=9000 + number, name="stop sign",
            dynamic="no", orientation="+", zOffset=0.0, country="OpenDRIVE", type="206", subtype="-1", value=-1.0,
        )  # fmt: skip
        _add(signal, "validity", fromLane=sign.lane, toLane=sign.lane)


def _links(node: ET.Element, road: Road, connecting: list[Road]) -> None:
    if road.source is not None and road.target is not None:
        (source, source_lane), (target, target_lane) = road.source, road.target
        leaves, enters = ("end" if source_lane < 0 else "start"), ("start" if target_lane < 0 else "end")
        _add(node, "predecessor", elementType="road", elementId=source, contactPoint=leaves)
        _add(node, "successor", elementType="road", elementId=target, contactPoint=enters)
        return
    ends = {_touches(road, other) for other in connecting}
    for name, end in (("predecessor", "start"), ("successor", "end")):
        if end in ends:
            _add(node, name, elementType="junction", elementId=JUNCTION)


def _touches(road: Road, other: Road) -> str | None:
    """The end of a road that a connecting road begins or ends at."""
    for lane_of, leaving in ((other.source, True), (other.target, False)):
        if lane_of is not None and lane_of[0] == road.id:
            return "end" if (lane_of[1] < 0) == leaving else "start"
    return None


def _lanes(node: ET.Element, road: Road) -> None:
    section = _add(node, "laneSection", s=0.0)
    if road.left:
        left = _add(section, "left")
        for lane in range(road.left, 0, -1):
            _lane(left, road, lane, "none" if road.connecting else "solid" if lane == road.left else "broken")
    centre = _add(_add(section, "center"), "lane", id=0, type="none", level="false")
    _mark(centre, "none" if road.connecting else "solid", "yellow" if road.left else "white")
    right = _add(section, "right")
    for lane in range(1, road.right + 1):
        _lane(right, road, -lane, "none" if road.connecting else "solid" if lane == road.right else "broken")


def _lane(node: ET.Element, road: Road, lane: int, mark: str) -> None:
    entry = _add(node, "lane", id=lane, type="driving", level="false")
    if road.source is not None and road.target is not None:
        link = _add(entry, "link")
        _add(link, "predecessor", id=road.source[1])
        _add(link, "successor", id=road.target[1])
    _add(entry, "width", sOffset=0.0, a=road.width, b=0.0, c=0.0, d=0.0)
    _mark(entry, mark, "white")


def _mark(node: ET.Element, kind: str, colour: str) -> None:
    change = "both" if kind == "broken" else "none"
    attributes = {"type": kind, "weight": "standard", "color": colour, "width": 0.15, "laneChange": change}
    _add(node, "roadMark", sOffset=0.0, **attributes)


def _junction(root: ET.Element, road_map: RoadMap, connecting: list[Road]) -> None:
    node = _add(root, "junction", id=JUNCTION, name=road_map.name)
    for number, road in enumerate(connecting):
        assert road.source is not None
        entry = _add(
            node, "connection", id=number, incomingRoad=road.source[0], connectingRoad=road.id, contactPoint="start"
        )
        _add(entry, "laneLink", **{"from": road.source[1], "to": -1})
