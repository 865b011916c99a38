"""What is drawn is what was measured: every number against one worked out by hand."""

import json

import numpy as np
import pytest
import yaml

from tests.report.synthetic import add, cell
from wiser.envs.domain import find_task, references
from wiser.evaluate.contenders import CONTENDERS
from wiser.evaluate.histogram import CENTRES, Histogram
from wiser.evaluate.plan import Plan
from wiser.evaluate.statistics import Estimate
from wiser.faults import FAULTS
from wiser.report import alarms, failures, overall, resilience, rivals, search, style, surfaces, surprise, training
from wiser.report.exhibit import how_measured, missing_from
from wiser.report.results import Setting, clean_setting, one_vintage, read_sweep

RANDOM, EXPERT = 14.06, 260.59  # of StopSign


def test_references_are_those_of_the_environment() -> None:
    assert references("StopSign") == (RANDOM, EXPERT)
    assert find_task("StopSign").normalise(RANDOM) == 0
    assert find_task("StopSign").normalise(EXPERT) == 1
    assert references("Unheard") is None
    with pytest.raises(ValueError, match="no reference scores of 'CartPole-v1'"):
        find_task("CartPole-v1").normalise(3.0)


def test_a_histogram_knows_its_mean_and_spread() -> None:
    low, high = CENTRES[60], CENTRES[90]
    mean, spread = Histogram.of([low, high, high, low]).moments
    assert mean == pytest.approx((low + high) / 2)
    assert spread == pytest.approx((high - low) / 2)
    assert Histogram.of([0.0, 0.0]).moments == (0.0, 0.0)
    assert Histogram().moments is None


def test_scores_over_failures_keep_seeds_apart_and_leave_gaps(tmp_path) -> None:
    add(tmp_path, [100.0, 200.0], failures=0)
    add(tmp_path, [0.0, 10.0], failures=1)
    add(tmp_path, [30.0], failures=1, seed=1)
    add(tmp_path, [5.0, 7.0], failures=3)
    add(tmp_path, [1.0], failures=3, contender="base")
    (panel,) = failures.panels(read_sweep(tmp_path))
    assert (panel.task, panel.disturbance) == ("StopSign", "glare")
    assert {n: estimate.value for n, estimate in panel.curves["confident"].items()} == {0: 150.0, 1: 17.5, 3: 6.0}
    assert list(panel.curves["base"]) == [3]
    assert (panel.curves["confident"][0].low, panel.curves["confident"][0].high) == (100.0, 200.0)
    (table,) = next(failures.exhibits(read_sweep(tmp_path))).tables
    assert table.rows == (("base", "–", "1 [1, 1]"), ("confident", "150 [100, 200]", "6 [5, 7]"))


def test_surprise_is_measured_in_deviations_of_clean_steps(tmp_path) -> None:
    low, high, loud = CENTRES[60], CENTRES[80], CENTRES[100]
    add(tmp_path, [1.0, 1.0], [low, high], contender="dropout", failures=0)
    add(tmp_path, [1.0, 1.0], [high, high], contender="dropout", intensity=0.5, failures=5)
    add(tmp_path, [1.0, 1.0], [high, loud], contender="dropout", intensity=1.0, failures=5)
    add(tmp_path, [1.0, 1.0], [loud, loud], intensity=1.0, failures=5)  # guarded: not shown
    (rise,) = surprise.rises(read_sweep(tmp_path))
    values = {intensity: estimate.value for intensity, estimate in rise.curves["glare"].items()}
    unit = (high - low) / 2
    expected = {0.0: 0.0, 0.5: 1.0, 1.0: ((high + loud) / 2 - (low + high) / 2) / unit}
    assert values == pytest.approx(expected)
    assert rise.curves["glare"][1.0].low == pytest.approx(1.0)


def test_surprise_without_a_clean_cell_is_not_shown(tmp_path) -> None:
    for intensity in (0.5, 1.0):
        add(tmp_path, [1.0], contender="dropout", intensity=intensity)
    assert surprise.rises(read_sweep(tmp_path)) == []


