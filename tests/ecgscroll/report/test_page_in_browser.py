"""The page as a reader meets it, in a headless Chromium."""

from __future__ import annotations

from browser_fakes import episode, inks, settled
from report_fakes import HOSTILE, IDS


def listed(tab):
    return tab.locator("#rows tr a").all_inner_texts()


def test_episodes_are_filtered_and_sorted(visit):
    tab = visit()
    assert len(listed(tab)) == 3
    tab.fill("#search", "ectopy")
    assert listed(tab) == ["synth/ectopy01"]
    tab.fill("#search", "nothing of the kind")
    assert tab.is_visible("#none")
    tab.click("#clear")
    tab.select_option("#task", "rare_event")
    assert listed(tab) == ["synth/rare01"]
    tab.select_option("#task", "")
    tab.click("#columns button:text('episode')")
    names = listed(tab)
    tab.click("#columns button:text('episode')")
    assert listed(tab) == names[::-1]
    assert tab.get_attribute("#columns th >> nth=0", "aria-sort") == "descending"
    tab.click("[data-problem=low]")
    scores = tab.locator("#rows td:nth-child(2)").all_inner_texts()
    assert all(float(score) < 0.5 for score in scores)


def test_an_episode_shows_its_strip_and_says_which_seconds(visit):
    tab = visit()
    tab.click("#rows a:text('paf01')")
    tab.wait_for_selector("#episode:not([hidden])")
    assert "full samples" in settled(tab)
    assert inks(tab, "strip") > 20
    assert inks(tab, "timeline") > 8
    assert tab.evaluate("document.activeElement.id") == "name"


def test_a_click_on_the_timeline_moves_strip_and_transcript(visit):
    tab = visit(episode(IDS[0]))
    before = settled(tab)
    box = tab.locator("#timeline").bounding_box()
    tab.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + 70)
    after = settled(tab)
    assert after != before
    chosen = tab.locator("#steps [aria-selected=true]")
    assert chosen.count() == 1
    assert "skim" in chosen.inner_text()
    assert chosen.get_attribute("id") == tab.get_attribute("#steps", "aria-activedescendant")


def test_a_step_moves_the_strip_by_mouse_and_by_keys(visit):
    tab = visit(episode(IDS[0], "&step=1"))
    first = settled(tab)
    tab.focus("#steps")
    for _ in range(6):
        tab.keyboard.press("ArrowDown")
    assert settled(tab) != first
    tab.click("#steps .row >> nth=3")
    assert tab.locator("#steps [aria-selected=true]").count() == 1


def test_zoom_goes_from_the_whole_recording_to_seconds(visit):
    tab = visit(episode(IDS[0], "&t=200"))
    tab.focus("#timeline")
    assert tab.inner_text("#viewed") == "0:00:00 to 0:05:00"
    for _ in range(12):
        tab.keyboard.press("+")
    settled(tab)
    assert tab.inner_text("#viewed") == "0:03:19 to 0:03:21"
    tab.keyboard.press("0")
    settled(tab)
    assert tab.inner_text("#viewed") == "0:00:00 to 0:05:00"
    box = tab.locator("#strip").bounding_box()
    tab.mouse.move(box["x"] + 100, box["y"] + 60)
    before = settled(tab)
    tab.mouse.wheel(0, 240)
    assert settled(tab) != before
    tab.mouse.down()
    tab.mouse.move(box["x"] + 300, box["y"] + 60, steps=4)
    tab.mouse.up()
    settled(tab)
    before = tab.inner_text("#shown")
    tab.focus("#strip")
    tab.keyboard.press("ArrowRight")
    assert settled(tab) != before


def test_a_link_opens_a_moment_and_escape_goes_back(visit):
    tab = visit(episode(IDS[1], "&t=100&span=4"))
    assert settled(tab).startswith("0:01:38.0 to 0:01:42.0 (4 s)")
    tab.keyboard.press("Escape")
    tab.wait_for_selector("#home:not([hidden])")
    assert "ectopy01" in tab.evaluate("document.activeElement.textContent")


def test_a_model_is_shown_as_the_text_it_is(visit):
    tab = visit(episode(IDS[0], "&step=2"))
    settled(tab)
    shown = tab.locator(".message pre").all_text_contents()
    assert any(HOSTILE[:80] in text for text in shown)
    assert tab.locator("#step img, #step script").count() == 0
    assert "owned" not in tab.title()
    assert "812" in tab.inner_text("#step")


def test_a_phone_shows_everything_in_its_width(visit):
    tab = visit(episode(IDS[0]), width=375, height=760, has_touch=True, is_mobile=True)
    assert "full samples" in settled(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 375
    tab.click("#back")
    tab.wait_for_selector("#home:not([hidden])")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 375


def test_the_dark_is_dark_on_the_canvas_too(visit):
    def ground(scheme):
        tab = visit(episode(IDS[0]), scheme=scheme)
        settled(tab)
        return tab.evaluate(
            """() => { const pen = document.getElementById("strip").getContext("2d");
            return [getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] * 1,
                    pen.getImageData(3, 75, 1, 1).data[0]]; }"""
        )

    assert max(ground("dark")) < 100
    assert min(ground("light")) > 150


def test_every_control_is_reached_by_tab(visit):
    tab = visit(episode(IDS[0]))
    reached = set()
    for _ in range(40):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.id"))
    assert {"timeline", "strip", "steps", "t-in", "s-paper", "e-after", "kinds"} <= reached


def test_without_recordings_the_rest_works(visit, reported_run, tmp_path):
    from ecgscroll.evaluation.folder import RunFolder
    from ecgscroll.report.page import build_page

    bare = tmp_path / "bare.html"
    bare.write_text(build_page(RunFolder(reported_run), tmp_path))
    tab = visit(episode(IDS[0]), file=bare)
    assert "no ECG" in settled(tab)
    assert "not in the data folder" in tab.inner_text("#trouble")
    assert inks(tab, "timeline") > 8
