"""The replay page in a real browser: it opens from a file, plays, scrubs, tells what is trusted, and fits a phone."""

from dataclasses import replace

import pytest

from tests.browser import until
from tests.record.runs import HEALED, ONSET, SENSORS, record
from tests.record.test_page_is_self_contained import EVIL
from wiser.record import About, Recording, sheets, to_html
from wiser.record.web import PAGE

LAST = 23


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    return to_html(record(), tmp_path_factory.mktemp("replay") / "run.html").as_uri()


@pytest.fixture
def page(visit, address):
    return visit(address, offline=True)


def step_of(page) -> int:
    return page.evaluate("window.replay.step")


def go(page, step: int) -> None:
    page.locator("#time").fill(str(step))


def light(page, lane: int, sensor: str):
    return page.locator(".lane").nth(lane).locator(f'.tile[data-sensor="{sensor}"] .light')


def test_shows_lanes_sensors_and_what_it_is_about(page):
    assert page.title() == "A test"
    assert page.locator("#about").text_content() == "task test/Task-v0 · agent test/agent · seed 3"
    assert page.locator(".lane h2").all_text_contents() == ["clean", "broken, unguarded", "broken, guarded"]
    assert page.locator(".lane").first.locator(".tile").count() == len(SENSORS)
    assert page.locator("#clock").text_content() == f"step 0 of {LAST} · 0.0 s"


def test_pictures_are_really_drawn(page):
    until(page, "document.querySelector('.reading').width === 32")
    drawn = page.evaluate("""() => [...document.querySelectorAll('.reading')].map((canvas) => {
        const {width, height} = canvas;
        const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
        return new Set(data).size > 2;
    })""")
    assert drawn == [True] * 9


def test_scrubbing_changes_the_step_and_the_score(page):
    go(page, 10)
    assert step_of(page) == 10
    assert page.locator("#clock").text_content() == f"step 10 of {LAST} · 1.0 s"
    assert page.locator(".measure").all_text_contents() == ["22", "22", "22"]
    assert page.locator("#time").get_attribute("aria-valuetext") == "step 10, 1.0 seconds"


def test_lights_tell_trusted_masked_and_unhealthy(page):
    go(page, ONSET)
    assert [light(page, 2, name).text_content().strip() for name in ("camera", "lidar", "range")] == [
        "WARN masked",
        "OK",
        "ERROR not finite",
    ]
    assert light(page, 2, "camera").get_attribute("title") == "WARN: masked, more surprising than without it"
    assert light(page, 2, "range").get_attribute("data-state") == "unhealthy"
    assert light(page, 1, "camera").text_content().strip() == "OK"
    go(page, HEALED)
    assert light(page, 2, "camera").text_content().strip() == "OK"


def test_badges_tell_what_is_really_broken(page):
    badges = page.locator('.tile[data-sensor="camera"] .fault')
    assert [badges.nth(k).is_visible() for k in range(3)] == [False, False, False]
    go(page, ONSET)
    assert [badges.nth(k).is_visible() for k in range(3)] == [False, True, True]
    assert badges.nth(2).text_content() == "glare 0.5"


def test_play_runs_to_the_end_and_stops(page):
    page.locator("#play").click()
    assert page.locator("#play").get_attribute("aria-label") == "Pause"
    until(page, f"window.replay.step === {LAST}")
    until(page, "document.getElementById('play').getAttribute('aria-label') === 'Play'")
    assert page.locator(".note").all_text_contents() == [
        "arrived at step 23",
        "arrived at step 22",
        "arrived at step 21",
    ]


def test_pause_stays(page):
    page.locator("#speed").select_option("0.25")
    page.locator("#play").click()
    until(page, "window.replay.step > 0")
    page.locator("#play").click()
    before = step_of(page)
    page.wait_for_timeout(800)
    assert step_of(page) == before


def test_keyboard(page):
    for key, expected in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", LAST), ("Home", 0)):
        page.keyboard.press(key)
        assert step_of(page) == expected
    page.keyboard.press("+")
    assert page.locator("#speed").input_value() == "2"
    page.keyboard.press("-")
    page.keyboard.press("-")
    assert page.locator("#speed").input_value() == "0.5"
    page.keyboard.press("Space")
    until(page, "window.replay.step > 0")
    page.keyboard.press("Space")
    assert page.locator("#play").get_attribute("aria-label") == "Play"


