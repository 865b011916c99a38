"""The package's game, made to be the same in every process, and drawn in six ways."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from wiser.envs.crafter.looks import Look
from wiser.envs.crafter.package import crafter, engine
from wiser.envs.crafter.pictures import Image, Trail, draw_maps, grayscale
from wiser.envs.crafter.view import TiledView

HONEST = Look()
LARGE = 576
"""Pixels from side to side of the picture for people."""


class Members(dict[Any, None]):
    """A set that remembers the order in which things came."""

    def add(self, thing: Any) -> None:
        """At the end."""
        self[thing] = None

    def remove(self, thing: Any) -> None:
        """It must be there."""
        del self[thing]


class OrderedWorld(engine.World):
    """The package keeps who lives where in sets ordered by address: which of them vanishes would be up to chance."""

    def reset(self, seed: int | None = None) -> None:
        """Begin anew."""
        super().reset(seed)
        self._chunks: defaultdict[Any, Members] = defaultdict(Members)


class Game(crafter.Env):
    """The package's environment, with its own interface, but observed in six ways and as a look has it.

    Everything random follows from the seed; pictures draw their noise at night from the world's own numbers, once a
    step, as in the package: whoever draws more often puts the numbers back.
    """

    _local_view: Any

    def __init__(self, length: int) -> None:
        super().__init__(length=length, seed=0)
        self._world.__class__ = OrderedWorld
        self._local_view = TiledView(self._world, self._textures, self._local_view._grid)
        self._sem_view = lambda: None  # ours is drawn with the others; the package's knows no new creatures
        self.look = HONEST
        self.dice = np.random.default_rng(0)
        self.trail = Trail()
        self.affected: dict[str, float] = {}

    @property
    def world(self) -> Any:
        """Materials and things."""
        return self._world

    @property
    def player(self) -> Any:
        """The one who acts."""
        return self._player

    @property
    def sight(self) -> tuple[int, int]:
        """How many cells the player sees to each side, and up and down."""
        wide, high = self._local_view._grid
        return int(wide) // 2, int(high) // 2

    @property
    def time(self) -> int:
        """Steps of this episode so far."""
        return int(self._step)

    @property
    def unlocked(self) -> set[str]:
        """What the player has achieved in this episode."""
        return self._unlocked

    def begin(self, seed: int | None) -> dict[str, Image]:
        """Begin the first episode of a seed, or the next one without."""
        if seed is not None:
            self._seed, self._episode = seed, 0
        self.trail = Trail()
        return self.reset()

    def put_on(self, look: Look, dice: np.random.Generator) -> None:
        """Show the world in another way from the next picture on; `dice` are the novelty's."""
        if look is self.look:
            return
        self.look.calm(self._world.objects)
        self.look, self.dice = look, dice
        self._textures._originals.update(look.paint(self._textures._originals))

    def render(self, size: Any = None, look: Look = HONEST) -> Image:
        """The default view with the inventory below."""
        size = np.array(size or self._size)
        unit = size // self._view
        local = self._local_view(self._player, unit, look)
        items = self._item_view(self._player.inventory, unit)
        view = np.concatenate([local, items], 1)
        canvas = np.zeros((*size, 3), np.uint8)
        (x, y), (width, height) = (size - unit * self._view) // 2, view.shape[:2]
        canvas[x : x + width, y : y + height] = view
        return canvas.transpose(1, 0, 2)

    def picture(self) -> Image:
        """For people: the world as it really is."""
        return self._unnoticed(lambda: self.render((LARGE, LARGE)))

    def _obs(self) -> dict[str, Image]:
        """All six, and what of it is not as it would honestly be."""
        self.look.stir(self._world.objects, self.dice)
        self.trail.record(self._player)
        honest = None if self.look is HONEST else self._unnoticed(lambda: self._draw(HONEST))
        shown = self._draw(self.look)
        self.affected = {} if honest is None else {k: float((v != honest[k]).any()) for k, v in shown.items()}
        return shown

    def _draw(self, look: Look) -> dict[str, Image]:
        image = self.render(look=look)
        maps = draw_maps(self._world, self._player, look)
        return {"birdeye": image, "grayscale": grayscale(image), **maps, "health_trail": self.trail.draw(look)}

    def _unnoticed(self, draw: Any) -> Any:
        """Draw without using up the world's random numbers."""
        state = self._world.random.get_state()
        drawn = draw()
        self._world.random.set_state(state)
        return drawn