def test_surfaces_have_the_trapezoid_mean_and_their_lowest_point(tmp_path) -> None:
    heights = {(0.5, 0.5): 4.0, (0.5, 1.0): 2.0, (0.75, 0.5): 3.0, (0.75, 1.0): 2.0, (1.0, 0.5): 3.0, (1.0, 1.0): 1.0}
    for (intensity, proportion), height in heights.items():
        add(tmp_path, [height - 1, height + 1], intensity=intensity, proportion=proportion)
        if height < 4:
            add(tmp_path, [height], intensity=intensity, proportion=proportion, contender="base")
    hole, whole = surfaces.surfaces(read_sweep(tmp_path))
    np.testing.assert_array_equal(whole.heights, [[4, 2], [3, 2], [3, 1]])
    assert whole.area.value == pytest.approx((4 + 2 + 2 * 3 + 2 * 2 + 3 + 1) / 8)
    # Two episodes, one everywhere 1 below and one 1 above: what is drawn in one cell is drawn in all.
    assert (whole.area.low, whole.area.high) == pytest.approx((whole.area.value - 1, whole.area.value + 1))
    assert whole.worst == (1.0, 1.0, 1.0)
    np.testing.assert_array_equal(hole.heights, [[np.nan, 2], [3, 2], [3, 1]])
    assert (hole.area, hole.worst) == (None, None)
    assert surfaces.for_the_page([hole])["surfaces"][0]["z"] == [[None, 2.0], [3.0, 2.0], [3.0, 1.0]]
    assert surfaces.height_range([whole]) == (1, 4)


def test_surfaces_are_compared_with_the_first_method_in_the_same_episodes(tmp_path) -> None:
    for intensity, proportion in ((0.5, 0.5), (0.5, 1.0), (1.0, 0.5), (1.0, 1.0)):
        changes = {"intensity": intensity, "proportion": proportion}
        for seed in (0, 1) if intensity == 1.0 else (0,):
            add(tmp_path, [10.0, 90.0, 700.0], contender="base", seed=seed, **changes)
            add(tmp_path, [10.0 + 4 * intensity, 90.0 + 4 * intensity], contender="confident", seed=seed, **changes)
        if intensity == 0.5:
            add(tmp_path, [1.0], contender="rme", **changes)
    first, hole, better = surfaces.surfaces(read_sweep(tmp_path))
    assert (first.gain, hole.gain) == (None, None)
    assert (better.gain.value, better.gain.low, better.gain.high) == pytest.approx((3.0, 3.0, 3.0))
    (exhibit,) = surfaces.exhibits(read_sweep(tmp_path))
    assert "episodes resampled, the same in all cells" in exhibit.caption
    assert [row[3] for row in exhibit.tables[0].rows] == ["–", "–", "3.0 [3.0, 3.0]"]


def test_all_settings_of_a_task_draw_the_same_episodes(tmp_path) -> None:
    unit = EXPERT - RANDOM
    for failed in range(1, 6):
        add(tmp_path, [unit, 3 * unit], contender="confident", failures=failed)
        add(tmp_path, [0.0, 0.0], contender="exhaustive", failures=failed)
    pooled = search.paired(search.duels(read_sweep(tmp_path)))
    assert (pooled.value, pooled.low, pooled.high) == pytest.approx((2.0, 1.0, 3.0))
    assert "episodes resampled, the same in all cells" in next(search.exhibits(read_sweep(tmp_path))).caption


def test_episodes_of_two_tasks_are_not_the_same_though_their_seeds_are(tmp_path) -> None:
    for task in ("StopSign", "FourLane"):
        add(tmp_path, list(range(30)), contender="confident", task=task)
        add(tmp_path, [0.0] * 30, contender="exhaustive", task=task)
    duels = search.duels(read_sweep(tmp_path))
    pooled = search.paired(duels)
    spread = [duel.difference.high - duel.difference.low for duel in duels]
    assert pooled.high - pooled.low == pytest.approx(np.hypot(*spread) / 2, rel=0.1)  # together: their sum / 2


def test_greedy_and_exhaustive_meet_in_the_same_episodes(tmp_path) -> None:
    add(tmp_path, [10.0, 20.0, 90.0], contender="confident")
    add(tmp_path, [14.0, 20.0], contender="exhaustive")
    add(tmp_path, [50.0], contender="confident", failures=2)
    (duel,) = search.duels(read_sweep(tmp_path))
    assert (duel.scores.ours, duel.scores.theirs) == ([[10.0, 20.0]], [[14.0, 20.0]])
    assert duel.difference.value == pytest.approx(-2 / (EXPERT - RANDOM))
    assert "1 cells lack their counterpart" in next(search.exhibits(read_sweep(tmp_path))).caption


