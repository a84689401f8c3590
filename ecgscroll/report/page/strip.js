// The strip: the ECG of each lead on paper, or R-R intervals where there is no waveform.

const MM = 4; // pixels of a millimetre at 25 mm/s and 10 mm/mV
const strip = { left: 0, right: 0, top: 42, lane: 152 };

function drawStrip() {
  const canvas = byId("strip"), recording = now.recording;
  const lanes = recording ? Math.max(1, recording.leads.length) : 1;
  const height = recording ? strip.top + lanes * strip.lane + 24 : 90;
  const { pen, width } = prepare(canvas, height);
  strip.left = 0;
  strip.right = width;
  const [a, b] = now.strip, perSecond = width / (b - a);
  const at = (t) => (t - a) * perSecond;
  if (!recording) {
    sayStrip(a, b, "no ECG");
    pen.fillStyle = palette.soft;
    pen.textAlign = "center";
    pen.fillText("No ECG of this recording is in the page.", width / 2, 45);
    return;
  }
  const bottom = strip.top + lanes * strip.lane;
  drawPaper(pen, perSecond, a, b, at, bottom, recording.leads.length > 0);
  drawSpans(pen, at, a, b, bottom);
  const kinds = new Set();
  if (recording.leads.length) {
    recording.leads.forEach((name, lead) => {
      const middle = strip.top + lead * strip.lane + strip.lane * 0.55;
      pen.save();
      pen.beginPath();
      pen.rect(0, strip.top + lead * strip.lane, width, strip.lane);
      pen.clip();
      drawLead(pen, recording, lead, middle, at, a, b, perSecond).forEach((kind) => kinds.add(kind));
      drawMarks(pen, recording, lead, middle, at, a, b, perSecond);
      pen.restore();
      label(pen, `${legible(name)}  ${recording.gains[lead]} mm/mV`, 6, strip.top + lead * strip.lane + 11);
    });
  } else drawTachogram(pen, recording, at, a, b, strip.top, strip.lane);
  drawBeats(pen, recording, at, a, b, perSecond);
  drawStripAxis(pen, at, a, b, bottom);
  const few = recording.others ? `${recording.leads.length} of ${recording.leads.length + recording.others} leads · ` : "";
  sayStrip(a, b, recording.leads.length ? few + sayKinds(kinds) : `R-R intervals of ${recording.beats.source} beats; no waveform`, perSecond);
  offerNearest(recording, kinds, a, b);
}

const sayKinds = (kinds) =>
  kinds.has("samples") ? (kinds.has("envelope") ? "full samples in part, envelope elsewhere" : "full samples")
    : kinds.has("envelope") ? "envelope" : "nothing recorded";

function sayStrip(a, b, what, perSecond) {
  const digits = b - a < 30 ? 1 : 0;
  const speed = perSecond && b - a <= 60 && now.recording?.leads.length ? ` · ${Number((perSecond / MM).toFixed(1))} mm/s` : "";
  byId("shown").textContent = `${clock(a, digits)} to ${clock(b, digits)} (${span(b - a)}) · ${what}${speed}`;
}

function label(pen, text, x, y) {
  pen.textAlign = "left";
  pen.fillStyle = palette.paper;
  pen.globalAlpha = 0.8;
  pen.fillRect(x - 3, y - 8, pen.measureText(text).width + 6, 16);
  pen.globalAlpha = 1;
  pen.fillStyle = palette.ink;
  pen.fillText(text, x, y);
}

/** Squares of 0.04 s and 0.2 s by a millimetre and five; wider views keep the lines that fit. */
function drawPaper(pen, perSecond, a, b, at, bottom, voltage) {
  pen.fillStyle = palette.paper;
  pen.fillRect(0, strip.top, strip.right, bottom - strip.top);
  for (const [step, colour] of [[0.04, "paper-fine"], [0.2, "paper-bold"], [1, "paper-bold"]]) {
    if (step * perSecond < 3.5) continue;
    pen.strokeStyle = palette[colour];
    for (let i = Math.ceil(a / step); i * step <= b; i++) {
      const x = Math.round(at(i * step)) + 0.5;
      line(pen, x, strip.top, x, bottom);
    }
    if (!voltage || step === 1) continue;
    const pace = step === 0.04 ? MM : 5 * MM;
    for (let lane = strip.top; lane < bottom; lane += strip.lane) {
      const middle = Math.round(lane + strip.lane * 0.55);
      for (let y = middle - Math.floor((middle - lane) / pace) * pace; y < lane + strip.lane; y += pace) line(pen, 0, y + 0.5, strip.right, y + 0.5);
    }
  }
}

