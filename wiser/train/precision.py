"""How exact matrix products are while a run learns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def matrix_products(precision: str) -> Iterator[None]:
    """Within, products of float32 matrices are as exact as asked for; afterwards they are as they were."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
