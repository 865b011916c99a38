"""Who may import whom (docs/architecture.md). Data flows one way, and so do imports."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "wiser"
LEAVES = {
    "wiser.checks", "wiser.extras", "wiser.files", "wiser.interrupts", "wiser.kernels", "wiser.likeness",
    "wiser.modules", "wiser.names", "wiser.options", "wiser.seeds", "wiser.spoken", "wiser.threads", "wiser.weights",
}  # fmt: skip
"""For everybody: they import nothing of the house."""
SEAM = {"wiser.worldmodel.protocol", "wiser.worldmodel.latents"}
SEAM_TWO = {"wiser.envs.domain", "wiser.envs.vector"}
WATCHERS = {
    "wiser.worldmodel", "wiser.guard", "wiser.faults", "wiser.rollout", "wiser.evaluate", "wiser.record", *SEAM_TWO
}  # fmt: skip

# part of the house -> prefixes of wiser modules it may import besides its own
ALLOWED: dict[str, set[str]] = {
    **{leaf: set() for leaf in LEAVES},
    "wiser.commands": {"wiser"},
    "wiser.worldmodel": set(),
    "wiser.guard": SEAM,
    "wiser.faults": set(),
    "wiser.envs": set(),
    "wiser.rollout": {*SEAM, *SEAM_TWO, "wiser.guard"},
    "wiser.train": {"wiser.worldmodel", "wiser.guard", "wiser.rollout", *SEAM_TWO},
    "wiser.learn": {*SEAM, *SEAM_TWO, "wiser.guard", "wiser.faults", "wiser.rollout"},
    "wiser.record": {"wiser.worldmodel.protocol", "wiser.guard"},
    "wiser.video": {
        "wiser.worldmodel.protocol",
        "wiser.guard",
        "wiser.faults",
        "wiser.record",
        "wiser.evaluate.statistics",
        "wiser.report.style",
    },
    "wiser.evaluate": WATCHERS - {"wiser.evaluate"},
    "wiser.report": {"wiser.envs.domain", "wiser.evaluate", "wiser.record"},
    "wiser.cockpit": WATCHERS,
    "wiser.demo": WATCHERS,
    "wiser.drive": SEAM_TWO,
}


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"wiser.{alias.name}" for alias in node.names} if node.module == "wiser" else {node.module or ""}
    return {name for name in found if name == "wiser" or name.startswith("wiser.")}


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def modules() -> list[tuple[str, Path]]:
    return [
        (".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"), path)
        for path in sorted(PACKAGE.rglob("*.py"))
    ]


@pytest.mark.parametrize(("name", "path"), modules(), ids=[name for name, _ in modules()])
def test_module_imports_only_what_its_part_may(name: str, path: Path) -> None:
    part = next((part for part in ALLOWED if within(name, part)), None)
    if part is None:
        assert len(name.split(".")) <= 2, f"{name} belongs to no part of the house: add it to docs/architecture.md"
        return
    allowed = {part, *LEAVES, *ALLOWED[part]}
    for imported in imports_of(path):
        assert any(within(imported, prefix) for prefix in allowed), f"{name} imports {imported}"


FAMILIES = [f"wiser.envs.{path.name}" for path in (PACKAGE / "envs").iterdir() if (path / "domain.py").exists()]


@pytest.mark.parametrize(("name", "path"), modules(), ids=[name for name, _ in modules()])
def test_only_a_family_knows_itself(name: str, path: Path) -> None:
    assert FAMILIES
    for family in FAMILIES:
        if not within(name, family):
            assert not any(within(imported, family) for imported in imports_of(path)), f"{name} knows {family}"


def test_the_check_can_fail(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("from wiser.worldmodel.dreamer import DreamerV3\n")
    assert not any(within(name, allowed) for name in imports_of(bad) for allowed in SEAM)
