"""Options of an environment, as people write them: `name=value`, values as in YAML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml


def read_options(words: Iterable[str]) -> dict[str, Any]:
    """`["cars=3", "continuous=true"]` -> {"cars": 3, "continuous": True}; anything else is a ValueError."""
    options: dict[str, Any] = {}
    for word in words:
        name, given, value = word.partition("=")
        if not given or not name.isidentifier():
            raise ValueError(f"an option of the environment is name=value, got {word!r}")
        try:
            options[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ValueError(f"the value of {name!r} cannot be read: {value!r}") from error
    return options
