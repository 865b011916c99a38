import signal

import torch
from hypothesis import settings

from tests.browser import browser, tabs, visit

__all__ = ["browser", "tabs", "visit"]

torch.set_num_threads(1)
settings.register_profile("wiser", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("wiser")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in what a shell starts in the background: children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
