"""Predictors by name: Cosmos from released weights or a folder, or one without weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wiser.video.plain import CopyLast
from wiser.video.predictor import Predictor

COPY = "copy"


def find_predictor(
    name: str, settings: Mapping[str, Any], revision: str | None = None, guardrail: bool = False
) -> Predictor:
    """`copy`, or Cosmos: a folder in diffusers' layout or a repository, asked by these fields of `CosmosSettings`."""
    if name == COPY:
        return CopyLast()
    from wiser.video.cosmos.load import load_pipeline  # diffusers takes seconds to import
    from wiser.video.cosmos.predictor import Cosmos, CosmosSettings

    asked = CosmosSettings(**settings)  # a mistake is told before anything is loaded
    return Cosmos(load_pipeline(name, revision, guardrail), asked)
