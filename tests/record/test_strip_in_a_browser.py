"""Where an episode lies among all: the strip above a replay, and the links to other pages."""

import pytest

from tests.browser import until
from tests.record.runs import record
from wiser.record import Sample, to_html

SCORES = {
    "clean": [110.0, 100.0, 120.0, 105.0, 115.0],
    "broken, unguarded": [50.0, 40.0, 60.0, 90.0, 30.0],
    "broken, guarded": [100.0, 40.0, 118.0, 70.0, 112.0],
}
ORDER = [3, 1, 0, 2, 4]  # by guarded minus unguarded: -20, 0, 50, 58, 82
PAGES = {4: ("best for the guard", "best.html"), 0: ("median", "the median.html"), 3: ("worst", "worst.html")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strip")
    for episode, (_, name) in PAGES.items():
        to_html(record(), folder / name, Sample(SCORES, ORDER, "gain", PAGES, episode))
    return folder


@pytest.fixture
def page(visit, folder):
    page = visit((folder / "the median.html").as_uri(), offline=True)
    until(page, "document.querySelectorAll('.strip .mark').length === 15")
    return page


def marks(page) -> list[list[float]]:
    """[lane] -> height of its mark in every column, from left to right; larger is higher."""
    found = page.evaluate("""[...document.querySelectorAll('.strip .mark')].map((mark) =>
        [Number(mark.dataset.line), -Number(/ ([-.0-9]+)\\)/.exec(mark.getAttribute('transform'))[1])])""")
    return [[height for lane, height in found if lane == k] for k in range(3)]


def test_every_score_has_its_mark(page):
    for lane, heights in zip(SCORES, marks(page), strict=True):
        expected = [SCORES[lane][episode] for episode in ORDER]
        slope = (heights[2] - heights[1]) / (expected[2] - expected[1])
        assert heights == pytest.approx([heights[1] + slope * (value - expected[1]) for value in expected], abs=0.01)
        assert slope > 0
    titles = page.locator(".strip title").all_text_contents()
    assert titles[0] == "episode 4: clean 105, broken, unguarded 90.0, broken, guarded 70.0"
    assert page.locator(".strip figcaption").text_content() == "score of every episode, sorted by gain"


def test_the_one_on_show_is_marked_and_told(page):
    assert page.locator(".strip .here").count() == 1
    assert page.locator(".strip .here title").text_content().startswith("episode 1:")
    assert page.locator("#sample h2").text_content() == "One of 5 episodes"
    assert page.locator("#sample .key li").all_text_contents() == [
        "clean: 110 (mean 110)",
        "broken, unguarded: 50.0 (mean 54.0)",
        "broken, guarded: 100 (mean 88.0)",
    ]
    told = page.locator(".strip svg").get_attribute("aria-label")
    assert told.startswith("score of 5 episodes. On show, number 3 from the left: episode 1: clean 110")


def test_buttons_lead_to_the_other_pages(page, folder):
    buttons = page.locator("#sample nav a")
    assert buttons.all_text_contents() == ["best for the guard", "median", "worst"]
    assert page.locator("#sample [aria-current=page]").text_content() == "median"
    buttons.nth(2).click()
    page.wait_for_url("**/worst.html")
    assert page.locator(".strip .here title").text_content().startswith("episode 4:")
    page.locator("#sample nav a").nth(1).click()
    page.wait_for_url("**/the%20median.html")


def test_keys_choose_an_episode(page):
    page.keyboard.press("2")
    page.keyboard.press("9")
    assert page.evaluate("location.pathname").endswith("/the%20median.html"), "it is on show; there is no ninth"
    page.keyboard.press("1")
    page.wait_for_url("**/best.html")
    page.locator("#sample nav a").nth(2).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/worst.html")
    assert "1, 2, 3 choose an episode" in page.locator("#hint").text_content()


def test_a_column_with_a_page_leads_there(page):
    columns = page.locator(".strip a")
    assert columns.count() == 2, "the one on show and those that were not recorded lead nowhere"
    columns.last.locator(".column").click()
    page.wait_for_url("**/best.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400, 1920])
def test_it_fits(visit, folder, width, scheme):
    page = visit((folder / "worst.html").as_uri(), width=width, color_scheme=scheme)
    until(page, "document.querySelectorAll('.strip .mark').length === 15")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    inside = page.evaluate("""[...document.querySelectorAll('.strip .column')].every((column) => {
        const {left, right} = column.getBoundingClientRect();
        return left >= 0 && right <= innerWidth;
    })""")
    assert inside


def test_a_recording_by_itself_has_no_strip(visit, tmp_path):
    page = visit(to_html(record(steps=3), tmp_path / "alone.html").as_uri())
    assert page.locator("#sample").is_hidden()
    page.keyboard.press("1")
    assert "choose an episode" not in page.locator("#hint").text_content()
