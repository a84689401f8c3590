"""Places of the page, and what a browser shows there."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def episode(name, rest=""):
    return f"#episode={quote(name, safe='')}{rest}"


def settled(tab):
    """Wait for what was asked for to be drawn."""
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))")
    return tab.inner_text("#shown")


def inks(tab, canvas):
    """How many colours a canvas shows."""
    return tab.evaluate(
        """(id) => { const canvas = document.getElementById(id);
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size; }""",
        canvas,
    )


def brightness(tab, canvas, x=3, y=75):
    """How bright a pixel of a canvas is, and the page's ground: 0 to 255."""
    return tab.evaluate(
        """([id, x, y]) => { const canvas = document.getElementById(id);
        const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
        pen.drawImage(canvas, 0, 0);
        return [getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] * 1,
                pen.getImageData(x, y, 1, 1).data[0]]; }""",
        [canvas, x, y],
    )


FAINT = Path(__file__).with_name("faint.js").read_text()
