"""Who competes: an agent with a treatment. Some have names, those of the paper among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from wiser.envs.domain import find_task
from wiser.evaluate.treatments import Treatment, find_treatment
from wiser.names import perhaps
from wiser.worldmodel.store import load


@dataclass(frozen=True)
class Contender:
    """An agent and how its sensors are treated."""

    agent: str
    """Which of a task's shipped agents, by the last part of its name; or any agent's name, or its folder."""
    treatment: str = "none"
    """Name of a treatment."""
    about: str = ""
    """One line for tables and captions, where the treatment's own is not enough."""


CONTENDERS: dict[str, Contender] = {
    "base": Contender("base", about="trained normally, every sensor trusted"),
    "augmented": Contender("augmented", about="trained with Gaussian noise on its input, every sensor trusted"),
    "dropout": Contender("dropout", about="trained with sensor dropout, every sensor trusted"),
    "safe": Contender("safe", about="trained with a limit on the cost, every sensor trusted"),
    "rme": Contender("dropout", "random", about="trained with sensor dropout, a random mask at every step"),
    "rme-tokens": Contender("tokens", about="trained with sensor dropout and learned missing tokens, nothing masked"),
    "confident": Contender("dropout", "greedy", about="trained with sensor dropout, greedy selection by surprise"),
    "exhaustive": Contender("dropout", "exhaustive", about="trained with sensor dropout, the best of all subsets"),
    "calibrated": Contender("dropout", "calibrated", about="trained with sensor dropout, every sensor that is usual"),
    "witnesses": Contender(
        "dropout", "witnesses", about="trained with sensor dropout, every sensor that follows from its own past"
    ),
    "single": Contender("single", about="one sensor, always trusted"),
    "filter": Contender("single", "median", about="one sensor behind a 3x3 median filter"),
    "reject": Contender("single", "reject", about="one sensor, rejection sampling as in the paper"),
    "reject-reference": Contender(
        "single", "reject-reference", about="one sensor, rejection sampling with the transitions of the published code"
    ),
    "hrssm": Contender(
        "hrssm", about="one sensor, trained as HRSSM: masked images, losses in latent space, no decoder"
    ),
    "predict": Contender(
        "single", "predict", about="one sensor; what is normal neither in itself nor in context is predicted instead"
    ),
}
"""By the names they have in figures; `confident`, `rme` and `filter` are the paper's."""


def find_contender(name: str) -> Contender:
    """Look a contender up; an unknown name is a ValueError that lists the known ones."""
    if name not in CONTENDERS:
        raise ValueError(f"unknown contender {name!r}{perhaps(name, CONTENDERS)}; there are {', '.join(CONTENDERS)}")
    return CONTENDERS[name]


def agent_name(task: str, agent: str) -> str:
    """The name to load an agent by: of a task's shipped agents the last part is enough."""
    home, variants = find_task(task).agents, {contender.agent for contender in CONTENDERS.values()}
    if agent not in variants:
        return agent
    if not home:
        raise ValueError(f"no agents are shipped for {task}: name yours, by a model folder, instead of {agent!r}")
    return f"{home}/{agent}"


@lru_cache(maxsize=4)
def find_agent(name: str) -> Any:
    """Load an agent once per process."""
    return load(name)


def treatment_of(contender: Contender, own: dict[str, Treatment]) -> Treatment:
    """A contender's treatment, looked up among one's `own` first."""
    return own.get(contender.treatment) or find_treatment(contender.treatment)
