"""Cosmos Predict 2.5 from released weights, by name and revision, or from a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wiser.video.cosmos.compat import diffusers

RELEASED, REVISION = "nvidia/Cosmos-Predict2.5-2B", "diffusers/base/post-trained"
LICENCE = "the NVIDIA Open Model License asks for the guardrail of released weights"
GUARDRAIL = "pip install cosmos_guardrail"


class PassThrough:
    """Checks nothing: for weights of one's own, which no licence binds to a guardrail."""

    def to(self, *place: Any) -> PassThrough:
        """It lies nowhere."""
        return self

    def check_text_safety(self, text: str) -> bool:
        """Every prompt passes."""
        return True

    def check_video_safety(self, frames: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Every video passes as it is."""
        return frames


def load_pipeline(name: str, revision: str | None = None, guardrail: bool = False, device: str | None = None) -> Any:
    """A `Cosmos2_5_PredictBasePipeline`.

    name: a folder in diffusers' layout, or a repository of weights such as `RELEASED`, whose guardrail is always on.
    revision: of the repository; `REVISION` for the released one.
    guardrail: also for a folder, as for one with a copy of released weights.
    device: where to compute; a GPU by default, if there is one.
    """
    library, local = diffusers(), Path(name).is_dir()
    if local and not Path(name, "model_index.json").is_file():
        raise ValueError(f"{name} is no folder of a diffusers pipeline: it has no model_index.json")
    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    options: dict[str, Any] = {"dtype": torch.float32 if place == "cpu" else torch.bfloat16}
    if local and not guardrail:
        options["safety_checker"] = PassThrough()
    elif not library.utils.is_cosmos_guardrail_available():
        raise ImportError(f"{LICENCE}: {GUARDRAIL}")
    if not local:
        options["revision"] = revision or (REVISION if name == RELEASED else None)
    try:
        with _quiet():
            pipeline = library.Cosmos2_5_PredictBasePipeline.from_pretrained(name, **options)
    except OSError as error:
        raise ValueError(f"cannot load {name}: {error}") from error
    return pipeline.to(place)


@contextmanager
def _quiet() -> Iterator[None]:
    """No bars for each part, and no remarks on checkers that are not NVIDIA's."""
    libraries = [import_module(f"{name}.utils.logging") for name in ("diffusers", "transformers")]
    before = [(library.get_verbosity(), library.is_progress_bar_enabled()) for library in libraries]
    for library in libraries:
        library.set_verbosity_error()
        library.disable_progress_bar()
    try:
        yield
    finally:
        for library, (verbosity, bars) in zip(libraries, before, strict=True):
            library.set_verbosity(verbosity)
            if bars:
                library.enable_progress_bar()
