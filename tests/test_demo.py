"""The demo, shortened."""

from wiser.demo import demo


def test_drives_three_ways_and_leaves_a_page(tmp_path, capsys) -> None:
    demo("stop-sign/dropout", "wiser/StopSign-v0", episodes=2, out=tmp_path, threads=1)
    said = capsys.readouterr().out
    assert all(lane in said for lane in ("clean", "broken, no guard", "broken, guarded"))
    assert (tmp_path / "demo.html").stat().st_size > 100_000
