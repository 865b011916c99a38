"""Estimates and intervals against SciPy, rliable and distributions whose truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from wiser.evaluate.statistics import (
    Estimate,
    iqm,
    mean,
    paired_difference,
    probability_of_improvement,
    resilience,
    summary,
)

numbers = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40)
strata = st.lists(numbers, min_size=1, max_size=4)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def interval(estimate: Estimate) -> tuple[float, float]:
    return estimate.low, estimate.high


def draw(shape, loc=2.0, seed=0):
    return rng(seed).gamma(2.0, 1.0, shape) + loc


@given(strata)
def test_values_are_those_of_scipy(scores) -> None:
    flat = np.concatenate(scores)
    assert mean(scores, rng()).value == pytest.approx(np.mean([np.mean(group) for group in scores]), abs=1e-9)
    assert iqm(scores, rng()).value == pytest.approx(stats.trim_mean(flat, 0.25), abs=1e-9)


@given(numbers, numbers)
def test_probability_of_improvement_is_mann_whitney(ours, theirs) -> None:
    u = stats.mannwhitneyu(ours, theirs).statistic
    value = probability_of_improvement([ours], [theirs], rng()).value
    assert value == pytest.approx(u / (len(ours) * len(theirs)))
    assert value + probability_of_improvement([theirs], [ours], rng()).value == pytest.approx(1)


@given(strata, st.randoms(use_true_random=False))
def test_the_order_of_scores_does_not_matter(scores, random) -> None:
    shuffled = [random.sample(group, len(group)) for group in scores]
    for estimate in (mean, iqm):
        assert estimate(shuffled, rng()).value == pytest.approx(estimate(scores, rng()).value, abs=1e-9)


@given(strata)
def test_the_iqm_and_its_interval_lie_among_the_scores(scores) -> None:
    low, high = np.min(np.concatenate(scores)) - 1e-9, np.max(np.concatenate(scores)) + 1e-9
    estimate = iqm(scores, rng())
    assert low <= estimate.low <= estimate.high <= high
    assert low <= estimate.value <= high


@given(st.integers(0, 10_000), st.integers(8, 60), st.integers(1, 4))
def test_intervals_contain_the_estimate(seed, size, tasks) -> None:
    ours, theirs = draw((tasks, size), seed=seed), draw((tasks, size), seed=seed + 1)
    for estimate in (
        mean(ours, rng()),
        iqm(ours, rng()),
        paired_difference(ours, theirs, rng()),
        probability_of_improvement(ours, theirs, rng()),
        resilience(ours, theirs, 0.0, rng()),
    ):
        assert estimate.low <= estimate.value <= estimate.high


def test_the_same_generator_gives_the_same_interval() -> None:
    scores = draw((3, 20))
    assert iqm(scores, rng(5)) == iqm(scores, rng(5))
    assert iqm(scores, rng(5)) != iqm(scores, rng(6))


@pytest.mark.parametrize(("ours", "theirs"), [(mean, np.mean), (iqm, lambda x, axis: stats.trim_mean(x, 0.25, axis))])
def test_intervals_are_those_of_scipy(ours, theirs) -> None:
    scores = draw(50)
    reference = stats.bootstrap(
        (scores,), theirs, n_resamples=5000, method="percentile", vectorized=True, axis=0, rng=rng(1)
    ).confidence_interval
    spread = reference.high - reference.low
    assert interval(ours([scores], rng())) == pytest.approx((reference.low, reference.high), abs=0.06 * spread)


def test_long_lists_are_resampled_in_parts_and_stay_right() -> None:
    scores = draw(5000)  # 26 resamples are held at once
    low, high = interval(mean([scores], rng()))
    assert high - low == pytest.approx(2 * 1.96 * scores.std() / np.sqrt(5000), rel=0.1)


def test_equal_scores_have_no_interval() -> None:
    scores = [np.full(7, 0.1), np.full(9, 0.1), np.full(11, 0.1)]
    for estimate, value in ((mean, 0.1), (iqm, 0.1), (lambda x, dice: resilience(x, x, -1.0, dice), 1.0)):
        found = estimate(scores, rng())
        assert (found.value, *interval(found)) == pytest.approx((value, value, value))
        assert found.low <= found.value <= found.high


def covered(estimates, truth: float) -> float:
    return float(np.mean([estimate.low <= truth <= estimate.high for estimate in estimates]))


def test_intervals_cover_the_truth_95_times_in_100(monkeypatch) -> None:
    monkeypatch.setattr("wiser.evaluate.statistics.RESAMPLES", 500)
    samples, others = rng(1).normal(3, 1, (300, 2, 40)), rng(2).normal(4, 1, (300, 2, 40))
    pairs = list(zip(samples, others, strict=True))
    shares = {
        "mean": covered([mean(x, rng(7)) for x in samples], 3.0),
        "iqm": covered([iqm(x, rng(7)) for x in samples], 3.0),
        "paired": covered([paired_difference(y, x, rng(7)) for x, y in pairs], 1.0),
        "resilience": covered([resilience(x, y, 0.0, rng(7)) for x, y in pairs], 0.75),
        "improvement": covered(
            [probability_of_improvement(y, x, rng(7)) for x, y in pairs], stats.norm.cdf(1 / np.sqrt(2))
        ),
    }
    assert all(0.92 <= share <= 0.98 for share in shares.values()), shares


def test_strata_are_kept_apart() -> None:
    scores = [np.full(20, 0.0), np.full(20, 100.0)]  # all spread lies between the tasks, none within
    assert interval(mean(scores, rng())) == pytest.approx((50, 50))
    assert interval(probability_of_improvement(scores, [[50.0], [50.0]], rng())) == pytest.approx((0.5, 0.5))


def test_weights_of_strata() -> None:
    scores = [draw(30), draw(40, loc=9.0)]
    assert mean(scores, rng(), [1.0, 0.0]).value == pytest.approx(scores[0].mean())
    assert mean(scores, rng(), [0.5, 0.5]) == mean(scores, rng())
    with pytest.raises(ValueError, match="add up to 1"):
        mean(scores, rng(), [1.0, 1.0])


def test_pairs_cancel_what_both_find_hard() -> None:
    hard = rng(0).normal(0, 10, 30)
    ours, theirs = hard + 1 + rng(1).normal(0, 0.1, 30), hard
    paired = paired_difference([ours], [theirs], rng())
    assert 0.9 < paired.low < paired.high < 1.1
    with pytest.raises(ValueError, match="come in pairs"):
        paired_difference([ours], [theirs[1:]], rng())


def two_way(cells: int, episodes: int, seed: int = 0, hard: float = 3.0, noise: float = 1.0) -> np.ndarray:
    """(cells, episodes): what an episode adds in every cell, and noise of its own in each."""
    dice = rng(seed)
    return 5.0 + dice.normal(0, hard, episodes) + dice.normal(0, noise, (cells, episodes))


def test_shared_episodes_are_drawn_together_as_the_closed_form_says() -> None:
    cells, episodes = 12, 400
    scores, labels = two_way(cells, episodes), [range(episodes)] * cells
    expected = 2 * 1.96 * np.sqrt((3.0**2 + 1.0**2 / cells) / episodes)
    low, high = interval(mean(scores, rng(), clusters=labels))
    assert high - low == pytest.approx(expected, rel=0.1)
    low, high = interval(mean(scores, rng()))  # as if cells were independent: too sure of itself
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt((3.0**2 + 1.0**2) / (cells * episodes)), rel=0.1)


def test_clusters_are_resampled_as_a_loop_would() -> None:
    scores, weights = two_way(4, 15), np.array([0.1, 0.2, 0.3, 0.4])
    shuffled = [rng(i).permutation(15) for i in range(4)]  # the label counts, not the place
    found = mean([row[order] for row, order in zip(scores, shuffled, strict=True)], rng(5), weights, shuffled)
    replicas = []
    for picks in rng(5).integers(15, size=(2000, 15)):
        episodes = [shuffled[0][pick] for pick in picks]  # they are numbered as they first appear
        replicas.append(sum(w * np.mean([row[e] for e in episodes]) for w, row in zip(weights, scores, strict=True)))
    assert interval(found) == pytest.approx(tuple(np.quantile(replicas, (0.025, 0.975))))


def test_seeds_with_episodes_of_their_own_stay_apart() -> None:
    a, b = two_way(3, 200, seed=1), two_way(3, 100, seed=2) + 1000
    labels = [[("a", i) for i in range(200)]] * 3 + [[("b", i) for i in range(100)]] * 3
    low, high = interval(mean([*a, *b], rng(), clusters=labels))
    spread = [group.mean(0).std() / np.sqrt(group.shape[1]) for group in (a, b)]
    assert high - low == pytest.approx(2 * 1.96 * np.hypot(*spread) / 2, rel=0.1)


def test_cells_with_some_episodes_in_common() -> None:
    hard = rng(3).normal(0, 2, 600)
    first, second = range(300), range(100, 600)  # 200 in common
    found = mean([hard[first], hard[second]], rng(), clusters=[first, second])
    variance = 2.0**2 / 4 * (1 / 300 + 1 / 500 + 2 * 200 / (300 * 500))
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.sqrt(variance), rel=0.1)
    assert found.value == pytest.approx((hard[first].mean() + hard[second].mean()) / 2)


def test_a_cluster_can_have_several_scores_of_a_stratum() -> None:
    hard = np.repeat(rng(3).normal(0, 2, 200), 4)  # four scores, one piece of evidence
    low, high = interval(mean([hard], rng(), clusters=[np.repeat(range(200), 4).tolist()]))
    assert high - low == pytest.approx(2 * 1.96 * hard.std() / np.sqrt(200), rel=0.1)


def test_pooled_differences_cluster_their_pairs() -> None:
    theirs = rng(4).normal(0, 50, (8, 300))
    difference = two_way(8, 300, seed=5)
    found = paired_difference(theirs + difference, theirs, rng(), clusters=[range(300)] * 8)
    expected = mean(difference, rng(), clusters=[range(300)] * 8)
    assert (found.value, *interval(found)) == pytest.approx((expected.value, *interval(expected)))
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.sqrt((9 + 1 / 8) / 300), rel=0.1)
    weighted = paired_difference(theirs + difference, theirs, rng(), [1.0] + [0.0] * 7)
    assert weighted.value == pytest.approx(difference[0].mean())


def test_clustered_intervals_cover_the_truth_and_independent_ones_do_not(monkeypatch) -> None:
    monkeypatch.setattr("wiser.evaluate.statistics.RESAMPLES", 500)
    layouts = [two_way(6, 40, seed) for seed in range(300)]
    assert 0.92 <= covered([mean(x, rng(7), clusters=[range(40)] * 6) for x in layouts], 5.0) <= 0.98
    assert covered([mean(x, rng(7)) for x in layouts], 5.0) < 0.8


@pytest.mark.parametrize("labels", [[[1, 2]], [[1, 2], [1]], [[1, 2], [1, 2, 3], []]])
def test_every_score_has_a_cluster(labels) -> None:
    with pytest.raises(ValueError, match="as many labels as scores"):
        mean([[1.0, 2.0], [3.0, 4.0, 5.0]], rng(), clusters=labels)


def test_resilience_is_a_ratio_of_means_above_the_floor() -> None:
    faulty, clean = [draw(20), draw(20, loc=200.0)], [draw(25, loc=4.0, seed=1), draw(25, loc=400.0, seed=2)]
    expected = np.mean([(f.mean() + 10) / (c.mean() + 10) for f, c in zip(faulty, clean, strict=True)])
    assert resilience(faulty, clean, -10.0, rng()).value == pytest.approx(expected)
    assert resilience(clean, clean, -10.0, rng()).value == pytest.approx(1.0)
    assert resilience([[-1296.0]], [[-1205.0]], -1305.0, rng()).value == pytest.approx(0.09)  # worse: not 1.08


@pytest.mark.parametrize("paired", [False, True])
def test_resilience_interval_is_that_of_scipy(paired) -> None:
    clean = draw(60, loc=4.0)
    faulty = 0.5 * clean + draw(60, loc=0.0, seed=1) / 4
    reference = stats.bootstrap(
        (faulty, clean),
        lambda x, y, axis: (x.mean(axis) - 1) / (y.mean(axis) - 1),
        n_resamples=5000,
        method="percentile",
        vectorized=True,
        paired=paired,
        rng=rng(1),
    ).confidence_interval
    spread = reference.high - reference.low
    labels = ([range(60)], [range(60)]) if paired else None
    found = resilience([faulty], [clean], 1.0, rng(), labels)
    assert interval(found) == pytest.approx(tuple(reference), abs=0.08 * spread)


def test_an_agent_that_always_keeps_half_keeps_half_in_every_resample() -> None:
    clean, labels = draw(30), [range(30)]
    found = resilience([(clean - 1) / 2 + 1], [clean], 1.0, rng(), (labels, labels))
    assert (found.value, *interval(found)) == pytest.approx((0.5, 0.5, 0.5))


def test_a_ratio_without_a_firm_denominator_has_no_bounds() -> None:
    assert resilience([[1.0]], [[-1.0, 0.5]], 0.0, rng()) is None
    assert resilience([[1.0]], [[2.0, 4.0]], 3.0, rng()) is None
    shaky = resilience([[1.0]], [[-1.0, 1.5]], 0.0, rng())
    assert interval(shaky) == (-np.inf, np.inf)
    assert shaky.value == pytest.approx(4.0)


@pytest.mark.parametrize("bad", [[], [[]], [1.0, 2.0], [[1.0, np.nan]], [[np.inf]]])
def test_scores_that_are_none_are_refused(bad) -> None:
    with pytest.raises(ValueError, match="list of lists of finite numbers"):
        iqm(bad, rng())
    with pytest.raises(ValueError, match="same strata"):
        probability_of_improvement([[1.0]], [[1.0], [2.0]], rng())


def test_against_rliable(monkeypatch) -> None:
    library = pytest.importorskip("rliable.library", reason='needs rliable, which needs "pandas<3"')
    metrics = pytest.importorskip("rliable.metrics")
    monkeypatch.setattr(np.random, "choice", rng(3).choice)  # it draws from the global generator
    ours, theirs = draw((25, 3)), draw((25, 3), loc=2.3, seed=1)  # (runs, tasks)

    def reference(scores, metric):
        values, intervals = library.get_interval_estimates({"x": scores}, lambda *x: np.array([metric(*x)]), reps=1000)
        return values["x"][0], *intervals["x"][:, 0]

    for estimate, (value, low, high) in (
        (mean(ours.T, rng()), reference(ours, metrics.aggregate_mean)),
        (iqm(ours.T, rng()), reference(ours, metrics.aggregate_iqm)),
        (
            probability_of_improvement(ours.T, theirs.T, rng()),
            reference((ours, theirs), metrics.probability_of_improvement),
        ),
    ):
        assert estimate.value == pytest.approx(value)
        assert interval(estimate) == pytest.approx((low, high), abs=0.12 * (high - low))


def crossed(runs: int = 4, episodes: int = 25) -> np.ndarray:
    """Scores (runs, episodes) that depend on both."""
    dice = rng(7)
    return 3 * dice.normal(size=(runs, 1)) + 2 * dice.normal(size=(1, episodes)) + dice.normal(size=(runs, episodes))


def by_rows_and_columns(scores: np.ndarray, statistic) -> tuple[float, float]:
    """The bootstrap of a crossed table, one resample after another."""
    dice, (rows, columns) = rng(1), scores.shape
    found = [
        statistic(scores[dice.integers(rows, size=rows)][:, dice.integers(columns, size=columns)]) for _ in range(4000)
    ]
    return tuple(np.quantile(found, (0.025, 0.975)))


LABELS = {"clusters": [list(range(25))] * 4, "runs": [("agent", run) for run in range(4)]}


def test_training_runs_are_drawn_as_well_as_the_episodes_they_share() -> None:
    scores = crossed()
    found, plain = mean(scores, rng(), **LABELS), mean(scores, rng(), clusters=LABELS["clusters"])
    assert interval(found) == pytest.approx(by_rows_and_columns(scores, np.mean), abs=0.15)
    assert found.value == plain.value
    assert found.high - found.low > 2 * (plain.high - plain.low)
    middle = iqm(scores, rng(), **LABELS)
    assert interval(middle) == pytest.approx(
        by_rows_and_columns(scores, lambda x: stats.trim_mean(x, 0.25, None)), abs=0.2
    )
    gain = paired_difference(scores + 1, np.zeros_like(scores), rng(), **LABELS)
    assert interval(gain) == pytest.approx([bound + 1 for bound in interval(found)])


def test_ratios_of_training_runs_are_drawn_as_a_whole() -> None:
    clean = np.abs(crossed()) + 10
    scores = clean * np.array([0.2, 0.4, 0.6, 0.8])[:, None]  # run i keeps exactly that share in every resample
    labels = {"clusters": (LABELS["clusters"],) * 2, "runs": LABELS["runs"]}
    found = resilience(scores, clean, 0.0, rng(), **labels)
    shares = np.array([0.2, 0.4, 0.6, 0.8])
    draws = shares[rng(3).integers(4, size=(20_000, 4))].mean(1)
    assert found.value == pytest.approx(0.5)
    assert interval(found) == pytest.approx(np.quantile(draws, (0.025, 0.975)), abs=0.03)
    improved = probability_of_improvement(np.array([[2.0], [2.0], [0.0], [0.0]]), np.ones((4, 1)), rng(),
                                          runs=LABELS["runs"])  # fmt: skip
    assert (improved.value, *interval(improved)) == (0.5, 0.0, 1.0)


def test_a_single_training_run_adds_no_width_and_different_things_are_drawn_apart() -> None:
    scores = crossed()
    one = [("agent", 0)] * 4
    assert mean(scores, rng(), clusters=LABELS["clusters"], runs=one) == mean(
        scores, rng(), clusters=LABELS["clusters"]
    )
    opposite = [[1.0], [-1.0], [-1.0], [1.0]]
    together = mean(opposite, rng(), runs=[("a", 0), ("a", 1), ("a", 0), ("a", 1)])
    apart = mean(opposite, rng(), runs=[("a", 0), ("a", 1), ("b", 0), ("b", 1)])
    assert interval(together) == (0.0, 0.0)
    assert apart.low <= -0.5
    assert apart.high >= 0.5
    with pytest.raises(ValueError, match="as many labels"):
        mean(opposite, rng(), runs=one[:2])


def test_a_summary_that_is_a_mean_is_the_mean() -> None:
    scores = [rng(seed).normal(5, 2, 40) for seed in range(2)]
    episodes = [[{"x": float(value)} for value in stratum] for stratum in scores]
    found = summary(lambda some: float(np.mean([one["x"] for one in some])), episodes, rng())
    expected = mean(scores, rng(1))
    assert found.value == pytest.approx(expected.value)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.06)


def test_a_summary_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="none of them empty"):
        summary(lambda some: 0.0, [[]], rng())
