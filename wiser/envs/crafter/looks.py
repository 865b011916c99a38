"""How the world is shown: honestly, or as a novelty has it.

A look says what a creature is drawn as, which creatures are shown as a danger, what grass looks like and which health
is drawn. What a novelty affects is what differs from the honest look of the same world.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wiser.envs.crafter.names import FULL
from wiser.envs.crafter.package import objects

Texture = NDArray[np.uint8]
"""(x, y, RGB or RGBA), as the package has them."""
YELLOW = np.array((255, 225, 30))
TREACHEROUS = 0.5
"""Share of the cows that attack, at intensity 1."""


class DeceptiveCow(objects.Cow):
    """A cow reprogrammed to behave like a zombie. It looks like a cow and is made of beef."""

    player: Any
    cooldown: int
    update = objects.Zombie.update


KINDS: dict[type, str] = {
    objects.Player: "player", objects.Cow: "cow", objects.Zombie: "zombie", objects.Skeleton: "skeleton",
    objects.Arrow: "arrow", objects.Plant: "plant", DeceptiveCow: "zombie",
}  # fmt: skip
"""What things are."""
DANGEROUS = ("zombie", "skeleton")


class Look:
    """The honest one: whoever attacks like a zombie is drawn as a zombie."""

    grass = "grass"
    """Name of its texture."""

    def __init__(self, intensity: float = 1.0) -> None:
        self.intensity = intensity

    def kind(self, thing: Any) -> str:
        """What a thing seems to be."""
        return KINDS[type(thing)]

    def texture(self, thing: Any) -> str:
        """Name of the texture it is drawn with."""
        return "zombie" if isinstance(thing, DeceptiveCow) else str(thing.texture)

    def health(self, recorded: NDArray[Any]) -> NDArray[Any]:
        """Health as it is drawn."""
        return recorded

    def paint(self, originals: Mapping[str, Texture]) -> dict[str, Texture]:
        """Textures that this look needs besides the package's."""
        return {}

    def stir(self, things: Iterable[Any], dice: np.random.Generator) -> None:
        """Change how creatures behave; told all things before every picture."""

    def calm(self, things: Iterable[Any]) -> None:
        """Undo that."""


class HiddenEnemy(Look):
    """Zombies are yellow blobs, which nobody has seen before and no map of dangers knows; `intensity` of them."""

    BLOB = "blob"

    def hides(self, thing: Any) -> bool:
        """Whether a thing is such a zombie."""
        return isinstance(thing, objects.Zombie) and bool(thing.lot < self.intensity)

    def kind(self, thing: Any) -> str:
        """A blob is of no known kind."""
        return self.BLOB if self.hides(thing) else super().kind(thing)

    def texture(self, thing: Any) -> str:
        """A blob's."""
        return self.BLOB if self.hides(thing) else super().texture(thing)

    def paint(self, originals: Mapping[str, Texture]) -> dict[str, Texture]:
        """A yellow disc with two eyes."""
        x, y = np.mgrid[-1:1:16j, -1:1:16j]
        eyes = (np.abs(np.abs(x) - 0.3) < 0.12) & (np.abs(y + 0.2) < 0.15)
        colours = np.where(eyes[..., None], 0, YELLOW * (1 - 0.25 * (x**2 + y**2))[..., None])
        alpha = 255 * (x**2 + y**2 < 0.85)
        return {self.BLOB: np.dstack([colours, alpha]).astype(np.uint8)}

    def stir(self, things: Iterable[Any], dice: np.random.Generator) -> None:
        """Draw lots among the zombies."""
        draw_lots((thing for thing in things if isinstance(thing, objects.Zombie)), dice)


class DeceptiveEnemy(Look):
    """Cows attack like zombies, and are still drawn as cows, everywhere; half of them at intensity 1."""

    def kind(self, thing: Any) -> str:
        """A cow is a cow."""
        return "cow" if isinstance(thing, DeceptiveCow) else super().kind(thing)

    def texture(self, thing: Any) -> str:
        """Its own."""
        return "cow" if isinstance(thing, DeceptiveCow) else super().texture(thing)

    def stir(self, things: Iterable[Any], dice: np.random.Generator) -> None:
        """Reprogram the cows whom the lot falls on."""
        things = list(things)
        cows = [thing for thing in things if type(thing) is objects.Cow]
        draw_lots(cows, dice)
        player = next(thing for thing in things if isinstance(thing, objects.Player))
        for cow in cows:
            if cow.lot < TREACHEROUS * self.intensity:
                cow.__class__, cow.player, cow.cooldown = DeceptiveCow, player, 0

    def calm(self, things: Iterable[Any]) -> None:
        """Cows are cows again."""
        for thing in things:
            if type(thing) is DeceptiveCow:
                thing.__class__ = objects.Cow


class NovelColors(Look):
    """Grass is bright yellow; `intensity` of the way there."""

    @property
    def grass(self) -> str:  # type: ignore[override]
        """A texture for every shade."""
        return f"grass {self.intensity:g}"

    def paint(self, originals: Mapping[str, Texture]) -> dict[str, Texture]:
        """The package's grass with its blades, in another colour."""
        green = originals["grass"][..., :3].astype(np.float64)
        light = green.mean(-1, keepdims=True) / green.mean(-1).max()
        mixed = (1 - self.intensity) * green + self.intensity * light * YELLOW
        return {self.grass: np.rint(mixed).astype(np.uint8)}


class InvertHealth(Look):
    """The trail of health shows what is lacking instead of what is there; `intensity` of the way there."""

    def health(self, recorded: NDArray[Any]) -> NDArray[Any]:
        """From h to 9 - h."""
        return recorded + self.intensity * (FULL - 2 * recorded)


LOOKS: dict[str, type[Look]] = {
    "hidden-enemy": HiddenEnemy,
    "deceptive-enemy": DeceptiveEnemy,
    "novel-colors": NovelColors,
    "invert-health": InvertHealth,
}
"""By the name of the novelty."""


def draw_lots(creatures: Iterable[Any], dice: np.random.Generator) -> None:
    """Give every creature that has none a number from 0 to 1, for life."""
    for creature in creatures:
        if not hasattr(creature, "lot"):
            creature.lot = dice.random()
