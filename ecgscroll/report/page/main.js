// The page: one place in the address for what is shown, so that a moment can be sent as a link.

const now = { row: null, events: [], writes: [], skims: [], measures: [], steps: [], listed: [], step: -1,
  recording: null, total: 1, view: [0, 1], strip: [0, 10], cue: null, cueTop: 1, told: [] };
const page = { title: document.title, rows: [], recordings: new Map(), drawing: 0, turn: 0 };

/** The part of the address that names an episode; the first rollout needs no number. */
const episodeLink = ({ id, rollout }) => `#episode=${encodeURIComponent(wellFormed(id))}${rollout ? `&rollout=${rollout}` : ""}`;

async function start() {
  readPalette();
  const { value: rows } = await unpack("index");
  const { value: names } = await unpack("names");
  rows.forEach((row, index) => { row.index = index; });
  page.rows = rows;
  names.recordings.forEach((one, index) => page.recordings.set(one.name, { ...one, index }));
  setUpTable(rows, names.late_s);
  setUpTranscript();
  setUpControls();
  drawLegends();
  window.addEventListener("hashchange", route);
  window.addEventListener("resize", draw);
  const repaint = () => { readPalette(); drawLegends(); drawNow(); };
  for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", repaint);
  for (const [moment, printing] of [["beforeprint", true], ["afterprint", false]]) {
    window.addEventListener(moment, () => { document.documentElement.classList.toggle("printing", printing); repaint(); });
  }
  await route();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

async function route() {
  const turn = ++page.turn, place = new URLSearchParams(location.hash.slice(1)), id = place.get("episode");
  const row = page.rows.find((one) => wellFormed(one.id) === id && one.rollout === Number(place.get("rollout") ?? 0));
  const was = now.row;
  tip("");
  document.body.classList.toggle("reading", Boolean(row));
  if (!row) {
    now.row = null;
    document.title = page.title;
    byId("home").hidden = false;
    byId("episode").hidden = true;
    if (was) document.querySelector(`#rows a[href="${CSS.escape(episodeLink(was))}"]`)?.focus();
    return;
  }
  if (was !== row) await openEpisode(row, turn);
  if (turn !== page.turn) return;
  const step = Number(place.get("step")) - 1, t = place.get("t");
  if (place.has("step") && now.steps[step]) selectStep(step);
  if (t !== null && isNumber(Number(t))) {
    if (!place.has("step")) selectStep(stepAt(Number(t)), { follow: false });
    showAt(Number(t), Number(place.get("span")) || undefined);
  }
}

async function openEpisode(row, turn) {
  const name = `${row.database}/${row.record}`;
  const [story, recording] = await Promise.all([unpack(`e${row.index}`), openRecording(name, page.recordings.get(name)?.index)]);
  if (turn !== page.turn) return;
  readEpisode(row, story.value, recording);
  byId("home").hidden = true;
  byId("episode").hidden = false;
  const turned = row.mates.length > 1 ? rolloutName(row.rollout) : null;
  byId("name").textContent = legible([name, words(row.task), turned && `rollout ${turned}`].filter(Boolean).join(" · "));
  document.title = legible(`${row.id}${turned ? ` ${turned}` : ""} – ECG-Scroll run`);
  drawRollouts(row);
  byId("figures").replaceChildren(...figures(row).map(([label, value]) => make("div", {}, make("dt", {}, label), make("dd", {}, value))));
  byId("kinds").value = "";
  listSteps();
  sayTrouble(row, story.value, page.recordings.get(name)?.note);
  byId("previous").disabled = !neighbour(-1);
  byId("next").disabled = !neighbour(1);
  byId("steps").scrollTop = 0;
  const event = now.events.find((one) => one.missed) ?? now.events[0] ?? null;
  const first = event?.on ?? now.writes[0]?.t0 ?? Math.min(5, now.total / 2);
  const found = event && !event.missed ? now.writes.find((write) => write.stamp >= event.stamp - 1e-6) : null;
  byId("marks").hidden = !now.recording?.leads.length;
  selectStep(found?.step ?? stepAt(first), { follow: false });
  showAt(first, paperSpan());
  window.scrollTo(0, 0);
  byId("name").focus({ preventScroll: true });
}

/** Everything that is drawn, out of the ledger, the truth and the steps. */
function readEpisode(row, story, recording) {
  now.row = row;
  now.recording = recording;
  now.steps = story.steps.filter(isObject).map(readStep);
  const timed = story.seconds?.length === now.steps.length;
  now.steps.forEach((step, index) => { step.seconds = timed ? story.seconds[index] : null; });
  now.told = readTalk(now.steps);
  now.step = -1;
  now.total = row.duration ?? recording?.duration ?? Math.max(60, ...now.steps.map((step) => step.cursor ?? 0));
  now.view = [0, now.total];
  now.events = story.events.map(([on, off], index) => {
    const delay = story.delays[index] ?? null, scored = index < story.delays.length;
    return { on, off, delay, missed: scored && delay === null, stamp: delay === null ? null : on + delay };
  });
  const writing = now.steps.filter((step) => step.kind === "write" && !step.failed);
  now.writes = story.ledger.filter((entry) => isNumber(entry.t0) && isNumber(entry.t1)).map((entry, index) => ({
    ...entry, stamp: isNumber(entry.cursor) ? entry.cursor : now.total,
    step: writing.length === story.ledger.length ? writing[index].index : null,
  }));
  now.skims = now.steps.filter((step) => step.kind === "skim" && stepSpan(step)).map((step) => {
    const [t0, t1] = stepSpan(step), bins = Array.isArray(step.result.bins) ? step.result.bins.filter(Array.isArray) : [];
    const middle = bounds([step.result.peak_t0, step.result.peak_t1]);
    return { t0, t1, bins, peak: step.result.peak, peakAt: middle ? (middle[0] + middle[1]) / 2 : t0, step: step.index };
  });
  now.cue = now.steps.find((step) => typeof step.result.cue === "string")?.result.cue ?? null;
  now.cueTop = now.skims.reduce((top, { bins }) => bins.reduce((most, bin) => (isNumber(bin[2]) ? Math.max(most, bin[2]) : most), top), 0);
  let skimmed = 0;
  now.measures = [];
  for (const step of now.steps) {
    const reach = stepSpan(step);
    if (step.kind === "skim" && isNumber(step.result.t0)) skimmed = step.result.t0;
    if (step.kind !== "measure" || !reach) continue;
    now.measures.push({ t0: reach[0], t1: reach[1], tool: String(step.given.tool ?? step.result.tool ?? "measure"),
      failed: step.failed, rewound: !step.failed && reach[0] < skimmed - 1e-6, step: step.index });
  }
}

/** Links to all rollouts of an instance, with their scores. */
function drawRollouts(row) {
  const box = byId("rollouts"), scored = row.mates.filter((one) => isNumber(one.score));
  const mark = (one) => (scored.length > 1 && row.apart > 0 ? (one.best ? " best" : one.worst ? " worst" : "") : "");
  box.hidden = row.mates.length < 2;
  box.replaceChildren("Rollouts ", ...row.mates.map((one) => make("a", { href: episodeLink(one), "aria-current": one === row ? "page" : null,
    class: one.state === "played" ? null : "lost" }, make("b", {}, rolloutName(one.rollout)), ` ${scoreText(one)}${mark(one)}`)));
}

const ENDED = { finish: "by finish", budget: "by its budget", error: "by an error", steps: "by the limit of steps", tokens: "by the limit of tokens",
  time: "by the limit of time", cost: "by the limit of cost" };

function figures(row) {
  const share = (value) => (isNumber(value) ? number(value) : "–");
  const found = [["score", row.score === null ? STATES[row.state] ?? "no truth" : number(row.score)]];
  if (isNumber(row.answer) || isNumber(row.truth)) {
    const seconds = /change|rare/.test(row.task);
    found.push(["answer", seconds ? clock(row.answer, 1) : share(row.answer)], ["truth", seconds ? clock(row.truth, 1) : share(row.truth)]);
  }
  const rest = { events: row.events, missed: row.missed, "delay, median": isNumber(row.delay) ? `${number(row.delay, 1)} s` : "–",
    skims: row.skims, measures: row.measures, writes: row.writes, rewinds: row.rewinds, "bad calls": row.errors,
    length: clock(row.duration), "read to": clock(row.cursor_s), ended: ENDED[row.ended] ?? row.ended, beats: row.beats, patient: row.patient };
  if (row.usage) Object.assign(rest, { requests: thousands(row.usage.requests), "tokens in, out": `${thousands(row.usage.prompt_tokens)}, ${thousands(row.usage.completion_tokens)}` });
  if (isNumber(row.usage?.cost)) rest.cost = row.usage.cost.toPrecision(3);
  if (isNumber(row.seconds)) rest["wall time"] = duration(row.seconds) + (row.model_seconds > 0 ? ` (model ${duration(row.model_seconds)})` : "");
  return [...found, ...Object.entries(rest).map(([label, value]) => [label, value ?? "–"])];
}

function sayTrouble(row, story, note) {
  const lines = [];
  if (row.state === "missing") lines.push("This episode has not been played yet.");
  if (row.state === "damaged") lines.push("Its transcript is damaged; running the same command again plays it anew.");
  if (row.error) lines.push(`It ended in an error and has no score: ${row.error}`);
  if (stoppedBy(row)) lines.push(`It was stopped ${ENDED[row.ended]} before it called finish; its ledger was scored as it stood.`);
  if (row.unread && row.state !== "damaged") lines.push(`${row.unread} lines of its transcript cannot be read.`);
  if (note) lines.push(note);
  if (story.level === "none" && story.of) lines.push(`Its ${story.of} steps are left out to keep the page small (--max-mb).`);
  byId("trouble").textContent = legible(lines.join(" "));
  byId("trouble").hidden = !lines.length;
  byId("steps-note").hidden = story.level !== "brief";
  byId("steps-note").textContent = "Results are shortened and what was sent to a model is left out, to keep the page small (--max-mb); the run's transcript has all of it.";
}

/** Seconds that the strip shows at 25 mm/s, but no fewer than 3. */
function paperSpan() {
  const width = byId("strip").parentElement.clientWidth || 1000;
  return Math.max(3, width / (25 * MM));
}

/** Put the strip at a time, and the timeline where it can be seen. */
function showAt(t, seconds = now.strip[1] - now.strip[0]) {
  const at = clamp(t, 0, now.total);
  now.strip = held(at - seconds / 2, at + seconds / 2, now.total, 0.5);
  const [a, b] = now.view;
  if (at < a || at > b) now.view = held(at - (b - a) / 2, at + (b - a) / 2, now.total, 2);
  draw();
}

function draw() {
  if (!now.row || page.drawing) return;
  page.drawing = requestAnimationFrame(() => { page.drawing = 0; drawNow(); });
}

/** Draw at once: what is printed waits for no frame. */
function drawNow() {
  if (!now.row || byId("episode").hidden) return;
  drawTimeline();
  drawStrip();
}

function neighbour(by) {
  const at = table.shown.indexOf(now.row);
  return at < 0 ? undefined : table.shown[at + by];
}

function goToEvent(by) {
  const middle = (now.strip[0] + now.strip[1]) / 2;
  const times = [...new Set([...now.events.map((event) => event.on), ...now.writes.map((write) => write.t0)])].sort((p, q) => p - q);
  const t = by > 0 ? times.find((time) => time > middle + 0.05) : times.findLast((time) => time < middle - 0.05);
  if (t === undefined) return;
  const write = now.writes.find((one) => one.t0 === t);
  selectStep(write?.step ?? stepAt(t), { follow: false });
  showAt(t);
}

function setUpControls() {
  const lookTimeline = (a, b) => { now.view = held(a, b, now.total, 2); draw(); };
  const lookStrip = (a, b) => { now.strip = held(a, b, now.total, 0.5); draw(); };
  const overview = navigable(byId("timeline"), {
    view: () => now.view, look: lookTimeline, frame: () => [timeline.left, timeline.right], click: clickTimeline,
    hover: (t, y, event) => tip(t === null ? "" : sayHit(t, hit(t, y)), event),
  });
  const close = navigable(byId("strip"), {
    view: () => now.strip, look: lookStrip, frame: () => [strip.left, strip.right],
    click: (t) => selectStep(stepAt(t), { follow: false }),
    hover: (t, y, event) => tip(t === null ? "" : sayStripAt(t), event),
  });
  const paper = () => { const middle = (now.strip[0] + now.strip[1]) / 2; showAt(middle, paperSpan()); };
  const all = () => lookTimeline(0, now.total);
  const on = (id, act) => byId(id).addEventListener("click", act);
  on("t-in", () => zoomToStrip(overview, 0.5));
  on("t-out", () => overview.zoomBy(2));
  on("t-all", all);
  on("s-in", () => close.zoomBy(0.5));
  on("s-out", () => close.zoomBy(2));
  on("s-paper", paper);
  on("s-left", () => close.moveBy(-0.5));
  on("s-right", () => close.moveBy(0.5));
  on("e-before", () => goToEvent(-1));
  on("e-after", () => goToEvent(1));
  on("nearest", goToNearest);
  on("previous", () => { location.hash = episodeLink(neighbour(-1)); });
  on("next", () => { location.hash = episodeLink(neighbour(1)); });
  const keys = (whole, canvas, extra) => byId(canvas).addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { "+": () => extra.closer(), "=": () => extra.closer(), "-": () => whole.zoomBy(2), ArrowLeft: () => whole.moveBy(-0.2),
      ArrowRight: () => whole.moveBy(0.2), n: () => goToEvent(1), p: () => goToEvent(-1), Home: () => showAt(0),
      End: () => showAt(now.total), 0: extra.all }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  keys(overview, "timeline", { closer: () => zoomToStrip(overview, 0.5), all });
  keys(close, "strip", { closer: () => close.zoomBy(0.5), all: paper });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && now.row) location.hash = "#episodes";
  });
}

