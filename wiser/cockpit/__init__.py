"""The cockpit: two copies of an agent drive the same episode side by side, live, and you break their sensors.

>>> session = Session(Choice("wiser/StopSign-v0", "stop-sign/dropout", "none", "greedy", seed=0))
>>> session.break_sensor("camera", "glare", 0.8)
>>> unguarded, guarded = session.step()
>>> session.recording()

`wiser cockpit` puts a page round it (docs/cockpit.md).
"""

from wiser.cockpit.catalogue import Catalogue, Choice
from wiser.cockpit.session import Session

__all__ = ["Catalogue", "Choice", "Session"]