def test_resilience_is_what_is_left_above_a_random_policy(tmp_path) -> None:
    add(tmp_path, [RANDOM + 150, RANDOM + 250], contender="base", failures=0)
    add(tmp_path, [RANDOM, RANDOM], contender="base", failures=5)
    add(tmp_path, [RANDOM + 50, RANDOM + 50], contender="confident", failures=0)
    add(tmp_path, [RANDOM + 75, RANDOM + 125], contender="confident", failures=5)
    add(tmp_path, [RANDOM + 15], contender="rme", failures=5)
    shares = resilience.shares(read_sweep(tmp_path), "StopSign")
    half = shares["confident", "glare"]
    assert half.value == pytest.approx(0.5)  # not 2: of base, not of its own
    assert (half.low, half.high) == pytest.approx((0.5, 0.5))  # half of the clean run in each episode
    assert shares["confident", "clean"].value == pytest.approx(0.25)
    assert shares["base", "glare"].value == pytest.approx(0)
    assert shares["base", "clean"].value == pytest.approx(1)
    assert shares["rme", "glare"].value == pytest.approx(0.1)  # of the clean run of its one episode
    assert shares["rme", "clean"] is None  # no such cell


def test_resilience_needs_a_yardstick_better_than_random(tmp_path) -> None:
    add(tmp_path, [RANDOM - 1], contender="base", failures=0)
    add(tmp_path, [RANDOM], contender="base", failures=5)
    assert resilience.shares(read_sweep(tmp_path), "StopSign")["base", "glare"] is None


def test_resilience_needs_a_floor(tmp_path) -> None:
    for failed in (0, 5):
        add(tmp_path, [100.0], task="Unheard", failures=failed)
    assert set(resilience.shares(read_sweep(tmp_path), "Unheard").values()) == {None}


def test_detection_pools_the_clean_cell_with_every_fault(tmp_path) -> None:
    add(tmp_path, [1.0], [1.0], failures=0)
    add(tmp_path, [1.0], [8.0], failures=1)
    add(tmp_path, [1.0], [8.0], failures=2, caught=False)
    add(tmp_path, [1.0], [8.0], failures=2, caught=False, contender="dropout")
    sweep = read_sweep(tmp_path)
    found = alarms.detections(sweep, "StopSign")
    pooled = found["confident", "glare"]
    assert (pooled.clean_steps, pooled.faulty_steps) == (10, 20)
    assert (pooled.recall, pooled.exact_share, pooled.precision) == (0.5, 0.5, 1.0)
    assert (pooled.surprise_auroc, pooled.median_delay) == (1.0, 0.0)
    unguarded, guarded = alarms.table(sweep, "StopSign", found).rows
    assert guarded == ("confident", "glare", "1.000", "0.667", "0.0", "0.50", "0.50", "1.00", "0")
    assert unguarded == ("dropout", "glare", "–", "0.500", "–", "–", "–", "–", "–")


def test_clean_scores_of_agents_that_trust_everything(tmp_path) -> None:
    add(tmp_path, [10.0, 30.0], contender="base", failures=0)
    add(tmp_path, [40.0], contender="dropout", failures=0)
    add(tmp_path, [70.0], contender="confident", failures=0)
    found = training.clean_scores(read_sweep(tmp_path))["StopSign"]
    assert {variant: score.value for variant, score in found.items()} == {"base": 20.0, "dropout": 40.0}


def test_learning_curves_come_from_the_logs(tmp_path) -> None:
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    config = {"env": "wiser/StopSign-v0", "variant": "dropout", "sensors": [], "evaluate_episodes": 16}
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    entries = [{"update": 50, "rate": 3.0}, {"update": 100, "score": 12.0, "score_std": 8.0}]
    (run / "log.jsonl").write_text("\n".join(map(json.dumps, entries)) + '\n{"update": 150, "sco')
    (read,) = training.read_runs(tmp_path)
    assert (read.name, read.task, read.variant, read.updates) == ("one", "StopSign", "dropout", (100,))
    (score,) = read.scores
    assert (score.value, score.low, score.high) == pytest.approx((12.0, 8.08, 15.92))


