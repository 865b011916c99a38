"""What stands between our code and a server that cannot run here: the client library's types."""

import inspect
import subprocess
import sys
from pathlib import Path

import carla
import pytest
from mypy import api

from tests.envs.driving.carla_backend import carla_double_actors, carla_doubles

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("carla.Client('localhost', 2000).get_wrld()", 'has no attribute "get_wrld"'),
        ("carla.VehicleControl(throttle='full')", "incompatible type"),
        ("speed: str = carla.Vector3D().length()", "Incompatible types"),
    ],
)
def test_the_type_checker_knows_carla(line, complaint, tmp_path):
    """The checker that `make lint` runs, with its settings, refuses wrong calls: it reads the wheel's stubs."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(f"import carla\n{line}\n")
    report, _, status = api.run(["--config-file", str(ROOT / "pyproject.toml"), str(wrong)])
    assert status == 1
    assert complaint in report


def test_the_type_checker_is_content_with_the_backend(monkeypatch):
    monkeypatch.chdir(ROOT)
    report, _, status = api.run(
        ["--config-file", str(ROOT / "pyproject.toml"), "-p", "wiser.envs.driving.carla_backend"]
    )
    assert status == 0, report


@pytest.mark.parametrize(
    "name", ["Actor", "Vehicle", "Sensor", "World", "Client", "TrafficManager", "Blueprint", "Library", "Attribute"]
)
def test_doubles_do_nothing_that_carla_cannot(name):
    """Every public method of a double exists on the real class."""
    real = {"Blueprint": "ActorBlueprint", "Library": "BlueprintLibrary", "Attribute": "ActorAttribute"}.get(name, name)
    own = {"middle", "place", "drive", "emit"}  # the doubles' own physics
    double = getattr(carla_doubles, name, None) or getattr(carla_double_actors, name)
    methods = {m for m, _ in inspect.getmembers(double, inspect.isfunction) if not m.startswith("_")} - own
    assert methods
    assert not [method for method in methods if not hasattr(getattr(carla, real), method)]


def test_without_the_client_library_one_clear_error():
    script = "import sys; sys.modules['carla'] = None\nimport wiser.envs.driving.carla_backend.env"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert "pip install 'wiser-guard[carla]'" in done.stderr.splitlines()[-1]


def test_the_other_worlds_do_not_need_it():
    script = "import sys; sys.modules['carla'] = None\nimport wiser.envs, wiser.envs.driving.env"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
