"""`wiser agents`: which agents are here, and what they are good for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from wiser.spoken import spoken

UNKNOWN = "–"


@dataclass(frozen=True)
class Agent:
    """What a model folder says about itself."""

    name: str
    env: str
    """Where it was trained."""
    sensors: tuple[str, ...]
    score: str
    """On clean sensors, with its interval."""
    normalised: str
    """The same where a random policy is 0 and the expert 1."""


def read_agent(name: str, folder: Path) -> Agent:
    """Read an agent's config, home and card; what they do not say is a dash."""
    from wiser.rollout import home_of
    from wiser.worldmodel.store import CONFIG

    config = json.loads((folder / CONFIG).read_text())["config"]
    card = folder / "README.md"
    text = card.read_text() if card.exists() else ""
    return Agent(
        name,
        home_of(folder) or UNKNOWN,
        tuple(sensor["name"] for sensor in config["sensors"]),
        _entry(text, "clean score", r"-?[\d.]+ ± [\d.]+"),
        _entry(text, "expert-normalised", r"-?[\d.]+"),
    )


@spoken()
def agents() -> int:
    """List the shipped agents: where each was trained, its sensors, and its score on clean ones as its card has it."""
    from wiser.worldmodel.store import SHIPPED, shipped

    console = Console()
    found = [read_agent(name, SHIPPED / name) for name in shipped()]
    if not found:
        console.print(
            f"No agents in {SHIPPED}. Commands take the folder of one of yours: runs/NAME/model", markup=False
        )
        return 1
    for agent in found:
        console.print(f"[bold]{agent.name:22}[/]{agent.env:20}{agent.score:16}{agent.normalised} of the expert's")
        console.print(f"  {', '.join(agent.sensors)}", style="dim", soft_wrap=True)
    console.print(
        f"Scores are on clean sensors, with a 95 % interval. Folders, with a card each: {SHIPPED}", soft_wrap=True
    )
    return 0


def _entry(card: str, row: str, pattern: str) -> str:
    found = re.search(rf"\| {row} \| ({pattern})", card)
    return found[1] if found else UNKNOWN