/** What the reference says and what was written, over the strip's whole height. */
function drawSpans(pen, at, a, b, bottom) {
  for (const event of now.events) {
    if (event.off < a || event.on > b) continue;
    const x = at(event.on), wide = Math.max(3, at(event.off) - x);
    pen.fillStyle = event.missed ? palette.missed : palette.truth;
    pen.globalAlpha = 0.14;
    pen.fillRect(x, strip.top, wide, bottom - strip.top);
    pen.globalAlpha = 1;
    pen.fillStyle = event.missed ? hatch(pen, palette.missed) : palette.truth;
    pen.fillRect(x, 2, wide, 6);
  }
  for (const { t0, t1, stamp } of now.writes) {
    if (t1 >= a && t0 <= b) {
      pen.strokeStyle = palette.written;
      pen.lineWidth = 1.5;
      pen.strokeRect(at(t0) + 0.75, 11.75, Math.max(2, at(t1) - at(t0) - 1.5), 5.5);
      pen.lineWidth = 1;
    }
    if (stamp >= a && stamp <= b) triangle(pen, clamp(at(stamp), 5, strip.right - 5), 24, palette.written);
  }
}

function drawLead(pen, recording, lead, middle, at, a, b, perSecond) {
  const perMv = recording.gains[lead] * MM, kinds = new Set();
  pen.strokeStyle = pen.fillStyle = palette.trace;
  const inside = recording.windows.filter((window) => window.stop > a && window.start < b);
  const dense = recording.fs / perSecond > 4; // samples of a pixel
  let from = a;
  for (const window of inside) {
    if (window.start > from) drawEnvelope(pen, recording, lead, middle, at, from, Math.min(b, window.start), perSecond, perMv) && kinds.add("envelope");
    (dense ? drawDense : drawSamples)(pen, recording, window, lead, middle, at, a, b, perMv);
    kinds.add("samples");
    from = window.stop;
  }
  if (from < b - 1e-6) drawEnvelope(pen, recording, lead, middle, at, from, b, perSecond, perMv) && kinds.add("envelope");
  return kinds;
}

function drawSamples(pen, recording, window, lead, middle, at, a, b, perMv) {
  const samples = window.leads[lead], fs = recording.fs, scale = recording.sample_mv * perMv;
  const first = Math.max(0, Math.floor((a - window.start) * fs) - 1), last = Math.min(samples.length, Math.ceil((b - window.start) * fs) + 1);
  pen.lineWidth = 1.25;
  pen.lineJoin = "round";
  pen.beginPath();
  let on = false;
  for (let i = first; i < last; i++) {
    if (samples[i] === NO_TIME) { on = false; continue; }
    const x = at(window.start + i / fs), y = middle - samples[i] * scale;
    if (on) pen.lineTo(x, y); else pen.moveTo(x, y);
    on = true;
  }
  pen.stroke();
  pen.lineWidth = 1;
}

/** Least and greatest of each pixel: many samples fall on one. */
function drawDense(pen, recording, window, lead, middle, at, a, b, perMv) {
  const samples = window.leads[lead], fs = recording.fs, scale = recording.sample_mv * perMv;
  const start = Math.max(0, Math.floor(at(window.start))), stop = Math.min(strip.right, Math.ceil(at(window.stop)));
  const perPixel = ((b - a) * fs) / strip.right;
  for (let x = start; x < stop; x++) {
    const first = Math.max(0, Math.floor((a + (x / strip.right) * (b - a) - window.start) * fs));
    let low = Infinity, high = -Infinity;
    for (let i = first; i < Math.min(samples.length, first + perPixel + 1); i++) {
      if (samples[i] === NO_TIME) continue;
      if (samples[i] < low) low = samples[i];
      if (samples[i] > high) high = samples[i];
    }
    if (low <= high) pen.fillRect(x, middle - high * scale, 1, Math.max(1, (high - low) * scale));
  }
}

