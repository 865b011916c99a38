"""Record one row of a rollout while it runs."""

from __future__ import annotations

from wiser.evaluate.rollout import Moment
from wiser.record import Recorder
from wiser.worldmodel.protocol import WorldModel


class RecordRow:
    """Give this to `rollout` as `watch`: it adds each step of one row to a lane of a recorder."""

    def __init__(self, recorder: Recorder, lane: str, agent: WorldModel, fault: str = "", row: int = 0) -> None:
        self.recorder, self.lane, self.agent, self.fault, self.row = recorder, lane, agent, fault, row
        self.over = False

    def __call__(self, moment: Moment) -> None:
        """Add a step, unless the row's episode is over."""
        if self.over:
            return
        broken = zip(moment.verdict.sensors, moment.broken[self.row], strict=True)
        self.over = not moment.running[self.row]
        self.recorder.add(
            self.lane, moment.obs, moment.verdict, row=self.row, reward=moment.reward,
            broken={name: (self.fault, 1.0) for name, hit in broken if hit},
            prediction=self.agent.decode(moment.belief) if self.agent.decodes else None,
            outcome=moment.outcome(self.row) if self.over else "",
        )  # fmt: skip
