"""The experiment on a world whose model is known, and its table against plain arithmetic."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.video.worlds import moving_blob
from wiser.commands.video.table import Table as Command
from wiser.video import table
from wiser.video.calibration import calibrate, gating
from wiser.video.corrupt import FAULTS
from wiser.video.plain import Linear
from wiser.video.table import Comparison, Table, markdown, write_results
from wiser.video.trials import Experiment, trials

CLIPS = range(100, 108)


@cache
def found() -> Table:
    """Eight clips, all faults, a linear model that knows the world."""
    model = Linear.fit([moving_blob(40, seed) for seed in range(8)], components=12)
    settings = gating(model, calibrate(model, [moving_blob(12, seed) for seed in range(20, 40)]), frames=12)
    plan = Experiment(("none", "predict"), seeds=2)
    done = [trial for seed in CLIPS for trial in trials(str(seed), moving_blob(20, seed), model, settings, plan)]
    return Table(done, "predict")


def test_every_clip_is_broken_by_every_fault_and_treated_both_ways():
    assert len(found().trials) == len(CLIPS) * 2 * (len(FAULTS) + 1) * 2
    assert found().faults == list(FAULTS)


@pytest.mark.parametrize("measure", ["psnr", "ssim"])
def test_gated_is_closer_to_what_really_came(measure):
    rows = found().rows(measure)
    assert sum(row.better for row in rows[:-1]) >= 4
    assert rows[-1].better


def test_on_clean_clips_the_gate_changes_nothing():
    kept, judged = found().untouched()
    assert kept == judged > 0
    clean = [trial for trial in found().trials if trial["fault"] == "none"]
    for base, gated in zip(clean[::2], clean[1::2], strict=True):
        assert (base["psnr"], base["ssim"]) == (gated["psnr"], gated["ssim"])


def test_rows_are_plain_means_and_their_differences():
    values = {
        (gate, fault): np.mean([t["psnr"] for t in found().trials if (t["gate"], t["fault"]) == (gate, fault)])
        for gate in ("none", "predict")
        for fault in FAULTS
    }
    for row in found().rows("psnr")[:-1]:
        assert row.base.value == pytest.approx(values["none", row.fault])
        assert row.gated.value == pytest.approx(values["predict", row.fault])
        assert row.difference.value == pytest.approx(values["predict", row.fault] - values["none", row.fault])
    overall = found().rows("psnr")[-1]
    assert overall.gated.value == pytest.approx(np.mean([values["predict", fault] for fault in FAULTS]))
    gap = found().spread("psnr")
    gated = {fault: values["predict", fault] for fault in FAULTS}
    assert (gap.worst, gap.best) == (min(gated, key=gated.get), max(gated, key=gated.get))
    assert gap.gap == pytest.approx(max(gated.values()) - min(gated.values()))
    base = [values["none", fault] for fault in FAULTS]
    assert found().base_spread("psnr") == pytest.approx(max(base) - min(base))


def made_up(rng: np.random.Generator, shift: float = 0.0, clips: int = 24) -> Table:
    """Two trials of every clip under five faults on one level, but for the last of them."""
    ease, taste = rng.normal(size=clips), rng.normal(size=(5, clips))  # of a clip, and of a fault on it
    return Table([
        {"clip": f"clip {c}", "fault": fault, "seed": seed, "gate": gate, "ssim": 0.0,
         "psnr": 20.0 + ease[c] + taste[f, c] + rng.normal() + shift * (f == 4)}
        for gate in ("none", "predict") for f, fault in enumerate(FAULTS) for c in range(clips) for seed in (0, 1)
    ], "predict")  # fmt: skip


def test_the_share_is_that_of_a_plain_bootstrap():
    known, rng = made_up(np.random.default_rng(0), shift=0.8), np.random.default_rng(1)
    scores = np.array([
        [[t["psnr"] for t in known.trials if (t["gate"], t["fault"], t["clip"]) == ("predict", fault, clip)]
         for clip in known.clips]
        for fault in FAULTS
    ])  # fmt: skip
    means = [scores[f].mean() for f in range(5)]
    seen, wide = max(means) - min(means), 0
    for _ in range(4000):
        drawn = rng.integers(24, size=24)
        levels = [scores[f][drawn].mean() - means[f] for f in range(5)]
        wide += max(levels) - min(levels) >= seen
    share = known.spread("psnr").share
    assert 0.1 < wide / 4000 < 0.4  # else the next line would say little
    assert share == pytest.approx(wide / 4000, abs=0.03)


def test_faults_on_one_level_are_seldom_told_apart_and_others_are():
    """That the two farthest of five were chosen after the fact is allowed for."""
    refused = [not made_up(np.random.default_rng(seed)).spread("psnr").one_level for seed in range(120)]
    assert np.mean(refused) < 0.13  # 5 % of 120 and three standard deviations, and a little for there are few clips
    assert not made_up(np.random.default_rng(0), shift=2.0).spread("psnr").one_level
    same = made_up(np.random.default_rng(0))
    flat = Table([{**trial, "psnr": 20.0} for trial in same.trials], "predict").spread("psnr")
    assert (flat.gap, flat.share) == (0.0, 1.0)
    assert [replace(flat, share=share).one_level for share in (0.0, 0.0495, 0.05, 1.0)] == [False, False, True, True]


def test_seeds_of_one_clip_are_no_more_evidence_than_the_clip():
    """Clips are drawn whole: the same trials under other seeds leave the interval as wide."""
    once = Table(found().trials, "predict")
    twice = Table([*once.trials, *({**trial, "seed": trial["seed"] + 2} for trial in once.trials)], "predict")
    for one, two in zip(once.rows("psnr"), twice.rows("psnr"), strict=True):
        assert two.difference.high - two.difference.low == pytest.approx(one.difference.high - one.difference.low)


def test_frames_of_trials_are_counted_by_what_was_done_with_them():
    for trial in found().trials:
        counts = {name: count for name, count in trial.items() if "/" in name}
        assert sum(counts.values()) == 12
        broken = sum(count for name, count in counts.items() if name.endswith("broken"))
        assert broken == (0 if trial["fault"] == "none" else 9)  # of twelve


def test_what_is_written_says_how_it_was_made_and_judges_the_claims(tmp_path):
    copies = [{**trial, "gate": "copy"} for trial in found().trials if trial["gate"] == "predict"]
    both = Comparison([*found().trials, *copies], ["predict", "copy"])
    write_results(both, tmp_path, {"model": "linear"})
    assert {path.name for path in tmp_path.iterdir()} == {
        "trials.csv", "table.md", "video.png", "video.svg", "video.pdf"
    }  # fmt: skip
    text = (tmp_path / "table.md").read_text()
    assert text == markdown(both, {"model": "linear"})
    assert "model linear" in text
    assert "of 5 (" in text
    gap = both.tables[0].spread("psnr")
    assert f"Gated, the faults lie {gap.gap:.3g} apart ({gap.worst} to {gap.best})" in text
    assert f"{gap.share:.1%} of resamples lie as far apart: this is" in text
    side_by_side = next(line for line in text.splitlines() if line.startswith("| glare")).split(" | ")
    base, predict, copy = (cell.strip(" |") for cell in side_by_side[1:])
    assert base != predict == copy
    assert f"| glare | {base} | {predict} |" in text.partition("# Gate: predict")[2].partition("# Gate: copy")[0]
    assert len((tmp_path / "trials.csv").read_text().splitlines()) == 1 + len(both.trials)


@pytest.mark.parametrize(("measures", "rows", "columns"), [(2, 1, 2), (3, 1, 3), (4, 2, 3), (8, 3, 3)])
def test_panels_stand_three_abreast(monkeypatch, tmp_path, measures, rows, columns):
    names = {f"quality/{i}": 0.5 for i in range(measures - 2)}
    drawn = []
    monkeypatch.setattr(table, "save", lambda figure, stem: drawn.append(figure))
    table.draw(Comparison([{**trial, **names} for trial in found().trials], ["predict"]), tmp_path / "video")
    axes = drawn[0].axes
    assert [axis.get_ylabel() for axis in axes] == ["PSNR, dB", "SSIM", *names]
    places = [axis.get_subplotspec() for axis in axes]
    assert {place.get_gridspec().get_geometry() for place in places} == {(rows, columns)}
    assert [(place.rowspan.start, place.colspan.start) for place in places] == [divmod(i, 3) for i in range(measures)]


def test_a_scorer_adds_its_own_measures():
    model = Linear.fit([moving_blob(20, 0)], components=3)
    plan = Experiment(faults=("glare",), seeds=1)

    absent: float | None = None

    def brightness(frames, reference, prompt):
        assert (frames.shape, frames.dtype, reference.shape, prompt) == (
            (8, 16, 16, 3),
            np.uint8,
            (16, 16, 3),
            "a disc",
        )
        return {"brightness": float(frames.mean()), "more": 2.0 * float(frames.mean()), "absent": absent}

    settings = gating(model, calibrate(model, [moving_blob(9, 1)]))
    told = moving_blob(20, 2), model, settings, plan, brightness, "a disc"
    scored = Table(list(trials("a", *told)), "paper")
    assert scored.measures == ["psnr", "ssim", "quality/brightness", "quality/more"]
    absent = 0.0  # now none is missing, and there is a mean
    with_mean = next(trials("a", *told))
    assert with_mean["quality/mean"] == pytest.approx(with_mean["quality/brightness"])


def test_the_command_does_by_default_what_the_experiment_does():
    """Three quarters of the frames that are seen are broken, and no fewer."""
    plan = Experiment()
    assert plan.given * plan.proportion == 9 == int(plan.given * plan.proportion)
    for name in ("faults", "proportion", "intensity", "preset", "given", "horizon", "seeds"):
        assert getattr(Command, name) == getattr(plan, name)


@pytest.mark.parametrize(("plan", "said"), [
    ({"faults": ("glaer",)}, "did you mean"), ({"horizon": 0}, "horizon must be"), ({"seeds": 0}, "seeds must be"),
])  # fmt: skip
def test_mistakes_are_told(plan, said):
    with pytest.raises(ValueError, match=said):
        Experiment(**plan)


def test_a_clip_that_is_too_short_is_told():
    with pytest.raises(ValueError, match="a clip of 5 frames has no 12 to see and 8 to come"):
        list(trials("short", moving_blob(5, 0), Linear.fit([moving_blob(9, 0)], 2), None, Experiment()))
