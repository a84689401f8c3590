// Packs: gzip in base64; JSON, and behind it arrays as differences with all low bytes first.

async function unpack(id) {
  const holder = byId(id);
  if (!holder) return null;
  const text = atob(holder.textContent.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const value = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { value, arrays: bytes.subarray(4 + length) };
}

/** The array that a reference stands for. */
function unwind(arrays, reference) {
  const { at, n, type } = reference;
  const size = { i1: 1, i2: 2, i4: 4 }[type];
  const out = new { i1: Int8Array, i2: Int16Array, i4: Int32Array }[type](n);
  for (let plane = 0; plane < size; plane++) {
    const from = at + plane * n;
    for (let i = 0; i < n; i++) out[i] |= arrays[from + i] << (8 * plane);
  }
  for (let i = 1; i < n; i++) out[i] += out[i - 1]; // wraps, as the writer's differences did
  return out;
}

const MARKS = ["p_on_ms", "p_off_ms", "qrs_on_ms", "qrs_off_ms", "t_peak_ms", "t_off_ms"];
const NO_TIME = -32768;

const opened = { name: null, recording: null };
/** A recording with its arrays, times in seconds; the last one is kept for its other episodes. */
async function openRecording(name, index) {
  if (opened.name !== name) {
    opened.recording = await readRecording(index);
    opened.name = name;
  }
  return opened.recording;
}

async function readRecording(index) {
  const pack = await unpack(`r${index}`);
  if (!pack) return null;
  const { value, arrays } = pack;
  const read = (reference) => unwind(arrays, reference);
  const seconds = (reference) => Float64Array.from(read(reference), (sample) => sample / value.fs);
  const beats = value.beats;
  const recording = {
    ...value,
    beats: {
      source: beats.source, whole: beats.whole, times: seconds(beats.times),
      symbols: beats.symbols && decodeSymbols(read(beats.symbols)),
      band: beats.band && { bucket: beats.band.bucket_s, low: read(beats.band.low), high: read(beats.band.high) },
    },
    windows: value.windows.map((window) => ({
      start: window.start / value.fs, stop: (window.start + window.n) / value.fs, first: window.start,
      leads: window.leads.map(read),
      r: seconds(window.marks.r), ectopic: read(window.marks.ectopic),
      marks: Object.fromEntries(MARKS.map((mark) => [mark, read(window.marks[mark])])),
    })),
    levels: value.envelope
      ? pyramid(value.envelope.bucket_s, value.envelope.low.map(read), value.envelope.high.map(read)) : [],
  };
  recording.gains = recording.leads.map((_, lead) => gainOf(recording, lead));
  return recording;
}

function decodeSymbols(codes) {
  let text = "";
  for (let i = 0; i < codes.length; i += 4096) text += String.fromCharCode(...codes.subarray(i, i + 4096));
  return text;
}

const EMPTY = -128;

/** Levels of an envelope, each four times as coarse as the one before. */
function pyramid(bucket, low, high) {
  const levels = [{ bucket, low, high }];
  while (levels[levels.length - 1].low[0]?.length > 500) {
    const fine = levels[levels.length - 1];
    levels.push({
      bucket: fine.bucket * 4,
      low: fine.low.map((lead) => joined(lead, Math.min)),
      high: fine.high.map((lead) => joined(lead, Math.max)),
    });
  }
  return levels;
}

function joined(lead, choose) {
  const out = new Int8Array(Math.ceil(lead.length / 4)).fill(EMPTY);
  for (let i = 0; i < lead.length; i++) {
    const at = i >> 2;
    if (lead[i] !== EMPTY) out[at] = out[at] === EMPTY ? lead[i] : choose(out[at], lead[i]);
  }
  return out;
}

/** Millimetres per millivolt at which nearly all of a lead fits: 20, 10, 5 or 2.5. */
function gainOf(recording, lead) {
  const top = recording.levels.find((level) => level.bucket >= 0.8) ?? recording.levels[recording.levels.length - 1];
  if (!top) return 10; // stretches of a beat or more: shorter ones often miss the R wave
  const extents = [];
  for (let i = 0; i < top.low[lead].length; i++) {
    if (top.low[lead][i] !== EMPTY) {
      extents.push(Math.max(Math.abs(top.low[lead][i]), Math.abs(top.high[lead][i])));
    }
  }
  extents.sort((a, b) => a - b);
  const typical = (extents[Math.floor(extents.length * 0.9)] ?? 20) * recording.band_mv;
  return [20, 10, 5].find((gain) => typical * gain <= 18) ?? 2.5;
}

/** Index of the first of sorted values that is not below `value`. */
function lowerBound(values, value) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}
