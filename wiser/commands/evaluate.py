"""`wiser eval AGENT ENV`: drive episodes with an agent and compare ways to treat its sensors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from wiser.options import NO_OPTIONS, Agent, Env, Options
from wiser.spoken import spoken

if TYPE_CHECKING:
    from wiser.rollout import Disturbance


@spoken()
def evaluate(
    agent: tyro.conf.Positional[Agent],
    env: tyro.conf.Positional[Env],
    treatments: tuple[str, ...] = ("none", "auto"),
    fault: str | None = None,
    broken: int | None = None,
    intensity: float = 1.0,
    proportion: float = 1.0,
    onset: int = 0,
    scenario: Path | None = None,
    blind_limit: int | Literal["horizon"] | None = None,
    planner: str | None = None,
    episodes: int = 16,
    rows: int | None = None,
    seed: int | None = None,
    env_options: Options = NO_OPTIONS,
    processes: bool = False,
    record: Path | None = None,
    threads: int | None = None,
) -> int:
    """Drive episodes with an agent, its sensors broken or not, and compare ways to treat them.

    Args:
        agent: a shipped agent or a model folder.
        env: a task (FourLane, StopSign, ...) or a Gymnasium id, also in the form package.module:Name-v0.
        treatments: of the sensors: none, greedy, exhaustive, calibrated, witnesses, random, median, reject,
            reject-reference, predict, or auto: the best the agent has a calibration for. Settings of a judge follow its
            name: reject:score=resnet18,denoiser=restormer.
        fault: what breaks sensors, `wiser faults` shows all of them; or a novelty of the environment's own, such as
            hidden-enemy in Crafter. None leaves them clean.
        broken: how many fail, drawn for each episode; 1 by default. A novelty affects what it affects.
        intensity: how badly; 0 is clean, 1 severe.
        proportion: share of the steps at which they are broken.
        onset: first step at which anything breaks.
        scenario: a YAML file that says all of that and more, instead.
        blind_limit: steps without a trusted sensor after which the environment's safe action is taken, if it has one;
            `horizon`: as many as the agent's calibration says predictions hold for.
        planner: look for actions in the agent's model instead of asking its policy: cem, or with settings
            cem:samples=100,cost_limit=10,episode=200, where an episode has 200 actions instead of 1,000. Slow: at every
            step it imagines some thousand sequences for each row.
        episodes: how many, the same ones for every treatment.
        rows: environments side by side; all episodes at once by default.
        seed: of the first episode; by default those that no published figure uses.
        env_options: what to tell the environment, each value as YAML has it.
        processes: step each environment in a process of its own; worth it where a simulator is slow.
        record: write the first episode of every treatment to this file: .html, .mp4, .gif, .rrd or .npz.
        threads: Torch threads; OMP_NUM_THREADS by default, or the cores there are.
    """
    from wiser import seeds
    from wiser.envs.domain import find_task
    from wiser.evaluate.compare import compare
    from wiser.evaluate.treatments import find_treatment, resolve_name
    from wiser.rollout import Trial
    from wiser.threads import use_threads
    from wiser.worldmodel.planner import planned
    from wiser.worldmodel.store import load

    use_threads(threads)
    first = seeds.TRYING.start if seed is None else seed
    harm = _harm(env, fault, broken, intensity, proportion, onset, scenario, first)
    model = load(agent) if planner is None else planned(load(agent), planner)
    names = [resolve_name(name, model) for name in treatments]
    chosen = {name: replace(find_treatment(name), blind_limit=blind_limit) for name in names}
    trial = Trial(find_task(env).env, episodes, first, harm, env_options, rows, processes=processes)
    compare(model, agent, chosen, trial, record)
    return 0


def _harm(
    env: str,
    fault: str | None,
    broken: int | None,
    intensity: float,
    proportion: float,
    onset: int,
    file: Path | None,
    seed: int,
) -> Disturbance | None:
    """What is wrong; None without a fault, of which then nothing else may be said."""
    from wiser.envs.domain import domain_of
    from wiser.faults import Scenario

    if file is not None:
        if (fault, broken, intensity, proportion, onset) != (None, None, 1.0, 1.0, 0):
            raise ValueError("--scenario says what breaks, and how: leave out --fault and what belongs to it")
        return Scenario.from_yaml(_text(file))
    if fault is not None:
        how: dict[str, Any] = {"intensity": intensity, "proportion": proportion, "onset": onset, "seed": seed}
        if (novelty := domain_of(env).novelties.get(fault)) is None:
            return Scenario(faults=(fault,), sensors=1 if broken is None else broken, **how)
        if broken is not None:
            raise ValueError(f"{fault} affects what it affects: leave out --broken")
        return novelty(**how)
    if (broken, intensity, proportion, onset) != (None, 1.0, 1.0, 0):
        raise ValueError("--broken, --intensity, --proportion and --onset say how --fault breaks sensors: name one")
    return None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the scenario {file}: {error}") from error