def test_keys_mean_one_step_on_the_focused_slider_too(page):
    page.locator("#time").focus()
    page.keyboard.press("ArrowRight")
    assert step_of(page) == 1
    page.locator("#forward").focus()
    page.keyboard.press("Space")  # presses that button, and does not play
    assert step_of(page) == 2
    assert page.locator("#play").get_attribute("aria-label") == "Play"


def test_dragging_in_a_chart_scrubs(page):
    box = page.locator("#traces .plot").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.down()
    middle = step_of(page)
    page.mouse.move(box["x"] + box["width"] + 50, box["y"] + 40)
    page.mouse.up()
    assert LAST * 0.4 < middle < LAST * 0.65
    assert step_of(page) == LAST


def test_a_finger_on_a_chart_scrubs(visit, address):
    page = visit(address, width=390, has_touch=True)
    chart = page.locator("#traces .plot").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] - 13, box["y"] + 40)
    assert step_of(page) == LAST


def test_beliefs_can_be_shown(page):
    prediction = page.locator(".tile .prediction").first
    assert not prediction.is_visible()
    page.locator("#predictions").click()
    assert page.locator("#predictions").get_attribute("aria-pressed") == "true"
    assert prediction.is_visible()
    page.keyboard.press("p")
    assert not prediction.is_visible()


def test_a_click_enlarges_a_sensor_in_all_lanes(page):
    assert page.locator(".tile.main").count() == 3
    page.locator('.tile[data-sensor="lidar"] button').first.click()
    assert page.locator('.tile.main[data-sensor="lidar"]').count() == 3
    assert page.locator(".tile.main").count() == 3


def test_a_screen_reader_is_told(page):
    go(page, ONSET)
    until(page, "document.getElementById('announcer').textContent.includes('Step 8')")
    told = page.locator("#announcer").text_content()
    assert "broken, guarded: grounded, 1 of 3 sensors trusted, score 18" in told
    button = page.locator(".lane").nth(2).locator('.tile[data-sensor="camera"] button')
    assert "masked, more surprising than without it; really broken by glare 0.5" in button.get_attribute("aria-label")


def test_everything_one_can_press_has_a_name(page):
    nameless = page.evaluate("""() => [...document.querySelectorAll('button, input, select, canvas[role=img]')]
        .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim())).length""")
    assert nameless == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 390, 800, 1400, 2400])
def test_nothing_sticks_out_sideways(visit, address, width, scheme):
    page = visit(address, width=width, color_scheme=scheme)
    for shown in (False, True):
        page.evaluate("on => window.replay.showPredictions(on)", shown)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    inside = page.evaluate("""() => [...document.querySelectorAll('#transport > *')].every((part) => {
        const {left, right} = part.getBoundingClientRect();
        return left >= 0 && right <= innerWidth;
    })""")
    assert inside


def test_a_phone_has_lanes_side_by_side_the_last_two_first(visit, address):
    page = visit(address, width=390, height=844)
    boxes = """() => [...document.querySelectorAll('.lane')].map((lane) => {
        const {left, right} = lane.getBoundingClientRect();
        return left >= 0 && right <= innerWidth;
    })"""
    assert page.evaluate(boxes) == [False, True, True]
    page.evaluate("document.getElementById('lanes').scrollLeft = 0")
    until(page, f"JSON.stringify(({boxes})()) === '[true,true,false]'")
    for part in (".tile", ".chart"):
        tops = page.evaluate(f"""[...document.querySelectorAll('.lane')]
            .map((lane) => lane.querySelector('{part}').getBoundingClientRect().top)""")
        assert len(set(tops)) == 1


def test_charts_are_sharp_on_fine_screens(visit, address):
    page = visit(address, device_scale_factor=2)
    until(page, "document.querySelector('#traces canvas').width > 300")
    ratio = page.evaluate(
        "(() => { const c = document.querySelector('#traces canvas'); return c.width / c.clientWidth })()"
    )
    assert ratio == pytest.approx(2, abs=0.02)


