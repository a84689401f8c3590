// The transcript: a list that draws only the rows in sight, and one step in full.

const ROW = 26, MOST_ROWS = 16;
const GLYPHS = { skim: "→", measure: "⊢", write: "✎", finish: "■", other: "?" };

/** A step as the page knows it, whatever the line held. */
function readStep(raw, index) {
  const action = isObject(raw.action) ? raw.action : { name: String(raw.action ?? "") };
  let given = action.arguments;
  if (typeof given === "string") {
    try { given = JSON.parse(given); } catch { given = { text: given }; }
  }
  const result = isObject(raw.result) ? raw.result : {};
  const kind = ["skim", "measure", "write", "finish"].includes(action.name) ? action.name : "other";
  return {
    index, n: raw.n ?? index + 1, raw, kind, name: String(action.name ?? "no name"), given: isObject(given) ? given : {},
    result, failed: "error" in result, cursor: isNumber(raw.cursor) ? raw.cursor : null,
    reward: isObject(raw.reward) ? raw.reward : null, model: raw.model ?? null, limit: raw.limit === undefined ? null : textOf(raw.limit),
  };
}

const bounds = (...pairs) => pairs.find(([start, stop]) => isNumber(start) && isNumber(stop)) ?? null;

function stepSpan({ result, given }) {
  return bounds([result.t0, result.t1], [given.t0, given.t1]);
}

function sayStep(step) {
  const { kind, given, result, failed } = step, reach = stepSpan(step);
  const where = reach ? `${clock(reach[0])}–${clock(reach[1])}` : "";
  if (failed) return `${step.name}: ${textOf(result.error)}`;
  if (kind === "skim") return `${span(given.duration)} · peak ${number(result.peak)} at ${clock(result.peak_t0)}`;
  if (kind === "measure") return `${given.tool ?? result.tool} ${where}${sayFindings(result)}`;
  if (kind === "write") return `${result.type ?? given.type ?? ""} ${where}${isNumber(result.confidence) ? ` · ${result.confidence}` : ""}`;
  return kind === "finish" ? (step.limit === null ? "finish" : `finish, called by the runner (limit: ${step.limit})`) : textOf(step.raw.action);
}

function sayFindings(result) {
  const skipped = ["tool", "t0", "t1", "source", "beats", "reasons"];
  const parts = Object.entries(result).filter(([name, value]) => !skipped.includes(name) && !Array.isArray(value) && value !== null);
  return parts.length ? ` · ${parts.slice(0, 3).map(([name, value]) => `${words(name)} ${textOf(value)}`).join(", ")}` : "";
}

function textOf(value) {
  if (typeof value === "string") return value;
  if (isObject(value)) return Object.entries(value).map(([name, one]) => `${name} ${textOf(one)}`).join(", ");
  return typeof value === "number" ? String(Number(value.toFixed(4))) : JSON.stringify(value) ?? "";
}

function setUpTranscript() {
  const list = byId("steps");
  list.addEventListener("scroll", drawRows);
  list.addEventListener("keydown", (event) => {
    const page = Math.floor(list.clientHeight / ROW) - 1, at = now.listed.indexOf(now.step);
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: now.listed.length - 1 };
    if (!(event.key in moves) || !now.listed.length) return;
    event.preventDefault();
    selectStep(now.listed[clamp(moves[event.key], 0, now.listed.length - 1)]);
  });
  byId("kinds").addEventListener("change", listSteps);
}

function listSteps() {
  const kind = byId("kinds").value;
  now.listed = now.steps.filter((step) => !kind || ({ error: step.failed, model: step.model !== null }[kind] ?? step.kind === kind)).map((step) => step.index);
  byId("sizer").style.height = `${now.listed.length * ROW}px`;
  byId("steps").style.height = `${clamp(now.listed.length, 3, MOST_ROWS) * ROW + 2}px`;
  drawRows();
}

function drawRows() {
  const list = byId("steps"), sizer = byId("sizer");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4), last = Math.min(now.listed.length, first + Math.ceil(list.clientHeight / ROW) + 9);
  const rows = [];
  for (let i = first; i < last; i++) rows.push(stepRow(now.steps[now.listed[i]], i));
  sizer.replaceChildren(...rows);
  const chosen = byId(`step-${now.step}`);
  if (chosen) list.setAttribute("aria-activedescendant", chosen.id); else list.removeAttribute("aria-activedescendant");
  if (!now.listed.length) sizer.replaceChildren(make("p", { class: "empty fine row" }, now.steps.length ? "No such step." : "No step is kept here."));
}