/** The coarsest level whose stretches are still under a pixel, or the finest there is. */
function drawEnvelope(pen, recording, lead, middle, at, a, b, perSecond, perMv) {
  const level = recording.levels.findLast((one) => one.bucket * perSecond <= 1) ?? recording.levels[0];
  if (!level) return false;
  const scale = recording.band_mv * perMv, low = level.low[lead], high = level.high[lead];
  const wide = Math.max(1, level.bucket * perSecond);
  const first = Math.max(0, Math.floor(a / level.bucket)), last = Math.min(low.length, Math.ceil(b / level.bucket));
  let drawn = false;
  pen.save();
  pen.beginPath();
  pen.rect(at(a), 0, at(b) - at(a), 1e5);
  pen.clip();
  pen.globalAlpha = wide > 3 ? 0.32 : 0.6;
  for (let i = first; i < last; i++) {
    if (low[i] === EMPTY) continue;
    pen.fillRect(at(i * level.bucket), middle - high[i] * scale, wide, Math.max(1, (high[i] - low[i]) * scale));
    drawn = true;
  }
  pen.restore();
  return drawn;
}

/** P, QRS and T of each detected beat, under the first lead where there is room. */
function drawMarks(pen, recording, lead, middle, at, a, b, perSecond) {
  if (lead !== 0 || perSecond < 45) return;
  const y = strip.top + strip.lane - 9;
  for (const window of recording.windows) {
    if (window.stop < a || window.start > b) continue;
    for (let i = lowerBound(window.r, a - 1); i < window.r.length && window.r[i] < b + 1; i++) {
      const mark = (name) => (window.marks[name][i] === NO_TIME ? null : at(window.r[i] + window.marks[name][i] / 1000));
      piece(pen, mark("p_on_ms"), mark("p_off_ms"), y, palette["measured-ink"], "P");
      piece(pen, mark("qrs_on_ms"), mark("qrs_off_ms"), y, window.ectopic[i] ? palette["written-ink"] : palette.accent, "QRS");
      piece(pen, mark("t_peak_ms"), mark("t_off_ms"), y, palette["missed-ink"], "T");
    }
  }
}

function piece(pen, x0, x1, y, colour, name) {
  if (x0 === null || x1 === null || x1 < x0) return;
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 2.5;
  line(pen, x0, y, Math.max(x1, x0 + 1), y);
  pen.lineWidth = 1;
  line(pen, x0 + 0.5, y - 4, x0 + 0.5, y + 1);
  line(pen, x1 + 0.5, y - 4, x1 + 0.5, y + 1);
  if (x1 - x0 < (name === "QRS" ? 30 : 13)) return;
  pen.textAlign = "center";
  pen.fillText(name, (x0 + x1) / 2, y - 8);
}

/** Symbols of the reference's beats, notes of rhythm, and ticks where beats were detected. */
function drawBeats(pen, recording, at, a, b, perSecond) {
  const { times, symbols } = recording.beats, y = 33, last = lowerBound(times, b);
  const first = lowerBound(times, a);
  pen.textAlign = "center";
  if (last > first && (strip.right / (last - first)) > 9) {
    for (let i = first; i < last; i++) {
      const symbol = symbols ? symbols[i] : "·", loud = isVentricular(symbol);
      pen.fillStyle = loud ? palette["written-ink"] : symbol === "N" || symbol === "·" ? palette.soft : palette["missed-ink"];
      pen.font = `${loud ? "bold " : ""}11px ${getComputedStyle(document.body).fontFamily}`;
      pen.fillText(symbol, at(times[i]), y);
      line(pen, at(times[i]), strip.top - 3, at(times[i]), strip.top + 3, (pen.strokeStyle = pen.fillStyle));
    }
  }
  pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  for (const window of recording.windows) {
    if (window.stop < a || window.start > b || perSecond < 12) continue;
    for (let i = lowerBound(window.r, a); i < window.r.length && window.r[i] < b; i++) {
      triangle(pen, at(window.r[i]), strip.top + strip.lane - 1, window.ectopic[i] ? palette.written : palette.accent);
    }
  }
  for (const [name, start, stop] of recording.rhythm) {
    if (stop < a || start > b || !recording.leads.length || (Math.min(b, stop) - Math.max(a, start)) * perSecond < 60) continue;
    label(pen, `(${legible(name)}`, Math.max(at(start) + 4, strip.right > 500 ? 130 : 4), strip.top + (strip.right > 500 ? 11 : 28));
    if (start > a) { pen.strokeStyle = palette.ink; line(pen, at(start), strip.top, at(start), strip.top + 16); }
  }
}

