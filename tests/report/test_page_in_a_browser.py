"""The page in a real browser: surfaces are drawn and turn together, a phone can read it, dark is dark."""

import pytest

from tests.browser import until
from tests.record.runs import record
from wiser.record import export
from wiser.report.results import ReportError
from wiser.report.write import PAGE, write_report

PIXELS = "[...document.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL())"


@pytest.fixture
def page(visit, made):
    return visit((made / PAGE).as_uri(), reduced_motion="reduce", offline=True)


def test_surfaces_replace_their_picture_and_say_what_they_show(page):
    canvases = page.locator("canvas")
    labels = [canvases.nth(i).get_attribute("aria-label") for i in range(canvases.count())]
    assert [label.split(":")[0] for label in labels] == ["glare, single", "glare, filter", "glare, reject"]
    assert len(set(page.evaluate(PIXELS))) == 3
    assert not page.locator("#single-surfaces-four-lane svg").is_visible()
    assert page.locator("#multi-failures svg").is_visible()


def test_arrow_keys_and_dragging_turn_all_surfaces(page):
    before = page.evaluate(PIXELS)
    page.locator("canvas").nth(1).press("ArrowLeft")
    turned = page.evaluate(PIXELS)
    assert all(old != new for old, new in zip(before, turned, strict=True))
    page.locator("canvas").nth(1).press("ArrowRight")
    assert page.evaluate(PIXELS) == before
    box = page.locator("canvas").first.bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 80)
    page.mouse.up()
    assert all(old != new for old, new in zip(before, page.evaluate(PIXELS), strict=True))


def test_replays_open_from_the_page(visit, results, tmp_path):
    recording = tmp_path / "glare & lag.html"
    export(record(title="Glare on one <sensor>"), recording)
    folder, _ = write_report((results / "multi",), None, tmp_path / "report", (recording,))
    recording.unlink()  # the report has its own copy
    page = visit((folder / PAGE).as_uri(), reduced_motion="reduce", offline=True)
    page.get_by_role("link", name="Glare on one <sensor>").click()
    page.wait_for_selector("h1")
    assert page.locator("h1").text_content() == "Glare on one <sensor>"


def test_what_is_not_a_replay_is_refused(results, tmp_path):
    film = tmp_path / "film.html"
    film.write_text("no page")
    with pytest.raises(ReportError, match="not a replay page"):
        write_report((results / "multi",), None, tmp_path / "report", (film,))


def test_a_phone_scrolls_down_and_not_sideways(visit, made):
    page = visit((made / PAGE).as_uri(), width=390, reduced_motion="reduce", offline=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_figure_that_a_phone_cuts_says_so_until_one_has_seen_its_end(visit, made):
    page = visit((made / PAGE).as_uri(), width=320, reduced_motion="reduce", offline=True)
    note = "getComputedStyle(document.querySelector('#multi-failures figcaption'), '::before').content"
    until(page, "document.querySelector('#multi-failures .still').matches('.more')")
    assert "to the right" in page.evaluate(note)
    page.evaluate("document.querySelector('#multi-failures .still').scrollLeft = 10000")
    until(page, "!document.querySelector('#multi-failures .still').matches('.more')")
    assert page.evaluate(note) == "none"
    page.set_viewport_size({"width": 1400, "height": 900})
    until(page, "!document.querySelector('.still.more')")


def test_surfaces_are_large_enough_to_be_read_on_a_phone(visit, made):
    page = visit((made / PAGE).as_uri(), width=390, reduced_motion="reduce", offline=True)
    assert page.locator("canvas").first.bounding_box()["width"] >= 150


def test_ink_follows_the_colour_scheme(visit, made):
    ink = "getComputedStyle(document.querySelector('#multi-failures svg [id^=text_] g')).fill"
    light, dark = (
        visit((made / PAGE).as_uri(), color_scheme=scheme, reduced_motion="reduce").evaluate(ink)
        for scheme in ("light", "dark")
    )
    assert (light, dark) == ("rgb(26, 29, 35)", "rgb(233, 235, 239)")