def test_several_runs_of_a_variant_are_thin_lines_and_a_mean_where_all_were_evaluated() -> None:
    def run(name: str, updates: tuple[int, ...], *scores: float) -> training.Run:
        points = tuple(Estimate(score, score, score) for score in scores)
        return training.Run(name, "StopSign", "dropout", updates, points, 16)

    figure = training.draw_runs([run("a", (100, 200, 300), 1.0, 2.0, 3.0), run("b", (100, 300), 5.0, 9.0)])
    drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in figure.axes[0].get_lines()]
    assert ([100, 300], [3.0, 6.0]) in drawn
    assert ([100, 200, 300], [1.0, 2.0, 3.0]) in drawn
    assert ([100, 300], [5.0, 9.0]) in drawn


def test_one_agent_and_number_of_episodes_are_shown_and_the_others_named() -> None:
    shown = [cell(failures=n, agent="new", onset=50) for n in (1, 2, 3)] + [cell(failures=0, agent="new")]
    others = [cell(failures=1, agent="old"), cell(failures=1, agent="new", onset=50, episodes=1)]
    kept, left_out = one_vintage([*others, *shown])
    assert set(kept) == set(shown)
    assert left_out == ["2 cells of StopSign, confident: not agent new, treatment greedy@0123, 3 episodes, onset 50"]


def test_captions_tell_episodes_seeds_and_what_is_missing(tmp_path) -> None:
    add(tmp_path, [1.0, 2.0], failures=1)
    add(tmp_path, [1.0], failures=2)
    add(tmp_path, [1.0], failures=2, seed=7)
    add(tmp_path, [1.0], failures=4, seed=7)
    sweep = read_sweep(tmp_path)
    told = how_measured(sweep.points.values())
    assert "1 to 2 episodes per point (seeds 0, 7); 95 % bootstrap" in told
    asked = [clean_setting("StopSign", "confident"), *sweep.points]
    asked += [Setting("StopSign", "confident", "lag", 0.5, 1.0, n) for n in range(1, 8)]
    assert missing_from(sweep, sweep.points) == ""
    assert missing_from(sweep, asked).startswith(
        " Not in the ledger: 8 of 11 cells (StopSign confident clean; StopSign confident lag 0.5/1 x1;"
    )
    assert missing_from(sweep, asked).endswith("and 2 more).")


def test_the_preset_for_surprise_leaves_one_sensor_whole() -> None:
    plan = Plan.read("driving-surprise")
    assert (plan.contenders, plan.failures, plan.intensities) == (("dropout",), (0, 5), (0.25, 0.5, 0.75, 1.0))
    assert len(plan.disturbances) == 6


def test_no_two_methods_and_no_two_faults_look_alike() -> None:
    own = [f"mine {number}" for number in range(9)]
    methods = (style.looks_of_methods(names) for names in ([*CONTENDERS, *own], own))
    for found in (*methods, style.looks(sorted(FAULTS))):
        assert len({(look["color"], look["marker"]) for look in found.values()}) == len(found)
    known = style.looks_of_methods(CONTENDERS)
    assert len({look["color"] for look in known.values()}) == len(CONTENDERS)
    assert style.looks_of_methods(["mine", "reject"])["reject"] == known["reject"], "the same in every figure"


def test_one_number_of_failures_is_set_against_clean_sensors(tmp_path) -> None:
    """An agent with one sensor can lose no more; where intensities vary too, that is another figure."""
    add(tmp_path, [5.0], failures=0)
    add(tmp_path, [3.0], failures=1)
    (exhibit,) = failures.exhibits(read_sweep(tmp_path))
    assert exhibit.tables[0].title.startswith("Stop Sign: score, clean and with 1 sensor broken")
    add(tmp_path, [4.0], failures=1, intensity=0.5)
    assert failures.panels(read_sweep(tmp_path)) == []


def test_every_measure_has_its_figure_and_its_table(tmp_path) -> None:
    """Whatever episodes carry is drawn: one that the domain declares by its title, any other by its own name."""
    for failed, share in ((0, 1.0), (1, 0.5), (2, 0.0)):
        add(tmp_path, [1.0, 2.0], failures=failed, measures={"success": [1.0, share], "spilled": [2.0, 4.0 + failed]})
    sweep = read_sweep(tmp_path)
    assert sweep.measures == ["spilled", "success"]
    score, spilled, success = failures.exhibits(sweep)
    names = [exhibit.name for exhibit in (score, spilled, success)]
    assert names == ["failures", "failures-spilled", "failures-success"]
    (panel,) = failures.panels(sweep, "success")
    assert {failed: curve.value for failed, curve in panel.curves["confident"].items()} == {0: 1.0, 1: 0.75, 2: 0.5}
    assert [row[1:] for row in spilled.tables[0].rows] == [("3.00 [2.00, 4.00]", "4.00 [2.00, 6.00]")]