function stepRow(step, place) {
  const row = make("div", { id: `step-${step.index}`, class: `row ${step.kind}${step.failed ? " bad" : ""}`, role: "option",
    "aria-selected": step.index === now.step, "aria-posinset": place + 1, "aria-setsize": now.listed.length,
    onclick: () => selectStep(step.index) },
  make("span", { class: "at" }, clock(step.cursor)),
  make("span", { class: "glyph", "aria-hidden": "true" }, step.failed ? "!" : GLYPHS[step.kind]),
  make("span", { class: "said" }, `${step.kind === "finish" || step.failed ? "" : `${step.name} `}${sayStep(step)}`),
  isNumber(step.seconds) && step.seconds >= 0.05 ? make("span", { class: "talk" }, duration(step.seconds)) : null,
  step.model !== null ? make("span", { class: "talk", title: "with a request to the model" }, "❝") : null);
  row.style.top = `${place * ROW}px`;
  return row;
}

/** Select a step; `follow` also moves the timeline and the strip to what it looked at. */
function selectStep(index, { follow = true } = {}) {
  now.step = now.steps[index] ? index : -1;
  const step = now.steps[now.step], list = byId("steps");
  let place = now.listed.indexOf(now.step);
  if (step && place < 0) {
    byId("kinds").value = "";
    listSteps();
    place = now.step;
  }
  const top = place * ROW;
  if (step && (top < list.scrollTop || top > list.scrollTop + list.clientHeight - ROW)) list.scrollTop = top - list.clientHeight / 2;
  drawRows();
  drawStep(step);
  const reach = step && (stepSpan(step) ?? (step.cursor === null ? null : [step.cursor, step.cursor]));
  if (follow && reach) showAt(placeOf(step, reach));
  else draw();
}

/** Where to look for a step: a skim's peak, a short window's middle, a long one's start. */
function placeOf(step, [start, stop]) {
  if (step.kind === "skim" && isNumber(step.result.peak_t0)) return (step.result.peak_t0 + step.result.peak_t1) / 2;
  const listed = Object.entries(step.result).find(([name, value]) => name.endsWith("_times") && isNumber(value?.[0]));
  if (listed) return listed[1][0];
  return stop - start <= 2 * (now.strip[1] - now.strip[0]) ? (start + stop) / 2 : start;
}

/** The step that had let time pass to `t`: the last one whose cursor is not before it. */
function stepAt(t) {
  return now.steps.find((step) => step.cursor !== null && step.cursor >= t - 1e-9)?.index ?? now.steps.length - 1;
}

function drawStep(step) {
  const box = byId("step");
  if (!step) {
    box.replaceChildren(make("p", { class: "fine" }, now.steps.length ? "Choose a step, or click the timeline." : ""));
    return;
  }
  const took = isNumber(step.seconds) ? ` · took ${duration(step.seconds)}` : "";
  const parts = [make("h4", {}, `Step ${textOf(step.n)} · ${step.name} · cursor ${clock(step.cursor, 1)}${took}`)];
  if (step.limit !== null) parts.push(make("p", { class: "notice" }, `The runner called finish: the limit of ${step.limit} was reached.`));
  parts.push(values({ ...step.given }), make("h4", {}, "result"), values(step.result));
  if (step.reward && Object.keys(step.reward).length) parts.push(make("h4", {}, "reward"), values(step.reward));
  if (step.model !== null) parts.push(...modelParts(step));
  parts.push(make("details", {}, make("summary", {}, "As recorded"), make("pre", {}, JSON.stringify(step.raw, null, 1))));
  box.replaceChildren(...parts);
  box.scrollTop = 0;
}

function values(held) {
  const entries = Object.entries(held);
  if (!entries.length) return make("p", { class: "fine" }, "nothing");
  return make("dl", {}, ...entries.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, sayValue(name, value))]));
}

function sayValue(name, value) {
  if (isNumber(value) && /^(t0|t1|peak_t0|peak_t1|cursor)$/.test(name)) return `${clock(value, 2)} (${Number(value.toFixed(3))} s)`;
  if (name === "bins" && Array.isArray(value)) return value.map((bin) => (Array.isArray(bin) ? textOf(bin[2]) : textOf(bin))).join("  ");
  if (Array.isArray(value)) return value.length ? value.map(textOf).join(", ") : "none";
  return textOf(value);
}
