"""What goes wrong on a page is noticed, so that a test of a page can fail."""

import pytest

from tests.browser import is_foreign, until


@pytest.mark.parametrize("script", ["console.error('bad')", "setTimeout(() => { throw new Error('bad') })"])
def test_errors_on_a_page_are_noticed(visit, tabs, tmp_path, script):
    (tmp_path / "page.html").write_text(f"<!doctype html><title>a page</title><script>{script}</script>")
    page = visit((tmp_path / "page.html").as_uri())
    until(page, "true")
    tab = next(tab for tab in tabs.values() if tab.page is page)
    page.wait_for_timeout(100)
    assert "bad" in tab.problems[0]
    tab.problems.clear()


def test_only_this_machine_is_not_foreign():
    assert is_foreign("http://example.org/a.js")
    assert not is_foreign("file:///tmp/a.html")
    assert not is_foreign("data:image/webp;base64,AAAA")
    assert not is_foreign("http://127.0.0.1:8000/steps")