function drawTachogram(pen, recording, at, a, b, top, height) {
  const { times, symbols, band, whole } = recording.beats;
  pen.textAlign = "left";
  for (let ms = 0; ms <= RR_TOP; ms += 500) {
    const y = Math.round(rrLevel(ms, top, height)) + 0.5;
    pen.strokeStyle = palette["paper-bold"];
    line(pen, 0, y, strip.right, y);
    if (ms && ms < RR_TOP) { pen.fillStyle = palette.soft; pen.fillText(`${ms} ms`, 5, y - 8); }
  }
  if (!whole && band) drawRrBand(pen, band, at, a, b, top, height);
  const first = Math.max(1, lowerBound(times, a)), last = Math.min(times.length, lowerBound(times, b) + 1);
  pen.strokeStyle = pen.fillStyle = palette.trace;
  pen.globalAlpha = 0.5;
  pen.beginPath();
  for (let i = first; i < last && last - first < 600; i++) {
    const x = at(times[i]), y = rrLevel((times[i] - times[i - 1]) * 1000, top, height);
    if (i === first) pen.moveTo(x, y); else pen.lineTo(x, y);
  }
  pen.stroke();
  pen.globalAlpha = 1;
  const size = last - first > 2000 ? 1.4 : 3.4;
  for (let i = first; i < last; i++) {
    const x = at(times[i]), y = rrLevel((times[i] - times[i - 1]) * 1000, top, height);
    pen.fillRect(x - size / 2, y - size / 2, size, size);
    if (symbols && isVentricular(symbols[i])) cross(pen, x, y, 4);
  }
}

function drawStripAxis(pen, at, a, b, bottom) {
  const step = tickStep((b - a) / strip.right, 62);
  pen.textAlign = "center";
  pen.fillStyle = palette.soft;
  pen.strokeStyle = palette.soft;
  for (let i = Math.ceil(a / step); i * step <= b; i++) {
    const x = at(i * step);
    line(pen, Math.round(x) + 0.5, bottom, Math.round(x) + 0.5, bottom + 4);
    const text = clock(i * step, tickDigits(step)), half = pen.measureText(text).width / 2 + 2;
    pen.fillText(text, clamp(x, half, strip.right - half), bottom + 14);
  }
}

/** Say that the samples here were left out, and where the nearest are. */
function offerNearest(recording, kinds, a, b) {
  const short = recording.leads.length > 0 && !kinds.has("samples") && b - a <= 60;
  byId("gap").hidden = !short;
  if (!short) return;
  byId("nearest").hidden = recording.windows.length === 0;
  byId("gap-text").textContent = "Full samples of these seconds are not in the page (its size is limited, --max-mb); the grey band is the least and greatest of each stretch.";
}

function goToNearest() {
  const middle = (now.strip[0] + now.strip[1]) / 2;
  const far = (window) => Math.abs((window.start + window.stop) / 2 - middle);
  const window = [...now.recording.windows].sort((p, q) => far(p) - far(q))[0];
  if (!window) return;
  const half = Math.min((now.strip[1] - now.strip[0]) / 2, 5);
  showAt(clamp(middle, window.start + half, Math.max(window.start + half, window.stop - half)), half * 2);
}

function sayStripAt(t) {
  const lines = [clock(t, 2)];
  for (const event of now.events) if (t >= event.on && t <= event.off) lines.push(sayEvent(event));
  for (const write of now.writes) if (t >= write.t0 && t <= write.t1) lines.push(sayWrite(write));
  const { times, symbols } = now.recording?.beats ?? { times: [] };
  const i = lowerBound(times, t), near = i && (i === times.length || t - times[i - 1] < times[i] - t) ? i - 1 : i;
  if (near < times.length && Math.abs(times[near] - t) < 0.3) {
    const rr = near ? (times[near] - times[near - 1]) * 1000 : null;
    lines.push(`${symbols ? `beat ${symbols[near]}` : "beat"} at ${clock(times[near], 2)}${rr ? `, R-R ${Math.round(rr)} ms` : ""}`);
  }
  for (const [name, start, stop] of now.recording?.rhythm ?? []) if (t >= start && t < stop) lines.push(`rhythm (${name}`);
  return lines.slice(0, 6).join("\n");
}
