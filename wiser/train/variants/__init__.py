"""Variants of training, one file each; `variant.py` says what they have in common."""

from wiser.train.parts import find
from wiser.train.variants.augmented import Augmented
from wiser.train.variants.dropout import Dropout, Tokens, dropout_masks
from wiser.train.variants.hrssm import HRSSM
from wiser.train.variants.variant import Base, Variant

__all__ = ["HRSSM", "VARIANTS", "Augmented", "Base", "Dropout", "Tokens", "Variant", "dropout_masks", "find_variant"]

VARIANTS: dict[str, type[Variant]] = {
    "base": Base,
    "dropout": Dropout,
    "tokens": Tokens,
    "augmented": Augmented,
    "hrssm": HRSSM,
}
"""By the name that `TrainConfig.variant` gives. Add your own."""


def find_variant(name: str) -> type[Variant]:
    """The variant of that name."""
    return find("variant", VARIANTS, name)
