"""Record one episode of a trial while it is driven."""

from __future__ import annotations

from wiser.record import Recorder, broken_now
from wiser.rollout import Moment, Wave
from wiser.worldmodel.protocol import Belief, WorldModel


class RecordEpisode:
    """Give this to `run_episodes` as `watch`: it adds each step of one episode to a lane of a recorder."""

    def __init__(self, recorder: Recorder, lane: str, agent: WorldModel, fault: str = "", episode: int = 0) -> None:
        self.recorder, self.lane, self.agent, self.fault, self.episode = recorder, lane, agent, fault, episode

    def __call__(self, wave: Wave, moment: Moment) -> None:
        """Add a step, if the episode is in this wave and still runs."""
        row = self.episode - wave.start
        if not 0 <= row < wave.episodes or not wave.book.counted[row]:
            return
        belief = Belief(moment.belief.deter[row : row + 1], moment.belief.stoch[row : row + 1])  # (1, D), (1, S, C)
        self.recorder.add(
            self.lane, {name: reading[row] for name, reading in moment.obs.items()}, moment.verdict.row(row),
            reward=moment.reward[row],
            broken=broken_now(moment.verdict.sensors, moment.intensity[row], self.fault),
            prediction=self.agent.decode(belief) if self.agent.decodes else None,
            view=moment.pictures.get(row), outcome=wave.book.outcome[row],
        )  # fmt: skip
