"""Rollouts, models' transcripts, errors and limits as a reader meets them; print and contrast."""

from __future__ import annotations

import re

import pytest
from browser_fakes import FAINT, brightness, episode, settled
from report_fakes import HOSTILE, IDS

DARK = {"scheme": "dark"}


@pytest.fixture
def open_rolled(visit, rolled_page):
    """Open the page of the run with several rollouts."""
    return lambda anchor="", **options: visit(anchor, file=rolled_page, **options)


def cells(tab, column):
    return tab.locator(f"#rows td:nth-child({column})").all_inner_texts()


def test_the_best_and_the_worst_rollout_of_each_instance_are_found(open_rolled):
    tab = open_rolled()
    assert len(cells(tab, 1)) == 6
    for which, extreme in (("best", max), ("worst", min)):
        tab.select_option("#rollout", which)
        assert len(cells(tab, 1)) == 2
        for link in tab.locator("#rows a").all():
            said = link.locator("xpath=../..").locator("svg").get_attribute("aria-label")
            scores = [float(one.split()[1]) for one in said.split(", ") if "error" not in one]
            shown = link.locator("xpath=../..").locator("td:nth-child(3)").inner_text()
            assert float(shown.split()[-1]) == extreme(scores)
    tab.select_option("#rollout", "1")
    assert cells(tab, 3) == ["error", "error"]
    tab.select_option("#rollout", "apart")
    assert set(tab.locator("#rows a").all_inner_texts()) <= {"synth/paf01", "synth/ectopy01"}
    tab.click("[data-problem=limit]")
    assert all(text.startswith("limit: steps") for text in cells(tab, 3))


def test_an_error_a_limit_and_a_zero_look_different(open_rolled):
    tab = open_rolled()
    texts = cells(tab, 3)
    assert sorted(text.split("\n")[0] for text in texts)[-2:] == ["limit: steps"] * 2
    assert texts.count("error") == 2
    assert "⟨202E⟩⟨1B⟩[31m" in tab.inner_text("#rows")
    failed = open_rolled(episode(IDS[0], "&rollout=1")).inner_text("#trouble")
    assert "error and has no score" in failed
    stopped = open_rolled(episode(IDS[0], "&rollout=2")).inner_text("#trouble")
    assert "stopped by the limit of steps before it called finish" in stopped


def test_a_link_names_its_rollout(open_rolled):
    from playwright.sync_api import expect

    tab = open_rolled(episode(IDS[1], "&rollout=2&step=7"))
    assert tab.inner_text("#name").endswith("rollout r2")
    assert "the limit of steps was reached" in tab.inner_text("#step")
    tab.click("#rollouts a >> nth=0")
    expect(tab.locator("#name")).to_have_text(re.compile("r0$"))
    assert "rollout=" not in tab.evaluate("location.hash")
    assert tab.get_attribute("#rollouts a >> nth=0", "aria-current") == "page"
    tab.keyboard.press("Escape")
    tab.wait_for_selector("#home:not([hidden])")
    assert open_rolled(episode(IDS[1], "&rollout=9")).is_visible("#home")


def test_a_request_is_shown_whole_and_what_it_left_out_is_told(open_rolled):
    tab = open_rolled(episode(IDS[0], "&step=5"))
    settled(tab)
    step = tab.locator("#step")
    assert "finish({})" in step.inner_text()
    assert "1,234 prompt tokens · 5 completion tokens" in step.inner_text()
    assert "sent: 6 messages, 2 of them new" in step.inner_text()
    folds = step.locator("details.sent > summary").all_inner_texts()
    assert folds == [
        "system prompt, as sent before",
        "3 messages (5 to 7), as sent before",
        "4 earlier messages (1 to 4)",
    ]
    for fold in step.locator("details.sent > summary").all():
        fold.click()
    settled(tab)
    shown = step.locator(".message .fine").all_inner_texts()
    numbers = [text.split(" · ")[0] for text in shown[1:]]
    assert numbers == [str(n) for n in (0, 5, 6, 7, 8, 9, 1, 2, 3, 4)]
    assert "the prompt" in step.inner_text()
    assert any(HOSTILE[:60] in text for text in step.locator(".message pre").all_text_contents())


def test_numbers_of_messages_hold_where_a_line_is_lost(visit, rolled_run, tmp_path):
    import shutil

    from ecgscroll.evaluation.folder import RunFolder
    from ecgscroll.report.page import build_page

    folder = RunFolder(shutil.copytree(rolled_run, tmp_path / "copy"))
    path = folder.episode_path(IDS[0])
    lines = path.read_text().splitlines()
    lines[3] = "{"
    path.write_text("\n".join(lines) + "\n")
    page = tmp_path / "page.html"
    page.write_text(build_page(folder, None))
    tab = visit(episode(IDS[0], "&step=3"), file=page)
    settled(tab)
    tab.locator("#step details.sent > summary").nth(1).click()
    settled(tab)
    assert "4 to 5: not in the transcript" in tab.inner_text("#step")
    assert "turn 3" in tab.inner_text("#step")


def test_what_is_printed_in_the_dark_is_dark_on_white(open_rolled):
    tab = open_rolled(episode(IDS[0]), **DARK)
    settled(tab)
    assert max(brightness(tab, "strip")) < 100
    tab.emulate_media(media="print", color_scheme="dark")
    settled(tab)
    assert min(brightness(tab, "strip")) > 150
    tab.emulate_media(media="screen", color_scheme="dark")
    settled(tab)
    assert max(brightness(tab, "strip")) < 100
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert min(brightness(tab, "strip")) > 150
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert max(brightness(tab, "strip")) < 100


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(open_rolled, scheme):
    for anchor in ("", episode(IDS[0], "&rollout=1"), episode(IDS[0], "&step=4")):
        tab = open_rolled(anchor, scheme=scheme)
        tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        tab.hover("#rows tr >> nth=2" if not anchor else "#steps .row >> nth=1")
        settled(tab)
        assert tab.evaluate(FAINT) == []


def test_a_narrow_phone_shows_rollouts_and_requests_in_its_width(open_rolled):
    phone = {"width": 360, "height": 700, "has_touch": True, "is_mobile": True}
    tab = open_rolled(episode(IDS[0], "&rollout=2&step=3"), **phone)
    settled(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    tab.click("#back")
    tab.wait_for_selector("#home:not([hidden])")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
