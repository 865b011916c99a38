"""The cockpit in a real browser: break a sensor and see both sides answer, heal it, choose, save, on any screen."""

import re

import pytest

from tests import fake_world
from tests.browser import until
from tests.cockpit.cameras import agent, prepare
from wiser.cockpit import Catalogue, Session
from wiser.cockpit.board import Board
from wiser.cockpit.simulation import Simulation

server = pytest.importorskip("wiser.cockpit.server", reason="pip install 'wiser-guard[cockpit]'")
__all__ = ["agent"]


@pytest.fixture(scope="module")
def driving():
    """The shipped agent at its stop sign, paused; tests order the steps they need. Restarted for each."""
    catalogue = Catalogue()
    choice = catalogue.choose("wiser/StopSign-v0", "stop-sign/dropout", "none", "greedy", 3)
    simulation = Simulation(Session(choice), Board())
    simulation.paused = True
    with server.running(simulation, catalogue) as address:
        yield simulation, address, choice


@pytest.fixture
def page(visit, driving):
    simulation, address, choice = driving

    def begin_anew(it: Simulation) -> None:
        it.paused, it.speed = True, 10.0
        it.restart(choice)

    simulation.ask(begin_anew).result()
    page = visit(address)
    until(page, "window.cockpit.episode?.end > 0")
    return page


@pytest.fixture
def drive(driving, page):
    """`drive(n)`: n steps, all of them on the page."""
    simulation = driving[0]

    def steps(count: int) -> None:
        def run(it: Simulation) -> int:
            for _ in range(count):
                it.step()
            return it.session.steps

        until(page, f"window.cockpit.episode.end === {simulation.ask(run).result()}")

    return steps


def lights(page, sensor: str) -> list[str]:
    words = page.locator(f'.tile[data-sensor="{sensor}"] .light').all_text_contents()
    return [text.strip() for text in words]


def break_with(page, sensor: str, fault: str) -> None:
    page.locator(f'.tile[data-sensor="{sensor}"] button').first.click()
    page.locator("#faults button", has_text=fault).first.click()
    until(page, f"window.cockpit.faults.{sensor}?.[0] === '{fault}'")


def drawn(page, selector: str) -> bool:
    return page.evaluate(f"""() => {{
        const canvas = document.querySelector('{selector}');
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        return new Set(data).size > 4;
    }}""")


def test_it_opens_with_both_cars_and_all_sensors(page):
    assert page.title() == "WISER cockpit"
    assert page.locator(".lane h2").all_text_contents() == ["unguarded", "guarded"]
    assert page.locator(".lane").first.locator(".tile").count() == 6
    assert page.locator("#link").text_content() == "live"
    assert page.locator("#agent option").all_text_contents().count("stop-sign/dropout") == 1
    assert "Four Lane" in page.locator("#env option").all_text_contents()
    assert drawn(page, ".view")
    assert drawn(page, '.tile[data-sensor="camera"] .reading')
    assert drawn(page, '.tile[data-sensor="camera"] .prediction')
    assert page.locator(".prediction").first.is_visible()
    page.keyboard.press("p")
    assert not page.locator(".prediction").first.is_visible()


def test_break_and_see_it_break_then_heal_and_see_it_recover(page, drive):
    drive(8)
    for sensor in ("birdeye_gt", "birdeye_raw", "birdeye_with_traffic_lights", "birdeye_wpt", "camera"):
        break_with(page, sensor, "glare")
    assert page.locator('.tile[data-sensor="camera"] .fault').all_text_contents() == ["next step"] * 2
    drive(5)
    assert page.locator('.tile[data-sensor="camera"] .fault').all_text_contents() == ["glare", "glare"]
    assert lights(page, "camera") == ["OK", "WARN masked"]
    assert lights(page, "lidar") == ["OK", "OK"]
    assert page.locator(".mode").all_text_contents()[:2] == ["grounded", "grounded"]
    assert "more surprising than without it" in page.locator(".why").nth(1).text_content()
    unguarded, guarded = (
        page.evaluate(f"window.cockpit.episode.lanes[{lane}].steps.at(-1).surprise") for lane in (0, 1)
    )
    assert unguarded > 3 * guarded
    page.locator("#heal-all").click()
    until(page, "Object.keys(window.cockpit.faults).length === 0")
    drive(2)
    assert not page.locator('.tile[data-sensor="camera"] .fault').first.is_visible()
    trusts = "window.cockpit.episode.lanes[1].steps.slice(-12).some((step) => step.sensors[4].state === 'trusted')"
    for _ in range(5):
        drive(8)
        if page.evaluate(trusts):
            break
    assert page.evaluate(trusts)


def test_one_camera_breaks_and_works_again_while_the_score_runs_on(page, drive):
    drive(4)
    assert lights(page, "camera")[0] == "OK"
    before = float(page.locator(".measure").nth(1).text_content())
    break_with(page, "camera", "missing")
    drive(3)
    assert lights(page, "camera") == ["ERROR missing", "ERROR missing"]
    assert "missing: camera" in page.locator(".why").nth(1).text_content()
    page.keyboard.press("5")
    page.locator("#heal").click()
    until(page, "!window.cockpit.faults.camera")
    drive(8)
    assert lights(page, "camera")[0] == "OK"
    assert "ERROR" not in lights(page, "camera")[1]
    assert float(page.locator(".measure").nth(1).text_content()) > before


