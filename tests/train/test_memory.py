"""Freed memory is kept: a large array that comes back costs no page faults."""

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import resource
import numpy as np
from wiser.train.memory import keep_freed_memory

def faults_of_large_arrays():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(4):
        np.full(10_000_000, 1.0, np.float32)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

usual = faults_of_large_arrays()
keep_freed_memory()
np.full(10_000_000, 1.0, np.float32)
print(usual, faults_of_large_arrays())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_large_arrays_reuse_memory() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    usual, kept = map(int, done.stdout.split())
    assert kept < usual / 20
