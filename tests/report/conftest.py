from pathlib import Path

import pytest

from tests.report import synthetic
from wiser.report.write import write_report


@pytest.fixture(scope="session")
def results(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("results")
    synthetic.multi(root / "multi", tasks=("StopSign",), faults=("glare",), failures=(0, 1, 5), episodes=3)
    synthetic.single(root / "single", faults=("glare",), episodes=2)
    synthetic.rising(root / "surprise", faults=("glare",), episodes=3)
    return root


@pytest.fixture(scope="session")
def made(results) -> Path:
    folder, absent = write_report(tuple(results / name for name in ("multi", "single", "surprise")), None, None)
    assert absent == ["Summaries", "Which sensors are masked"], "driving has no summaries, old episodes no counts"
    return folder