def test_without_any_sensor_the_guarded_side_predicts_and_says_so(page, drive):
    before = page.locator(".measure").nth(1).text_content()
    page.keyboard.press("0")
    page.locator("#faults button", has_text="missing").click()
    until(page, "Object.keys(window.cockpit.faults).length === 6")
    drive(5)
    assert page.locator(".lane .mode").nth(1).text_content() == "predictive, 4 steps blind"
    assert lights(page, "camera") == ["ERROR missing", "ERROR missing"]
    until(page, "document.getElementById('announcer').textContent.includes('guarded: predictive')")
    assert page.locator(".measure").nth(1).text_content() != before
    page.keyboard.press("h")
    until(page, "Object.keys(window.cockpit.faults).length === 0")
    drive(2)
    assert page.locator(".lane .mode").nth(1).text_content() == "grounded"


def test_a_frozen_sensor_is_marked_stale(page, drive):
    break_with(page, "camera", "freeze")
    drive(12)
    (unguarded, _) = lights(page, "camera")
    assert re.fullmatch(r"STALE \d+ steps", unguarded)
    label = page.locator('.tile[data-sensor="camera"] button').first.get_attribute("aria-label")
    steps = unguarded.removeprefix("STALE ")
    assert label.startswith(f"camera: STALE: trusted, the same for {steps} while the world moved on")
    assert label.endswith("really broken by freeze. Break or heal")


def test_charts_are_drawn_when_they_come_into_sight(page, drive):
    last = page.locator(".charts.small .chart").last
    drive(3)
    before = last.locator(".number").nth(1).text_content()  # empty, unless in sight during lay-out
    drive(3)
    assert last.locator(".number").nth(1).text_content() == before
    last.scroll_into_view_if_needed()
    score = page.evaluate("short(window.cockpit.episode.lanes[1].steps.at(-1).scores.isolated_surprise[5])")
    shown = "document.querySelector('.charts.small .chart:last-child .number:last-child').textContent"
    until(page, f"{shown} === '{score}'")


def test_the_menu_works_with_the_keyboard_alone(page):
    page.keyboard.press("5")
    assert page.locator("#break-title").text_content() == "camera"
    assert page.evaluate("document.activeElement.textContent") == "gaussian"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "glare"
    assert page.locator("#fault-about").text_content()
    page.keyboard.press("Enter")
    until(page, "window.cockpit.faults.camera?.[0] === 'glare'")
    assert not page.locator("#break-menu").is_visible()
    page.keyboard.press("5")
    page.locator("#intensity").fill("0.5")
    until(page, "window.cockpit.faults.camera?.[1] === 0.5")
    page.locator("#heal").click()
    until(page, "!window.cockpit.faults.camera")
    page.keyboard.press("5")
    page.keyboard.press("Escape")
    assert not page.locator("#break-menu").is_visible()


def test_pause_step_speed_restart_and_help(page):
    page.keyboard.press("ArrowRight")
    until(page, "window.cockpit.episode.end === 2")
    page.locator("#step").click()
    until(page, "window.cockpit.episode.end === 3")
    page.keyboard.press("+")
    until(page, "document.getElementById('speed').value === '20'")
    page.locator("#play").click()
    until(page, "window.cockpit.episode.end > 5")
    page.keyboard.press("Escape")
    page.locator("#play").click()
    until(page, "document.getElementById('play').getAttribute('aria-label') === 'Go on'")
    page.locator("#restart").click()
    until(page, "window.cockpit.episode.end === 1")
    page.keyboard.press("s")
    until(page, "document.getElementById('told').textContent.startsWith('Surprise: ')")
    page.keyboard.press("?")
    assert page.locator("#help-menu").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help-menu").is_visible()


def test_switch_task_method_and_seed(page):
    page.locator("#env").select_option("wiser/RightTurn-v0")
    until(page, "window.cockpit.episode.about.choice.env === 'wiser/RightTurn-v0' && window.cockpit.episode.end === 1")
    assert page.locator("#env").input_value() == "wiser/RightTurn-v0"
    page.locator(".method select").nth(1).select_option("exhaustive")
    until(page, "window.cockpit.episode.about.choice.right === 'exhaustive'")
    page.locator("#seed").fill("12")
    page.keyboard.press("Enter")
    until(page, "window.cockpit.episode.about.choice.seed === 12")
    page.keyboard.press("n")
    until(page, "window.cockpit.episode.about.choice.seed === 13")
    page.locator(".method select").nth(0).select_option("greedy")
    until(page, "document.querySelector('.lane h2').textContent === 'guarded, left'")


