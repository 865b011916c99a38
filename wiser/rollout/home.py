"""Where an agent was trained, as the file beside its weights says."""

from __future__ import annotations

from pathlib import Path

import yaml

from wiser.spoken import warn
from wiser.worldmodel.protocol import WorldModel

TRAINING = "training.yaml"
"""Beside an agent's weights: how it was trained, the environment first of all."""


def home_of(folder: Path | None) -> str | None:
    """Gymnasium id of the environment that the agent in a model folder was trained in; None if that is not known."""
    if folder is None:
        return None
    try:
        settings = yaml.safe_load((folder / TRAINING).read_text())
        return str(settings["env"])
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
        return None


def away_from_home(agent: WorldModel, env: str) -> str:
    """What to say where an agent drives elsewhere than it was trained; empty at home, or where home is not known."""
    home = home_of(agent.folder)
    if home is None or home.rpartition(":")[2] == env.rpartition(":")[2]:
        return ""
    return f"This agent was trained in {home} and drives in {env}: scores say how far that carries, no more"


def mention_home(agent: WorldModel, env: str) -> None:
    """Say so on standard error where an agent drives elsewhere than it was trained."""
    if away := away_from_home(agent, env):
        warn(away)
