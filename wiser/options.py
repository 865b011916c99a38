"""What commands are given: agents, environments, and options of these: `--env-options continuous=true size=[64,64]`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import tyro
import yaml
from tyro.constructors import PrimitiveConstructorSpec

Agent = Annotated[str, tyro.conf.arg(metavar="AGENT")]
"""A shipped agent by its name, or a model folder."""
Env = Annotated[str, tyro.conf.arg(metavar="ENV")]
"""A task by its name, or a Gymnasium id."""


def from_words(words: Sequence[str]) -> dict[str, Any]:
    """Read KEY=VALUE words; values are YAML."""
    pairs = [word.partition("=") for word in words]
    if wrong := [key for key, equals, _ in pairs if not (key and equals)]:
        raise ValueError(f"options are KEY=VALUE, got {', '.join(wrong)}")
    try:
        return {key: yaml.safe_load(value) for key, _, value in pairs}
    except yaml.YAMLError as error:
        raise ValueError(f"options are KEY=VALUE, values as in YAML: {' '.join(words)}") from error


def read_settings(text: str, whose: str) -> dict[str, Any]:
    """Read KEY=VALUE,KEY=VALUE; values are YAML."""
    pairs, count = re.subn(r"(^|,)(\w+)=", r"\1\2: ", text)
    try:
        values = yaml.safe_load(f"{{{pairs}}}")
    except yaml.YAMLError:
        values = {}
    if not count or len(values) != count:
        raise ValueError(f"settings of {whose} are KEY=VALUE,KEY=VALUE, values as in YAML; got {text!r}")
    return dict(values)


def to_words(options: Mapping[str, Any]) -> list[str]:
    """Write them so that `from_words` reads the same."""
    return [f"{key}={json.dumps(value)}" for key, value in options.items()]


Options = Annotated[
    Mapping[str, Any],
    PrimitiveConstructorSpec(
        nargs="*",
        metavar="[KEY=VALUE ...]",
        instance_from_str=from_words,
        is_instance=lambda value: isinstance(value, Mapping),
        str_from_instance=to_words,
    ),
]
"""Options of an environment."""

NO_OPTIONS: Mapping[str, Any] = {}