def test_the_saved_replay_needs_no_server(page, drive, visit, tmp_path):
    break_with(page, "camera", "glare")
    break_with(page, "birdeye_raw", "freeze")
    drive(12)
    page.keyboard.press("d")
    with page.expect_download(timeout=120_000) as downloading:
        page.locator('#forms button[data-form="html"]').click()
    assert downloading.value.suggested_filename == "stop-sign-dropout-seed-3.html"
    downloading.value.save_as(tmp_path / "replay.html")
    until(page, "document.getElementById('share-status').textContent.startsWith('Saved')")
    replay = visit((tmp_path / "replay.html").as_uri(), offline=True)
    assert replay.locator(".lane h2").all_text_contents() == ["unguarded", "guarded"]
    replay.keyboard.press("End")
    until(replay, "window.replay.step === 12")
    assert lights(replay, "birdeye_raw") == lights(page, "birdeye_raw")
    assert lights(replay, "birdeye_raw")[0].startswith("STALE")
    assert replay.locator('.tile[data-sensor="camera"] .fault').first.text_content() == "glare"


@pytest.mark.parametrize("width", [390, 1400])
def test_the_next_episode_is_one_press_away(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    assert page.locator("#next").is_visible()
    page.locator("#next").click()
    until(page, "window.cockpit.episode.about.choice.seed === 4 && window.cockpit.episode.end === 1")
    assert page.locator("#seed").input_value() == "4"


def test_a_phone_shows_the_reason_and_both_cars_at_the_same_height(page, drive):
    page.set_viewport_size({"width": 390, "height": 844})
    page.keyboard.press("0")
    page.locator("#faults button", has_text="glare").click()
    drive(3)
    why = page.locator(".why").nth(1)
    assert why.text_content().startswith("more surprising than without it: birdeye gt")
    words = """(why) => { // how far down the reason itself reaches, without the names after it
        const range = document.createRange();
        range.setStart(why.firstChild, 0);
        range.setEnd(why.firstChild, why.textContent.indexOf(":"));
        return range.getBoundingClientRect().bottom - why.getBoundingClientRect().bottom;
    }"""
    assert why.evaluate(words) <= 0
    for part in (".view", ".tile"):
        tops = page.evaluate(f"""[...document.querySelectorAll('.lane')]
            .map((lane) => lane.querySelector('{part}').getBoundingClientRect().top)""")
        assert tops[0] == tops[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_sticks_out_sideways(visit, driving, width, scheme):
    page = visit(driving[1], width=width, color_scheme=scheme)
    until(page, "window.cockpit.episode?.end > 0")
    for key in ("p", "5"):
        page.keyboard.press(key)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    inside = page.evaluate("""() => [...document.querySelectorAll('#transport button, dialog[open] *')]
        .map((part) => part.getBoundingClientRect())
        .every(({left, right}) => left >= 0 && right <= innerWidth)""")
    assert inside


def test_everything_one_can_press_has_a_name(page):
    nameless = page.evaluate("""() => [...document.querySelectorAll('button, input, select, canvas[role=img]')]
        .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))).length""")
    assert nameless == 0


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_costs_run_on_beside_the_score_on_any_screen(visit, agent, width):
    simulation, catalogue = prepare(agent, options={"costly": True})
    with server.running(simulation, catalogue) as address:
        page = visit(address, width=width)
        until(page, "window.cockpit.episode?.lanes[1].steps.at(-1)?.outcome")
        paid = sum(fake_world.cost_of(0, 0, step) for step in range(1, 41))
        assert page.locator(".measures").all_text_contents() == [f"cost {paid:.0f}"] * 2
        for k in range(2):
            lane, score, line = (
                page.locator(name).nth(k).bounding_box() for name in (".lane", ".measure", ".measures")
            )
            assert line["height"] > 8
            assert line["y"] >= score["y"] + score["height"] - 2, "below it"
            assert line["x"] + line["width"] <= lane["x"] + lane["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        until(page, f"document.getElementById('announcer').textContent.includes('score 820, cost {paid:.0f}')")
        page.goto("about:blank")  # or it would complain that the server is gone


def test_it_says_when_the_connection_is_lost_and_comes_back(page, drive):
    drive(3)
    says_so = page.evaluate("""() => new Promise((done) => {
        window.before = window.cockpit.live.socket;
        window.before.addEventListener('close', () => done(document.body.classList.contains('lost')));
        window.before.close();
    })""")
    assert says_so
    drive(3)
    until(page, "window.cockpit.live.socket !== window.before")
    until(page, "document.getElementById('link').textContent === 'live'")
    assert page.evaluate("window.cockpit.episode.lanes.map((lane) => lane.steps.length)") == [7, 7]


def test_the_end_is_told_and_what_one_can_do_then(visit, agent):
    simulation, catalogue = prepare(agent)
    with server.running(simulation, catalogue) as address:
        page = visit(address)
        until(page, "window.cockpit.episode?.lanes[1].steps.at(-1)?.outcome === 'out of time'")
        assert page.locator(".note").nth(1).text_content() == "out of time at step 39"
        until(page, "document.getElementById('told').textContent.startsWith('Both episodes are over')")
        page.goto("about:blank")  # or it would complain that the server is gone