def test_all_disturbances_together(tmp_path) -> None:
    """Two settings of two episodes; what only one of the contenders has does not count."""
    random, expert = references("StopSign")
    at = [random + share * (expert - random) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for failed, base, guarded in ((1, at[0:2], at[2:4]), (2, at[1:3], [at[0], at[4]])):
        add(tmp_path, base, contender="base", failures=failed)
        add(tmp_path, guarded, contender="confident", failures=failed)
    add(tmp_path, [at[4]] * 2, contender="confident", failures=3)
    sweep = read_sweep(tmp_path)
    first, second = (overall.row(name, overall.rivalries(sweep, name)) for name in ("base", "confident"))
    assert [text.split(" ")[0] for text in first] == ["base", "2", "0.25", "0.25", "0.50"]
    # means (0.5 + 0.75 + 0 + 1) / 4; of four scores the lowest and the highest are cut; 4 of 4 and 2 of 4 pairs are won
    assert [text.split(" ")[0] for text in second] == ["confident", "2", "0.56", "0.62", "0.75"]


def test_one_method_against_the_others(tmp_path) -> None:
    """Differences by hand, in the episodes that both have; a setting that one of them lacks does not count."""
    random, expert = references("StopSign")
    for failed, base, guarded in (
        (0, [9.0, 9.0], [9.0, 8.0]),
        (1, [1.0, 2.0], [4.0, 9.0]),
        (2, [5.0, 5.0], [2.0, 3.0]),
    ):
        add(tmp_path, base, contender="base", failures=failed)
        add(tmp_path, guarded, contender="witnesses", failures=failed)
    add(tmp_path, [0.0, 0.0], contender="base", failures=2, disturbance="lag")
    add(tmp_path, [6.0, 8.0], contender="witnesses", failures=2, disturbance="lag")
    add(tmp_path, [1000.0, 1000.0], contender="witnesses", failures=3)
    sweep = read_sweep(tmp_path)
    table = rivals.table(sweep, ["StopSign"], ["base"], "by hand")
    assert table.header == ("method", "clean", "glare", "lag", "all faults")
    # clean: 0 and -1; glare: mean of (3, 7) and (-3, -2); lag: (6, 8); all: mean of 5, -2.5 and 7
    assert [text.split(" ")[0] for text in table.rows[0]] == ["base", "0", "1", "7", "3"]
    share = rivals.difference(rivals.meetings(sweep, "base"), normalised=True)
    assert share.value == pytest.approx((5 - 2.5 + 7) / 3 / (expert - random))
    shares = rivals.table(sweep, ["StopSign"], ["base"], "by hand", normalised=True).rows[0]
    expected = ["base", *(f"{gap / (expert - random):.3f}" for gap in (-0.5, 1.25, 7, (5 - 2.5 + 7) / 3))]
    assert [text.split(" ")[0].replace("\N{MINUS SIGN}", "-") for text in shares] == expected
    assert rivals.worse(sweep) == ["StopSign witnesses glare x2"]
    (exhibit,) = rivals.exhibits(sweep)
    assert "Of 3 settings with something wrong, witnesses is worse than base by its interval in 1" in exhibit.caption


def test_training_runs_are_strata_and_said_in_the_caption(tmp_path) -> None:
    """Two runs drive the same episodes; of a run that was trained again one vintage is kept."""
    for run, (base, guarded) in enumerate((([1.0, 2.0], [4.0, 9.0]), ([3.0, 4.0], [4.0, 5.0]))):
        agent = f"stop-sign/dropout{f'#{run}' if run else ''}"
        add(tmp_path, base, contender="dropout", agent=f"{agent}@1", failures=2)
        add(tmp_path, guarded, contender="witnesses", agent=f"{agent}@1", failures=2)
    sweep = read_sweep(tmp_path)
    (setting,) = (setting for setting in sweep.points if setting.contender == "witnesses")
    assert [driven.run for driven in sweep.points[setting].scores] == [0, 1]
    found = rivals.difference(rivals.meetings(sweep, "dropout"))
    assert (found.value, found.low, found.high) == (3.0, 1.0, 7.0)  # runs gain (3, 7) and (1, 1)
    (exhibit,) = rivals.exhibits(sweep)
    assert "Agents of 2 training runs each: intervals draw the runs anew" in exhibit.caption
    assert not sweep.left_out
