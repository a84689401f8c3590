// The timeline: reference, cue, measures, ledger, delays and R-R intervals over one axis of time.

const LANES = [
  ["reference", 24], ["cue", 58], ["measured", 20], ["written", 24], ["delay", 30], ["rr", 66],
];
const AXIS = 22, GAP = 7, RR_TOP = 2000;
const timeline = { lanes: [], left: 84, right: 0, height: 0 };

/** Lay the lanes out; a lane with nothing to show takes no place. */
function layLanes() {
  const has = {
    reference: true, cue: true, measured: now.measures.length > 0, written: true,
    delay: now.events.some((event) => event.delay !== null), rr: now.recording !== null,
  };
  let y = AXIS;
  timeline.lanes = LANES.filter(([name]) => has[name]).map(([name, height]) => {
    const lane = { name, y: y + GAP, height };
    y += height + GAP;
    return lane;
  });
  timeline.height = y + GAP;
}

const laneOf = (name) => timeline.lanes.find((lane) => lane.name === name);

function drawTimeline() {
  const canvas = byId("timeline");
  layLanes();
  const { pen, width, height } = prepare(canvas, timeline.height);
  timeline.left = width < 560 ? 12 : 84;
  timeline.right = width - 12;
  const [a, b] = now.view;
  const at = (t) => timeline.left + ((t - a) / (b - a)) * (timeline.right - timeline.left);
  drawAxis(pen, at, a, b, height);
  drawStripPlace(pen, at, height);
  pen.save();
  pen.beginPath();
  pen.rect(timeline.left, AXIS, timeline.right - timeline.left, height - AXIS);
  pen.clip();
  const draw = { reference: drawReference, cue: drawCue, measured: drawMeasured, written: drawWritten, delay: drawDelays, rr: drawRr };
  for (const lane of timeline.lanes) draw[lane.name](pen, lane, at, a, b);
  drawSelected(pen, at);
  pen.restore();
  drawLabels(pen, timeline.left > 20);
  byId("viewed").textContent = `${clock(a)} to ${clock(b)}`;
}

function drawAxis(pen, at, a, b, height) {
  const step = tickStep((b - a) / (timeline.right - timeline.left), 74);
  pen.textAlign = "center";
  for (let t = Math.ceil(a / step) * step; t <= b + 1e-9; t += step) {
    const x = Math.round(at(t)) + 0.5;
    pen.strokeStyle = palette.line;
    line(pen, x, AXIS - 3, x, height);
    pen.fillStyle = palette.soft;
    const text = clock(t, tickDigits(step)), half = pen.measureText(text).width / 2;
    pen.fillText(text, clamp(x, timeline.left + half - 8, timeline.right - half + 8), 11);
  }
}

