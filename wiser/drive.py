"""An episode that the scripted expert of an environment drives, picture by picture: what `wiser drive` films."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import numpy as np

from wiser.envs.domain import Rows, domain_of
from wiser.envs.vector import make_rows


def film(env: str, seed: int, options: Mapping[str, Any]) -> tuple[list[np.ndarray], str]:
    """Every picture of an episode that the expert drives, and how it ended."""
    domain = domain_of(env)
    with closing(make_rows(env, 1, options=options, pictures=True)) as rows:
        teacher = domain.teacher(rows)
        if teacher is None:
            raise ValueError(f"{env} has no scripted expert to film")
        rows.reset(seed=seed)
        frames, ending = [_picture(rows)], ""
        while not ending:
            _, _, terminated, truncated, info = rows.step(teacher.actions())
            frames.append(_picture(rows))
            if terminated[0] or truncated[0]:
                flags = {name: info[name][0] for name in domain.endings if name in info}
                ending = domain.ending(flags, bool(truncated[0]))
    return frames, ending


def _picture(rows: Rows) -> np.ndarray:
    pictures = rows.render()
    assert pictures is not None
    return np.asarray(pictures[0])