def test_a_recording_without_extras_has_no_buttons_for_them(visit, tmp_path):
    page = visit(to_html(record(steps=3, predictions=False), tmp_path / "plain.html").as_uri())
    assert not page.locator("#predictions").is_visible()
    page.keyboard.press("p")
    assert page.locator(".prediction").first.is_hidden()


def test_a_view_comes_first_and_frames_come_from_many_sheets(visit, tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "PIXELS", 160 * 90 * 5)
    page = visit(to_html(record(view=True), tmp_path / "view.html").as_uri())
    assert page.locator(".view").count() == 3
    assert page.locator(".tile.main").count() == 0
    go(page, LAST)
    shade = "document.querySelector('.view').getContext('2d').getImageData(80, 45, 1, 1).data[0]"
    until(page, f"Math.abs({shade} - {9 * LAST % 256}) < 6")


def test_texts_are_never_run(visit, tmp_path):
    recording = record(steps=3)
    lanes = tuple(replace(lane, name=EVIL, method=EVIL, outcome=EVIL) for lane in recording.lanes)
    evil = Recording(About(EVIL, EVIL, EVIL, (), EVIL, EVIL), recording.sensors, lanes)
    page = visit(to_html(evil, tmp_path / "evil.html").as_uri())
    page.keyboard.press("End")
    assert page.title() == EVIL
    assert page.locator("h1").text_content() == EVIL
    assert page.locator(".lane h2").first.text_content() == EVIL
    assert page.locator("img").count() == 0


LIVE = """
const sensors = [{name: "camera", width: 8, height: 8}, {name: "range", width: 64, height: 64, low: 0, high: 1}];
const camera = Object.assign(document.createElement("canvas"), {width: 8, height: 8});
const steps = [], lane = {name: "live", method: "greedy", hasView: false, steps};
const view = new LaneView(sensors, lane, 0, "score", () => {});
const trust = new TrustChart("trust", sensors, steps, 100, () => {});
const surprise = new LineChart("surprise", 100, [lane], (step) => step.surprise,
  {length: 100, onSeek() {}, isBroken: () => false});
document.body.append(view.root, trust.root, surprise.root);
function feed(state, surprised, level = "OK", late = 0) {
  camera.getContext("2d").fillRect(0, 0, 8, 8);
  steps.push({
    view: null, mode: "grounded", blind: 0, reset: false, outcome: "",
    surprise: surprised, scores: {}, measure: steps.length,
    sensors: [
      {state, level, late, reason: "", fault: "", prediction: null,
       reading: {image: camera, x: 0, y: 0, width: 8, height: 8}},
      {state: "trusted", level: "OK", late: 0, reason: "", fault: "", reading: [0.25], prediction: [0.5]},
    ],
  });
  view.show(steps.at(-1));
  for (const chart of [trust, surprise]) { chart.draw(); chart.show(steps.length - 1); }
}
"""


def test_a_live_page_can_feed_lanes_and_traces_step_by_step(visit, tmp_path):
    scripts = "\n".join((PAGE / name).read_text() for name in ("dom.js", "lane.js", "chart.js", "traces.js"))
    style = (PAGE / "page.css").read_text()
    live = tmp_path / "live.html"
    live.write_text(f"<!doctype html><title>live</title><style>{style}</style><body><script>{scripts}{LIVE}</script>")
    page = visit(live.as_uri())
    for state, level in (("trusted", "OK"), ("masked", "WARN"), ("unhealthy", "ERROR")):
        page.evaluate("([state, level]) => feed(state, 2.5, level)", [state, level])
        assert light(page, 0, "camera").get_attribute("data-state") == state
    assert page.locator(".measure").text_content() == "2.00"
    assert page.evaluate("document.querySelector('.reading').getContext('2d').getImageData(4, 4, 1, 1).data[3]") == 255
    assert page.locator(".readout .number").text_content() == "2.50"
    page.evaluate("feed('masked', 2.5, 'STALE', 2)")
    assert light(page, 0, "camera").text_content().strip() == "STALE 2.0 s late"
    assert light(page, 0, "camera").get_attribute("title") == "STALE: masked, 2.0 seconds late"
    page.evaluate("feed('trusted', 2.5, 'ERROR')")
    assert light(page, 0, "camera").text_content().strip() == "ERROR still used"
