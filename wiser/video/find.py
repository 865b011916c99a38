"""Predictors by name: Cosmos from released weights or a folder, or one without weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wiser.video.plain import CopyLast
from wiser.video.predictor import Predictor

COPY = "copy"


@dataclass(frozen=True)
class Asked:
    """Which predictor, and how it is to be asked."""

    model: str
    """`copy`, a folder in diffusers' layout, or the name of a repository of weights."""
    settings: dict[str, Any]
    """Of Cosmos: fields of `CosmosSettings`."""
    revision: str | None = None
    guardrail: bool = False

    def find(self) -> Predictor:
        """Load it."""
        if self.model == COPY:
            return CopyLast()
        from wiser.video.cosmos.load import load_pipeline  # diffusers takes seconds to import
        from wiser.video.cosmos.predictor import Cosmos, CosmosSettings

        settings = CosmosSettings(**self.settings)  # a mistake is told before anything is loaded
        return Cosmos(load_pipeline(self.model, self.revision, self.guardrail), settings)
