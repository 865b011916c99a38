"""The tasks that can be evaluated by name: their environments and their shipped agents."""

from __future__ import annotations

from dataclasses import dataclass

from wiser.envs.driving.scores import normalised_score, stored_scores
from wiser.envs.driving.tasks import TIME_LIMIT


@dataclass(frozen=True)
class Task:
    """Where a task is driven and by whom."""

    env: str
    """Gymnasium id."""
    agents: str
    """Folder under `models/` with one agent per variant."""
    longest: int
    """Steps of the longest episode."""


TASKS: dict[str, Task] = {
    "FourLane": Task("wiser/FourLane-v0", "four-lane", TIME_LIMIT),
    "RightTurn": Task("wiser/RightTurn-v0", "right-turn", TIME_LIMIT),
    "StopSign": Task("wiser/StopSign-v0", "stop-sign", TIME_LIMIT),
}


def find_task(name: str) -> Task:
    """Look a task up; an unknown name is a ValueError that lists the known ones."""
    if name not in TASKS:
        raise ValueError(f"unknown task {name!r}; there are {', '.join(TASKS)}")
    return TASKS[name]


def reference_scores(task: str) -> tuple[float, float] | None:
    """Scores of a random policy and of the expert; None if nobody measured them on this task."""
    entry = stored_scores()["tasks"].get(task)
    return None if entry is None else (entry["random"]["score"], entry["expert"]["score"])


def random_score(env: str) -> float | None:
    """Score of a random policy by Gymnasium id; None if nobody measured it there."""
    references = [reference_scores(name) for name, task in TASKS.items() if task.env == env]
    return references[0][0] if references and references[0] else None


def normalise(task: str, score: float) -> float:
    """A score on the scale where the random policy has 0 and the expert 1; the task must have such references."""
    if reference_scores(task) is None:
        raise ValueError(f"no reference scores of {task!r} to normalise by")
    return normalised_score(task, score)
