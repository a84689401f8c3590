// What a policy asked of its language model at a step, and what came back; all of it is text.

/**
 * Number the messages of an episode as its transcript first tells them, from 0, and say of every step
 * which were new to it. A step's new messages are the last ones that its request names: so numbers
 * hold even where a line of the transcript is lost.
 */
function readTalk(steps) {
  const told = [];
  for (const step of steps) {
    const model = step.model;
    if (!isObject(model)) continue;
    if (model.messages === undefined && model.context === undefined) continue; // left out of the page
    const news = Array.isArray(model.messages) ? model.messages : [];
    const runs = Array.isArray(model.context) ? model.context.filter(isRun) : [];
    const most = runs.reduce((top, [, last]) => Math.max(top, last), -1);
    const first = Math.max(0, runs.length && news.length ? most + 1 - news.length : told.length);
    news.forEach((one, at) => { told[first + at] = one; });
    step.talk = { first, n: news.length, runs: Array.isArray(model.context) ? runs : news.length ? [[first, first + news.length - 1]] : [] };
  }
  return told;
}

const MOST_MESSAGES = 100_000;
const isRun = (run) => Array.isArray(run) && run.length === 2 && run.every((one) => Number.isInteger(one) && one >= 0 && one < MOST_MESSAGES) && run[0] <= run[1];

/** Parts of a step's details: the reply, what it took, what was sent, what was sent before and now is not. */
function modelParts(step) {
  const { model, talk } = step;
  if (!isObject(model)) return [make("h4", {}, "model"), make("pre", {}, textOf(model))];
  const parts = [make("h4", {}, `model's reply${model.stop ? ` · stop: ${textOf(model.stop)}` : ""}`)];
  parts.push((model.reply ?? null) === null ? make("p", { class: "fine" }, "no text") : message("reply", model.reply));
  parts.push(make("p", { class: "fine taken" }, sayTaken(model, step.seconds)));
  parts.push(...(talk ? sentParts(talk) : [make("p", { class: "fine" }, "What was sent is not in the page.")]));
  const known = ["reply", "stop", "usage", "messages", "kept", "context"];
  const others = Object.fromEntries(Object.entries(model).filter(([name]) => !known.includes(name)));
  if (Object.keys(others).length) parts.push(make("h4", {}, "more of the model"), values(others));
  return parts;
}

/** Tokens and the like by name, with the step's wall time. */
function sayTaken(model, seconds) {
  const usage = isObject(model.usage) ? Object.entries(model.usage).filter(([, value]) => value !== null) : [];
  const said = usage.map(([name, value]) => (isNumber(value) && name.endsWith("_tokens") ? `${thousands(value)} ${words(name)}` : `${words(name)} ${textOf(value)}`));
  return [...said, isNumber(seconds) ? `${duration(seconds)} for the step` : null].filter(Boolean).join(" · ") || "no usage told";
}

/** Everything that was sent, in order; what earlier requests had already sent is folded. */
function sentParts({ first, n, runs }) {
  const total = runs.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const parts = [make("h4", {}, `sent: ${count(total, "message")}, ${n} of them new`)];
  let before = [];
  const fold = () => {
    if (before.length) parts.push(folded(`${sayBefore(before)}, as sent before`, before));
    before = [];
  };
  for (const [from, to] of runs.flatMap((run) => split(run, first))) {
    const told = from === 0 && roleOf(now.told[0]) === "system"; // stands alone
    if (from < first && told) {
      before.push([0, 0]);
      fold();
      if (to > 0) before.push([1, to]);
    } else if (from < first) before.push([from, to]);
    else {
      fold();
      parts.push(...messagesOf([[from, to]]));
    }
  }
  fold();
  return [...parts, ...droppedParts(first, runs)];
}

/** Messages that earlier requests sent and this one does not: what the context policy left out or rewrote. */
function droppedParts(first, runs) {
  const kept = [...runs].sort((a, b) => a[0] - b[0]), gaps = [];
  let from = 0;
  for (const [start, stop] of [...kept, [first, first]]) {
    if (start > from && from < first) gaps.push([from, Math.min(start, first) - 1]);
    from = Math.max(from, stop + 1);
  }
  if (!gaps.length) return [];
  return [make("h4", {}, "no longer sent: left out or rewritten by the context policy"), folded(sayCount(gaps, "earlier message"), gaps)];
}

const split = ([from, to], at) => (from < at && to >= at ? [[from, at - 1], [at, to]] : [[from, to]]);
const roleOf = (one) => (isObject(one) && typeof one.role === "string" ? one.role : "");

const sayBefore = (runs) => (runs.length === 1 && runs[0][1] === 0 && roleOf(now.told[0]) === "system" ? "system prompt" : sayCount(runs));

const sayRun = ([from, to]) => (from === to ? String(from) : `${from} to ${to}`);

/** "3 messages (0, 4 to 5)". */
function sayCount(runs, name = "message") {
  const total = runs.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const which = runs.slice(0, 4).map(sayRun).join(", ");
  return `${count(total, name)} (${which}${runs.length > 4 ? ", …" : ""})`;
}

/** Messages that are made when they are opened. */
function folded(title, runs) {
  const details = make("details", { class: "sent" }, make("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(...messagesOf(runs));
  });
  return details;
}

const MOST_SHOWN = 5000;
/** Messages by their numbers; stretches that the transcript does not have are one line each. */
function messagesOf(runs) {
  const parts = [];
  for (const [from, to] of runs) {
    for (let at = from; at <= to && parts.length < MOST_SHOWN; at++) {
      const one = now.told[at], start = at;
      if (one !== undefined) {
        parts.push(message(`${at} · ${roleOf(one)}`, one, roleOf(one)));
        continue;
      }
      while (at < to && now.told[at + 1] === undefined) at++;
      parts.push(make("p", { class: "fine" }, `${sayRun([start, at])}: not in the transcript`));
    }
  }
  if (parts.length >= MOST_SHOWN) parts.push(make("p", { class: "fine" }, "The rest is in the transcript."));
  return parts;
}

const ROLES = ["system", "user", "assistant", "tool", "reply"];
/** A message: its text, the calls it makes, and whatever else it holds. */
function message(label, said, role = label) {
  const extra = isObject(said) ? { ...said } : {};
  const answers = typeof extra.tool_call_id === "string" ? ` · answers #${extra.tool_call_id}` : "";
  const content = isObject(said) ? said.content ?? said.text : said;
  const calls = [said?.calls, said?.tool_calls].find((some) => Array.isArray(some) && some.length) ?? [];
  for (const name of ["role", "content", "text", "calls", "tool_calls", answers && "tool_call_id"]) delete extra[name];
  const text = typeof content === "string" ? content : content === undefined || content === null ? "" : JSON.stringify(content, null, 1);
  return make("div", { class: `message ${ROLES.includes(role) ? role : ""}` }, make("div", { class: "fine" }, label + answers),
    text ? make("pre", {}, text) : null,
    ...calls.map((call) => make("pre", { class: "call" }, sayCall(call))),
    !text && !calls.length ? make("p", { class: "fine" }, "no text") : null,
    Object.keys(extra).length ? make("pre", {}, JSON.stringify(extra, null, 1)) : null);
}

/** A call as code: name and arguments, which may be anything. */
function sayCall(call) {
  const held = isObject(call?.function) ? call.function : call;
  if (!isObject(held) || typeof held.name !== "string") return JSON.stringify(call);
  const given = typeof held.arguments === "string" ? held.arguments : JSON.stringify(held.arguments ?? {});
  return `${held.name}(${given})${typeof call.id === "string" && call.id ? `   #${call.id}` : ""}`;
}
