from __future__ import annotations

from ecgscroll.evaluation.layout import Grid, print_grids
from ecgscroll.evaluation.table import print_summary
from ecgscroll.legible import legible


def test_what_hides_or_turns_text_is_written_by_its_number():
    assert legible("a\tb\nc 👩‍⚕️ é عربي") == "a\tb\nc 👩‍⚕️ é عربي"
    assert legible("\ud83d\u2067\r\x85") == "⟨D83D⟩⟨2067⟩⟨0D⟩⟨85⟩"


def test_no_name_steers_the_terminal(capsys):
    evil = "\x1b[2J[/red][bold]\u202e\x07"
    print_grids([Grid(evil, (evil, "x"), [(evil, evil)])])
    summary = {"config": {"policy": evil, "dx": None}, "parameters": {"scoring": "committed"}}
    print_summary({**summary, "episodes": 0, "hours": 0.0, "tasks": {}})
    shown = capsys.readouterr().out
    assert not set("\x1b\x07\u202e") & set(shown)
    assert shown.count("⟨1B⟩[2J[/red][bold]⟨202E⟩⟨07⟩") == 5
