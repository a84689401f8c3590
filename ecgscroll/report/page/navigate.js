// Moving and zooming a canvas by pointer, wheel, pinch and keyboard; both canvases share it.

const palette = {};
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "raised", "ink", "soft", "line", "hover", "accent", "truth", "written", "cue",
    "measured", "missed", "late", "trace", "paper", "paper-fine", "paper-bold", "hatch",
    "written-ink", "measured-ink", "missed-ink"]) {
    palette[name] = style.getPropertyValue(`--${name}`).trim();
  }
  hatches.clear();
}

const hatches = new Map();
/** Diagonal lines of a colour: told from a plain fill without seeing the colour. */
function hatch(context, colour) {
  if (!hatches.has(colour)) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 12;
    const pen = tile.getContext("2d");
    pen.strokeStyle = colour;
    pen.lineWidth = 2.4;
    for (const shift of [-12, 0, 12]) {
      pen.moveTo(shift, 12);
      pen.lineTo(shift + 12, 0);
    }
    pen.stroke();
    hatches.set(colour, context.createPattern(tile, "repeat"));
  }
  return hatches.get(colour);
}

/** Fit a canvas to its place and the screen's density; returns its context in CSS pixels. */
function prepare(canvas, height) {
  const width = Math.max(120, canvas.parentElement.clientWidth), ratio = window.devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  pen.textBaseline = "middle";
  return { pen, width, height };
}

/**
 * `view()` is [start, stop] in seconds and `look(start, stop)` sets it; `frame()` is the canvas's
 * [left, right] in pixels between which time runs.
 */
function navigable(canvas, { view, look, frame, click, hover }) {
  const fingers = new Map();
  let pressed = null, moved = false, pinch = null;
  const time = (x) => {
    const [a, b] = view(), [left, right] = frame();
    return a + ((x - left) / (right - left)) * (b - a);
  };
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const zoom = (x, factor) => {
    const [a, b] = view(), middle = clamp(time(x), a, b);
    look(middle - (middle - a) * factor, middle + (b - middle) * factor);
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x] = place(event), [a, b] = view();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const shift = ((event.deltaX || event.deltaY) / canvas.clientWidth) * (b - a);
      look(a + shift, b + shift);
    } else zoom(x, Math.exp(clamp(event.deltaY, -120, 120) * (event.ctrlKey ? 0.01 : 0.0025)));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event)[0]);
    moved = fingers.size > 1;
    pressed = { x: place(event)[0], view: view() };
    if (fingers.size === 2) pinch = { gap: gap(), view: view(), middle: time(mean()) };
  });
  const gap = () => Math.max(12, Math.abs([...fingers.values()].reduce((a, b) => a - b)));
  const mean = () => [...fingers.values()].reduce((a, b) => a + b) / fingers.size;
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (!fingers.has(event.pointerId)) {
      hover(time(x), y, event);
      return;
    }
    fingers.set(event.pointerId, x);
    const [left, right] = frame();
    if (fingers.size === 2 && pinch) {
      const length = (pinch.view[1] - pinch.view[0]) * (pinch.gap / gap());
      const start = pinch.middle - ((mean() - left) / (right - left)) * length;
      look(start, start + length);
    } else if (pressed && (moved || Math.abs(x - pressed.x) > 4)) {
      moved = true;
      const [a, b] = pressed.view, shift = ((pressed.x - x) / (right - left)) * (b - a);
      look(a + shift, b + shift);
    }
  });
  const release = (event) => {
    const [x, y] = place(event);
    if (event.type === "pointerup" && fingers.size === 1 && !moved) click(time(x), y);
    fingers.delete(event.pointerId);
    pinch = null;
    pressed = fingers.size ? { x: mean(), view: view() } : null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => hover(null));
  return {
    zoomBy(factor) {
      const [left, right] = frame();
      zoom((left + right) / 2, factor);
    },
    moveBy(part) {
      const [a, b] = view();
      look(a + part * (b - a), b + part * (b - a));
    },
  };
}

/** Keep a span inside [0, total], no shorter than `least`. */
function held(start, stop, total, least) {
  const length = clamp(stop - start, Math.min(least, total), total);
  const middle = (start + stop) / 2, from = clamp(middle - length / 2, 0, total - length);
  return [from, from + length];
}

/** Show lines of text by the pointer, or nothing. */
function tip(text, event) {
  const box = byId("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = legible(text);
  const { clientX: x, clientY: y } = event, right = x + 14 + box.offsetWidth > window.innerWidth;
  box.style.left = `${Math.max(4, right ? x - 14 - box.offsetWidth : x + 14)}px`;
  box.style.top = `${y + 16 + box.offsetHeight > window.innerHeight ? y - 10 - box.offsetHeight : y + 16}px`;
}