function line(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

function drawLabels(pen, beside) {
  const cue = now.cue ? legible(words(now.cue)).replace("irregularity", "irreg.").replace("rr ", "R-R ").replace("st ", "ST ").slice(0, 14) : "cue";
  const labels = { reference: "reference", cue, measured: "measures", written: "written", delay: "delay", rr: "R-R, s" };
  for (const { name, y, height } of timeline.lanes) {
    pen.textAlign = beside ? "right" : "left";
    const text = labels[name], x = beside ? timeline.left - 8 : timeline.left + 3, middle = beside ? y + height / 2 : y + 6;
    if (!beside) {
      pen.fillStyle = palette.raised;
      pen.globalAlpha = 0.75;
      pen.fillRect(x - 2, middle - 6, pen.measureText(text).width + 4, 12);
      pen.globalAlpha = 1;
    }
    pen.fillStyle = palette.soft;
    pen.fillText(text, x, middle);
  }
}

/** Where the strip lies. */
function drawStripPlace(pen, at, height) {
  const [a, b] = now.strip, x = at(a), wide = Math.max(2, at(b) - x);
  pen.fillStyle = palette.accent;
  pen.globalAlpha = 0.13;
  pen.fillRect(x, AXIS - 2, wide, height - AXIS);
  pen.globalAlpha = 1;
  const middle = x + wide / 2;
  pen.beginPath();
  pen.moveTo(middle - 5, AXIS - 5);
  pen.lineTo(middle + 5, AXIS - 5);
  pen.lineTo(middle, AXIS + 2);
  pen.fill();
}

function bar(pen, at, t0, t1, y, height, least = 2) {
  const x = at(t0), wide = Math.max(least, at(t1) - x);
  pen.fillRect(x, y, wide, height);
  return [x, wide];
}

function drawReference(pen, { y, height }, at, a, b) {
  pen.fillStyle = palette.hover;
  pen.fillRect(timeline.left, y, timeline.right - timeline.left, height);
  if (now.row.truth === null && !now.events.length && now.row.score === null) {
    pen.fillStyle = palette.soft;
    pen.textAlign = "center";
    pen.fillText("no reference", (timeline.left + timeline.right) / 2, y + height / 2);
  }
  for (const event of now.events) {
    if (event.off < a || event.on > b) continue;
    pen.fillStyle = event.missed ? hatch(pen, palette.missed) : palette.truth;
    const [x, wide] = bar(pen, at, event.on, event.off, y, height, 2.5);
    if (event.missed) {
      pen.strokeStyle = palette.missed;
      pen.strokeRect(x + 0.5, y + 0.5, Math.max(1.5, wide - 1), height - 1);
    }
  }
}

function drawCue(pen, { y, height }, at, a, b) {
  const top = now.cueTop || 1;
  const columns = new Float32Array(Math.ceil(timeline.right) + 2).fill(-1);
  for (const { bins } of now.skims) {
    if (!bins.length || bins[bins.length - 1][1] < a || bins[0][0] > b) continue;
    for (const [t0, t1, value] of bins) {
      if (!isNumber(value) || t1 < a || t0 > b) continue;
      const first = Math.max(0, Math.floor(at(t0))), last = Math.min(columns.length - 1, Math.max(first, Math.ceil(at(t1)) - 1));
      for (let x = first; x <= last; x++) columns[x] = Math.max(columns[x], value);
    }
  }
  pen.fillStyle = palette.cue;
  for (let x = 0; x < columns.length; x++) {
    if (columns[x] < 0) continue;
    const tall = Math.max(1, (columns[x] / top) * (height - 10));
    pen.fillRect(x, y + height - tall, 1, tall);
  }
  pen.fillStyle = palette.ink;
  const perPixel = (b - a) / (timeline.right - timeline.left);
  for (const { peak, peakAt, t0, t1 } of now.skims) {
    if (!isNumber(peak) || peak <= 0 || (t1 - t0) / perPixel < 26 || t1 < a || t0 > b) continue;
    const x = at(peakAt), peakY = y + height - (peak / top) * (height - 10);
    pen.beginPath(); // a diamond on each skim's peak
    pen.moveTo(x, peakY - 4);
    pen.lineTo(x + 3, peakY);
    pen.lineTo(x, peakY + 4);
    pen.lineTo(x - 3, peakY);
    pen.fill();
  }
  pen.strokeStyle = palette.soft;
  for (const { t0, t1 } of now.skims) {
    if ((t1 - t0) / perPixel < 14 || t1 < a || t0 > b) continue;
    line(pen, Math.round(at(t1)) + 0.5, y + height - 5, Math.round(at(t1)) + 0.5, y + height);
  }
}

function drawMeasured(pen, { y, height }, at, a, b) {
  const middle = y + height / 2;
  let drawnTo = -Infinity;
  for (const { t0, t1, failed, rewound } of now.measures) {
    if (t1 < a || t0 > b) continue;
    const x0 = at(t0), x1 = Math.max(x0 + 1.5, at(t1));
    if (x1 < drawnTo + 0.5 && !failed && !rewound) continue; // under a pixel of what is there
    drawnTo = x1;
    pen.strokeStyle = pen.fillStyle = failed ? palette.missed : palette.measured;
    pen.lineWidth = rewound ? 3 : 1.5;
    line(pen, x0, middle, x1, middle);
    pen.lineWidth = 1.5;
    if (x1 - x0 > 5) {
      line(pen, x0 + 0.75, middle - 5, x0 + 0.75, middle + 5);
      line(pen, x1 - 0.75, middle - 5, x1 - 0.75, middle + 5);
    }
  }
  pen.lineWidth = 1;
}

function drawWritten(pen, { y, height }, at, a, b) {
  pen.fillStyle = palette.hover;
  pen.fillRect(timeline.left, y, timeline.right - timeline.left, height);
  for (const { t0, t1 } of now.writes) {
    if (t1 < a || t0 > b) continue;
    pen.fillStyle = palette.written;
    pen.globalAlpha = 0.45;
    const [x, wide] = bar(pen, at, t0, t1, y + 3, height - 6);
    pen.globalAlpha = 1;
    if (wide > 3) {
      pen.strokeStyle = palette.written;
      pen.lineWidth = 1.5;
      pen.strokeRect(x + 0.75, y + 3.75, wide - 1.5, height - 7.5);
      pen.lineWidth = 1;
    } else bar(pen, at, t0, t1, y + 3, height - 6);
  }
  let last = -Infinity;
  for (const { stamp } of now.writes) {
    const x = at(stamp);
    if (stamp < a || stamp > b || x - last < 1.5) continue;
    last = x;
    triangle(pen, x, y + height + 2, palette.written);
  }
}

function triangle(pen, x, y, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.moveTo(x, y - 7);
  pen.lineTo(x - 4, y);
  pen.lineTo(x + 4, y);
  pen.fill();
}

const ROWS = 3;
function drawDelays(pen, { y, height }, at, a, b) {
  pen.lineWidth = 1.5;
  now.events.forEach((event, index) => {
    if (event.delay === null || event.stamp < a || event.on > b) return;
    const level = y + 6 + (index % ROWS) * ((height - 10) / (ROWS - 1));
    pen.strokeStyle = pen.fillStyle = palette.late;
    line(pen, at(event.on), level, Math.max(at(event.on) + 1, at(event.stamp)), level);
    pen.beginPath();
    pen.arc(at(event.on), level, 2.2, 0, 7);
    pen.fill();
    triangle(pen, at(event.stamp), level + 3.5, palette.late);
  });
  pen.lineWidth = 1;
}

const rrLevel = (ms, y, height) => y + height - 2 - clamp(ms / RR_TOP, 0, 1) * (height - 4);

function drawRr(pen, { y, height }, at, a, b) {
  pen.strokeStyle = palette.line;
  for (const ms of [0, 1000, 2000]) line(pen, timeline.left, Math.round(rrLevel(ms, y, height)) + 0.5, timeline.right, Math.round(rrLevel(ms, y, height)) + 0.5);
  const { times, symbols, whole, band } = now.recording.beats;
  if (!whole && band) drawRrBand(pen, band, at, a, b, y, height);
  const first = Math.max(1, lowerBound(times, a)), last = lowerBound(times, b);
  if (!times.length) return;
  if (whole || last - first < 3 * timeline.right) {
    const size = last - first > 4000 ? 1 : last - first > 800 ? 1.6 : 2.4;
    pen.fillStyle = palette.trace;
    pen.globalAlpha = size < 2 ? 0.55 : 0.85;
    const drawn = size > 1 ? null : new Uint16Array(Math.ceil(timeline.right) * (height + 2));
    for (let i = first; i < last; i++) {
      const rr = (times[i] - times[i - 1]) * 1000;
      if (!(rr < 3000)) continue;
      const x = at(times[i]), level = rrLevel(rr, y, height), pixel = Math.floor(x) * (height + 2) + Math.floor(level - y);
      if (drawn && drawn[pixel]++ > 2) continue; // enough to tell many beats from one
      pen.fillRect(x - size / 2, level - size / 2, size, size);
    }
    pen.globalAlpha = 1;
    pen.fillStyle = palette.written;
    for (let i = first; symbols && i < last; i++) {
      if (!isVentricular(symbols[i])) continue;
      const x = at(times[i]), level = rrLevel((times[i] - times[i - 1]) * 1000, y, height);
      if (last - first > 6000) pen.fillRect(x - 0.8, level - 0.8, 1.6, 1.6); else cross(pen, x, level, 2.6);
    }
  }
}

function drawRrBand(pen, band, at, a, b, y, height) {
  pen.fillStyle = palette.trace;
  pen.globalAlpha = 0.5;
  const first = Math.max(0, Math.floor(a / band.bucket)), last = Math.min(band.low.length, Math.ceil(b / band.bucket));
  for (let i = first; i < last; i++) {
    if (band.low[i] < 0) continue;
    const top = rrLevel(band.high[i], y, height), bottom = rrLevel(band.low[i], y, height);
    pen.fillRect(at(i * band.bucket), top, Math.max(1, at((i + 1) * band.bucket) - at(i * band.bucket)), Math.max(1, bottom - top));
  }
  pen.globalAlpha = 1;
}

const isVentricular = (symbol) => symbol === "V" || symbol === "E";

function cross(pen, x, y, size) {
  pen.strokeStyle = palette.written;
  pen.lineWidth = 1.4;
  line(pen, x - size, y - size, x + size, y + size);
  line(pen, x - size, y + size, x + size, y - size);
  pen.lineWidth = 1;
}

/** A frame around what the selected step looked at or wrote, and a line at its cursor. */
function drawSelected(pen, at) {
  const step = now.steps[now.step];
  if (!step) return;
  const reach = stepSpan(step), lane = laneOf({ skim: "cue", measure: "measured", write: "written" }[step.kind]);
  pen.strokeStyle = palette.accent;
  if (isNumber(step.cursor)) {
    pen.setLineDash([4, 3]);
    line(pen, at(step.cursor), AXIS, at(step.cursor), timeline.height);
    pen.setLineDash([]);
  }
  if (!reach || !lane) return;
  pen.lineWidth = 2;
  const x = at(reach[0]);
  pen.strokeRect(x - 1, lane.y - 2, Math.max(4, at(reach[1]) - x) + 2, lane.height + 4);
  pen.lineWidth = 1;
}

/** What lies at a time and a height: the lane, the thing, and the step it belongs to. */
function hit(t, y) {
  const lane = timeline.lanes.find((one) => y >= one.y - 3 && y <= one.y + one.height + 4);
  const slack = (5 * (now.view[1] - now.view[0])) / (timeline.right - timeline.left);
  const touches = (start, stop) => t >= start - slack && t <= stop + slack;
  const nearest = (list, start, stop) => {
    const found = list.filter((one) => touches(start(one), stop(one)));
    const far = (one) => (t >= start(one) && t <= stop(one) ? 0 : Math.min(Math.abs(t - start(one)), Math.abs(t - stop(one))));
    return found.sort((p, q) => far(p) - far(q))[0];
  };
  const name = lane?.name;
  if (name === "reference") return { name, event: nearest(now.events, (e) => e.on, (e) => e.off) };
  if (name === "delay") return { name, event: nearest(now.events.filter((e) => e.delay !== null), (e) => e.on, (e) => e.stamp) };
  if (name === "written") return { name, write: nearest(now.writes, (w) => w.t0, (w) => w.t1) ?? nearest(now.writes, (w) => w.stamp, (w) => w.stamp) };
  if (name === "measured") return { name, measure: nearest(now.measures, (m) => m.t0, (m) => m.t1) };
  if (name === "cue") return { name, skim: nearest(now.skims, (s) => s.t0, (s) => s.t1) };
  return { name };
}

const sayEvent = (event) =>
  `Reference ${clock(event.on, 1)} to ${clock(event.off, 1)} (${span(event.off - event.on)})\n` +
  (event.missed ? "missed" : event.delay === null ? "" : `stamped ${clock(event.stamp, 1)}, ${number(event.delay, 1)} s after its onset`);

const sayWrite = (write) =>
  `Written ${clock(write.t0, 1)} to ${clock(write.t1, 1)} (${span(write.t1 - write.t0)}), ${write.type}` +
  `\nstamped at ${clock(write.stamp, 1)}` + (isNumber(write.confidence) ? `, confidence ${write.confidence}` : "");

function sayHit(t, { event, write, measure, skim }) {
  if (event) return sayEvent(event);
  if (write) return sayWrite(write);
  if (measure) return `${measure.tool}\n${clock(measure.t0, 1)} to ${clock(measure.t1, 1)} (${span(measure.t1 - measure.t0)})${measure.failed ? "\nrefused" : ""}${measure.rewound ? "\nrewound" : ""}`;
  if (skim) return `Skim ${clock(skim.t0)} to ${clock(skim.t1)}\npeak ${number(skim.peak)} at ${clock(skim.peakAt, 1)} (${words(now.cue ?? "cue")})`;
  return clock(t, 1);
}

function clickTimeline(t, y) {
  const found = hit(t, y), { event, write, measure, skim } = found;
  const step = write?.step ?? measure?.step ?? skim?.step;
  if (step !== undefined && step !== null) selectStep(step, { follow: false });
  else selectStep(stepAt(event ? (event.stamp ?? event.on) : t), { follow: false });
  showAt(event ? (found.name === "delay" || Math.abs(t - event.on) < Math.abs(t - event.off) ? event.on : event.off) : t);
}
