"""The small sky: made once, whole, by any number of processes at once."""

import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from wiser.envs.safety import skybox
from wiser.envs.safety.course import _PACKAGE

FACES = sorted(path.name for path in (_PACKAGE / "assets" / "textures").glob("star_hd.*.png"))
SCRIPT = "from wiser.envs.safety.course import Course; Course('SafetyPointGoal1')"


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(skybox, "user_cache", lambda: tmp_path)
    return tmp_path


def sky_of(folder: Path) -> list[Path]:
    return sorted((folder / "assets" / "textures").iterdir())


def test_a_face_is_the_mean_of_the_large_one(cache) -> None:
    folder = skybox.small_world(_PACKAGE)
    assert [path.name for path in sky_of(folder)] == FACES
    assert len(FACES) == 6
    small = cv2.imread(str(sky_of(folder)[0])).astype(float)
    large = cv2.imread(str(_PACKAGE / "assets" / "textures" / FACES[0])).astype(float)
    assert small.shape == (skybox.SIDE, skybox.SIDE, 3)
    assert small.mean() == pytest.approx(large.mean(), abs=0.3)
    side = len(large) / skybox.SIDE
    row, column = 100, 37
    patch = large[int(row * side) : int((row + 1) * side), int(column * side) : int((column + 1) * side)]
    np.testing.assert_allclose(small[row, column], patch.mean((0, 1)), atol=2)


def test_it_is_made_once_and_mended(cache) -> None:
    folder = skybox.small_world(_PACKAGE)
    made = {path: path.stat().st_mtime_ns for path in folder.rglob("*.*") if path.is_file()}
    skybox.small_world(_PACKAGE)
    assert made == {path: path.stat().st_mtime_ns for path in made}
    lost = sky_of(folder)[3]
    lost.unlink()
    skybox.small_world(_PACKAGE)
    assert len(sky_of(folder)) == 6
    assert lost.exists()


def test_processes_that_make_it_at_once_all_get_it_whole(tmp_path) -> None:
    import os

    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    running = [subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    (folder,) = (tmp_path / "wiser").glob("safety-gymnasium-*")
    assert [path.name for path in sky_of(folder)] == FACES
    assert all(cv2.imread(str(path)).shape == (skybox.SIDE, skybox.SIDE, 3) for path in sky_of(folder))


def test_where_nothing_can_be_written_the_package_s_own_sky_serves(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(skybox, "user_cache", lambda: tmp_path / "file")
    with pytest.warns(UserWarning, match="cannot be written"):
        assert skybox.small_world(_PACKAGE) == _PACKAGE
