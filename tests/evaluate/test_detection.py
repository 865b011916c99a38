"""Detection figures against scikit-learn, SciPy and a plain loop over steps."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from wiser.evaluate import Detection, DetectionTally, Histogram, auroc, delay_curve
from wiser.evaluate.histogram import BINS, EDGES, bin_of

SENSORS = ("camera", "lidar", "speed")
values = st.lists(st.floats(0, 1e6), min_size=1, max_size=60)


@given(values, values)
def test_auroc_is_that_of_the_binned_values(clean, faulty) -> None:
    labels = [0] * len(clean) + [1] * len(faulty)
    expected = roc_auc_score(labels, bin_of(clean + faulty))
    assert auroc(Histogram.of(clean), Histogram.of(faulty)) == pytest.approx(expected)


@pytest.mark.parametrize("shift", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("scale", [0.01, 1.0, 50.0])
def test_binning_hardly_changes_auroc(shift, scale) -> None:
    rng = np.random.default_rng(0)
    clean, faulty = scale * rng.lognormal(0, 1, 4000), scale * rng.lognormal(shift, 1, 4000)
    exact = roc_auc_score([0] * 4000 + [1] * 4000, np.concatenate([clean, faulty]))
    assert auroc(Histogram.of(clean), Histogram.of(faulty)) == pytest.approx(exact, abs=1e-3)


def test_auroc_of_nothing_is_nothing() -> None:
    assert auroc(Histogram(), Histogram.of([1.0])) is None
    assert auroc(Histogram.of([1.0]), Histogram.of([np.nan])) is None


@given(st.lists(st.floats(allow_nan=True), max_size=30))
def test_a_histogram_counts_everything_but_nan_and_packs(numbers) -> None:
    histogram = Histogram.of(numbers)
    assert sum(histogram.counts) == np.count_nonzero(~np.isnan(numbers))
    assert len(histogram.counts) == BINS
    assert Histogram.sparse(json.loads(json.dumps(histogram.pairs))) == histogram
    halves = Histogram.of(numbers[::2]), Histogram.of(numbers[1::2])
    assert Histogram.pool(halves) == histogram


def test_the_grid_has_a_bin_below_and_one_above() -> None:
    assert bin_of([0.0, -1.0, EDGES[0], 1.0, EDGES[-1], np.inf]).tolist() == [0, 0, 1, 81, BINS - 1, BINS - 1]


def story(rng, steps=40, rows=3):
    """Masks and scores of `rows` rows, (T, B, ...), with faults that come and go."""
    fails = rng.random((rows, len(SENSORS))) < 0.5
    broken = fails & (rng.random((steps, rows, 1)) < 0.6)
    broken[:6] = False
    trusted = rng.random((steps, rows, len(SENSORS))) < np.where(broken, 0.8, 0.95)
    surprise, scores = rng.lognormal(size=(steps, rows)), rng.lognormal(size=(steps, rows, len(SENSORS)))
    surprise[rng.random(surprise.shape) < 0.1] = np.nan
    scores[rng.random(scores.shape) < 0.2] = np.nan
    return broken, trusted, surprise, scores


def count_plainly(broken, trusted, surprise, scores) -> Detection:
    """One row, (T, N): the definitions, word by word."""
    faulty = broken.any(1)
    delays, missed = [], []
    for sensor in range(len(SENSORS)):
        steps = np.flatnonzero(broken[:, sensor])
        caught = [step for step in steps if not trusted[step, sensor]]
        if caught:
            delays.append(int(caught[0] - steps[0]))
        elif steps.size:
            missed.append(int(len(broken) - 1 - steps[0]))
    return Detection(
        sensors=SENSORS,
        clean_steps=int((~faulty).sum()),
        faulty_steps=int(faulty.sum()),
        alarms=sum(not trusted[step].all() for step in np.flatnonzero(~faulty)),
        sensor_alarms=tuple(int((~trusted[~faulty, sensor]).sum()) for sensor in range(len(SENSORS))),
        exact=sum(bool((trusted[step] != broken[step]).all()) for step in np.flatnonzero(faulty)),
        hits=int((broken & ~trusted)[faulty].sum()),
        distrusted=int((~trusted)[faulty].sum()),
        broken=int(broken.sum()),
        delays=tuple(delays),
        missed=tuple(missed),
        surprise_clean=Histogram.of(surprise[~faulty]),
        surprise_faulty=Histogram.of(surprise[faulty]),
        score_healthy=Histogram.of(scores[~broken]),
        score_broken=Histogram.of(scores[broken]),
        sensor_broken=tuple(int(column.sum()) for column in broken.T),
        sensor_distrusted=tuple(int((~trusted[faulty, sensor]).sum()) for sensor in range(len(SENSORS))),
        sensor_hits=tuple(
            sum(bool(b and not t) for b, t in zip(broken[:, i], trusted[:, i], strict=True))
            for i in range(len(SENSORS))
        ),
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_tally_counts_what_a_plain_loop_counts(seed) -> None:
    broken, trusted, surprise, scores = story(np.random.default_rng(seed))
    lengths = (40, 17, 0)  # rows end at different steps
    tally = DetectionTally(3, SENSORS)
    for step in range(40):
        active = np.array([step < length for length in lengths])
        tally.add(broken[step], trusted[step], surprise[step], scores[step], active)
    for row, length in enumerate(lengths):
        part = slice(0, length), row
        assert tally.finish(row) == count_plainly(broken[part], trusted[part], surprise[part], scores[part])


def test_a_finished_row_starts_afresh_and_the_others_go_on() -> None:
    broken, trusted, surprise, scores = story(np.random.default_rng(1))
    tally, on = DetectionTally(3, SENSORS), np.ones(3, bool)
    for step in range(40):
        if step == 15:
            assert tally.finish(1) == count_plainly(broken[:15, 1], trusted[:15, 1], surprise[:15, 1], scores[:15, 1])
        tally.add(broken[step], trusted[step], surprise[step], scores[step], on)
    assert tally.finish(1) == count_plainly(broken[15:, 1], trusted[15:, 1], surprise[15:, 1], scores[15:, 1])
    assert tally.finish(0) == count_plainly(broken[:, 0], trusted[:, 0], surprise[:, 0], scores[:, 0])


def test_figures_against_scikit_learn() -> None:
    broken, trusted, surprise, scores = (x[:, 0] for x in story(np.random.default_rng(3), steps=400))
    figures = count_plainly(broken, trusted, surprise, scores).figures()
    faulty, measured = broken.any(1), ~np.isnan(surprise)
    precision, recall, _, _ = precision_recall_fscore_support(
        broken[faulty].ravel(), ~trusted[faulty].ravel(), average="binary"
    )
    assert figures["precision"] == pytest.approx(precision)
    assert figures["recall"] == pytest.approx(recall)
    assert figures["surprise_auroc"] == pytest.approx(roc_auc_score(faulty[measured], surprise[measured]), abs=5e-3)
    assert figures["exact_share"] == pytest.approx((broken == ~trusted).all(1)[faulty].mean())
    assert figures["false_alarms_per_1000"] == pytest.approx(1000 * (~trusted).any(1)[~faulty].mean())


def test_a_perfect_guard_and_one_that_trusts_everything() -> None:
    broken = np.zeros((20, 1, 3), bool)
    broken[5:, 0, 1] = True
    perfect, blind = DetectionTally(1, SENSORS), DetectionTally(1, SENSORS)
    for step in range(20):
        surprise = np.array([9.0 if step >= 5 else 1.0])
        scores = np.where(broken[step], 9.0, 1.0)
        perfect.add(broken[step], ~broken[step], surprise, scores, np.ones(1))
        blind.add(broken[step], np.ones((1, 3), bool), surprise, scores, np.ones(1))
    best = {"surprise_auroc": 1.0, "score_auroc": 1.0, "false_alarms_per_1000": 0.0, "exact_share": 1.0}
    right = perfect.finish(0)
    assert right.figures() == best | {"precision": 1.0, "recall": 1.0, "caught_share": 1.0, "median_delay": 0.0}
    assert right.sensor_false_alarms_per_1000() == {"camera": 0.0, "lidar": 0.0, "speed": 0.0}
    none = {"exact_share": 0.0, "precision": None, "recall": 0.0, "caught_share": 0.0, "median_delay": None}
    wrong = blind.finish(0)
    assert wrong.figures() == best | none
    assert wrong.missed == (14,)


def test_what_never_happened_has_no_figure() -> None:
    figures = DetectionTally(1, SENSORS).finish(0).figures()
    assert set(figures.values()) == {None}


@given(st.integers(0, 1000))
def test_json_is_exact_and_pooling_is_one_long_observation(seed) -> None:
    data = story(np.random.default_rng(seed))
    parts = [count_plainly(*(x[:, row] for x in data)) for row in range(3)]
    assert [Detection.from_json(part.to_json()) for part in parts] == parts
    whole = Detection.pool(parts)
    assert whole.hits == sum(part.hits for part in parts)
    assert whole.delays == tuple(delay for part in parts for delay in part.delays)
    assert whole.score_broken == Histogram.pool(part.score_broken for part in parts)
    assert whole.clean_steps + whole.faulty_steps == 120
    assert whole.sensor_alarms == tuple(np.sum([part.sensor_alarms for part in parts], axis=0))


def test_only_like_pools_with_like() -> None:
    with pytest.raises(ValueError, match="same sensors"):
        Detection.pool([DetectionTally(1, SENSORS).finish(0), DetectionTally(1, ("camera",)).finish(0)])
    with pytest.raises(ValueError, match="at least one"):
        Detection.pool([])


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.lists(st.integers(0, 30), max_size=40))
def test_the_delay_curve_is_kaplan_meier(delays, missed) -> None:
    steps, share = delay_curve(delays, missed)
    reference = stats.ecdf(stats.CensoredData(uncensored=delays, right=missed)).cdf
    assert share == pytest.approx(reference.evaluate(steps))
