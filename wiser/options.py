"""Options of an environment as the command line has them: `--env-options continuous=true size=[64,64]`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import yaml
from tyro.constructors import PrimitiveConstructorSpec


def from_words(words: Sequence[str]) -> dict[str, Any]:
    """Read KEY=VALUE words; values are YAML."""
    pairs = [word.partition("=") for word in words]
    if wrong := [key for key, equals, _ in pairs if not (key and equals)]:
        raise ValueError(f"options are KEY=VALUE, got {', '.join(wrong)}")
    try:
        return {key: yaml.safe_load(value) for key, _, value in pairs}
    except yaml.YAMLError as error:
        raise ValueError(f"options are KEY=VALUE, values as in YAML: {' '.join(words)}") from error


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
"""The type of such a field."""

NO_OPTIONS: Mapping[str, Any] = {}
