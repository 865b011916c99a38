"""Names that can be read where the package `safety-gymnasium` is not installed."""

from __future__ import annotations

SENSORS = ("birdeye", "front", "dash")
"""The whole map from above, what the robot's own camera sees, and a camera behind and above it."""
TASKS = {
    "SafetyPointGoal1": "point robot to goals, among hazards",
    "SafetyPointGoal2": "point robot to goals, among hazards and vases",
    "SafetyPointButton1": "point robot to buttons, among hazards and gremlins",
    "SafetyCarGoal1": "car to goals, among hazards",
}
"""By the package's names for them, in words."""
LENGTH = 1000
"""Steps of the package in an episode."""
REPEAT = 5
"""Of them for each action."""