/** Zoom the timeline in around the strip if it is in sight, as a reader means it. */
function zoomToStrip(overview, factor) {
  const middle = (now.strip[0] + now.strip[1]) / 2, [a, b] = now.view;
  if (middle < a || middle > b) return overview.zoomBy(factor);
  const length = (b - a) * factor;
  now.view = held(middle - length / 2, middle + length / 2, now.total, 2);
  return draw();
}

function drawLegends() {
  const entry = (text, paint) => {
    const canvas = make("canvas", { "aria-hidden": "true" });
    canvas.width = 44;
    canvas.height = 28;
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    paint(pen);
    return make("li", {}, canvas, text);
  };
  const fill = (colour) => (pen) => { pen.fillStyle = palette[colour]; pen.fillRect(1, 2, 20, 10); };
  const span1 = (colour) => (pen) => { pen.strokeStyle = palette[colour]; pen.lineWidth = 1.5; line(pen, 2, 7, 20, 7); line(pen, 2, 3, 2, 11); line(pen, 20, 3, 20, 11); };
  const framed = (pen) => { pen.strokeStyle = pen.fillStyle = palette.written; pen.globalAlpha = 0.45; pen.fillRect(1, 2, 20, 10); pen.globalAlpha = 1; pen.lineWidth = 1.5; pen.strokeRect(1.75, 2.75, 18.5, 8.5); };
  const missed = (pen) => { pen.fillStyle = hatch(pen, palette.missed); pen.fillRect(1, 2, 20, 10); pen.strokeStyle = palette.missed; pen.strokeRect(1.5, 2.5, 19, 9); };
  const delay = (pen) => { pen.strokeStyle = pen.fillStyle = palette.late; pen.lineWidth = 1.5; line(pen, 3, 7, 18, 7); pen.beginPath(); pen.arc(3, 7, 2.2, 0, 7); pen.fill(); triangle(pen, 18, 10.5, palette.late); };
  const stamp = (pen) => triangle(pen, 11, 11, palette.written);
  const symbol = (pen) => { pen.fillStyle = palette.written; pen.font = "bold 11px sans-serif"; pen.textBaseline = "middle"; pen.textAlign = "center"; pen.fillText("V", 11, 7); };
  byId("legend").replaceChildren(entry("reference event", fill("truth")), entry("missed event", missed), entry("cue of the skims", fill("cue")),
    entry("measure", span1("measured")), entry("written", framed), entry("stamp", stamp), entry("onset to stamp", delay),
    entry("ventricular beat", (pen) => cross(pen, 11, 7, 3.5)));
  byId("marks").replaceChildren(entry("annotated beat, by its symbol", symbol), entry("beat detected", (pen) => triangle(pen, 11, 11, palette.accent)),
    entry("looks ventricular", stamp), entry("P", span1("measured")), entry("QRS", span1("accent")), entry("T, peak to end", span1("missed")),
    make("li", {}, "Squares at 25 mm/s: small 0.04 s × 1 mm, large 0.2 s × 5 mm"));
}

start();
