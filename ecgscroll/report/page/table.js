// The table of episodes: filters, sorting, links.

const STATES = { failed: "error", damaged: "damaged", missing: "not played" };
const LIMITS = ["steps", "tokens", "time", "cost"];
const LOW_SCORE = 0.5;
const PROBLEMS = [
  ["failed", "error", (row) => row.state === "failed" || row.state === "damaged"],
  ["unplayed", "not played", (row) => row.state === "missing"],
  ["empty", "empty ledger", (row) => row.empty],
  ["missed", "missed events", (row) => row.missed > 0],
  ["late", "late", (row) => row.late > 0],
  ["low", `score under ${LOW_SCORE}`, (row) => isNumber(row.score) && row.score < LOW_SCORE],
  ["limit", "stopped by a limit", (row) => stoppedBy(row)?.startsWith("limit")],
  ["budget", "stopped by the budget", (row) => stoppedBy(row) === "budget"],
];
const RARE = ["limit", "budget"]; // shown where a run has any
const tokensOf = (row) => (row.usage ? (row.usage.prompt_tokens ?? 0) + (row.usage.completion_tokens ?? 0) : null);

/** Name, sorting key, cell; the first ones, to `task`, are there for episodes without a result too. */
const COLUMNS = [
  { name: "episode", key: (row) => row.id, text: true, cell: (row) => rowLink(row) },
  { name: "rollout", key: (row) => row.rollout, text: true, cell: (row) => [rolloutName(row.rollout), spread(row)], when: () => table.rollouts > 1 },
  { name: "score", key: (row) => (row.state === "played" ? row.score : row.state === "missing" ? 2 : -1), cell: (row) => scoreCell(row) },
  { name: "task", key: (row) => row.task, text: true, cell: (row) => words(row.task) },
  { name: "events", key: (row) => row.events, cell: (row) => row.events },
  { name: "missed", key: (row) => row.missed, cell: (row) => row.missed ?? "–" },
  { name: "delay, s", key: (row) => row.delay, cell: (row) => number(row.delay, 1) },
  { name: "writes", key: (row) => row.writes, cell: (row) => row.writes },
  { name: "skims", key: (row) => row.skims, cell: (row) => row.skims },
  { name: "measures", key: (row) => row.measures, cell: (row) => row.measures },
  { name: "bad calls", key: (row) => row.errors, cell: (row) => row.errors },
  { name: "tokens", key: tokensOf, cell: (row) => thousands(tokensOf(row)), when: (rows) => rows.some((row) => tokensOf(row)) },
  { name: "length", key: (row) => row.duration, cell: (row) => clock(row.duration) },
];

const table = { rows: [], shown: [], columns: [], sorted: null, down: false, problems: new Set(), rollouts: 1 };

const rolloutName = (rollout) => `r${rollout}`;

/** What stopped an episode before it called finish: its budget or a limit of the run; null if nothing did. */
function stoppedBy(row) {
  if (row.state !== "played") return null;
  return LIMITS.includes(row.ended) ? `limit: ${row.ended}` : row.ended === "budget" ? "budget" : null;
}

function setUpTable(rows, lateSeconds) {
  table.rows = rows;
  joinRollouts(rows);
  table.columns = COLUMNS.filter((column) => !column.when || column.when(rows));
  table.sorted = COLUMNS.find((column) => column.name === "score");
  for (const [id, key] of [["task", "task"], ["database", "database"]]) {
    for (const value of [...new Set(rows.map((row) => row[key]))].sort()) {
      byId(id).append(make("option", { value }, words(value)));
    }
  }
  for (let turn = 0; turn < table.rollouts; turn++) byId("rollout").append(make("option", { value: turn }, rolloutName(turn)));
  byId("of-rollouts").hidden = table.rollouts < 2;
  for (const id of ["task", "database", "rollout"]) byId(id).addEventListener("change", drawTable);
  byId("search").addEventListener("input", drawTable);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("clear").addEventListener("click", clearFilters);
  for (const [name, label, test] of PROBLEMS) {
    const count = rows.filter(test).length;
    if (!count && RARE.includes(name)) continue;
    const title = name === "late" ? `an event answered over ${lateSeconds} s after any causal agent could` : null;
    const chip = make("button", { type: "button", class: "chip", "aria-pressed": "false", title, "data-problem": name,
      onclick: () => toggleProblem(name, chip) }, name === "late" ? `${label}, over ${lateSeconds} s` : label, make("b", {}, count));
    chip.disabled = !count;
    byId("problems").append(chip);
  }
  byId("columns").append(make("tr", {}, ...table.columns.map((column) =>
    make("th", { scope: "col", class: column.text ? "text" : "" },
      make("button", { type: "button", onclick: () => sortBy(column) }, column.name)))));
  drawTable();
}

/** Tell every row of the other rollouts of its instance, and which of them did best and worst. */
function joinRollouts(rows) {
  const groups = new Map(rows.map((row) => [row.id, []]));
  for (const row of rows) groups.get(row.id).push(row);
  for (const mates of groups.values()) {
    const scored = mates.filter((row) => isNumber(row.score)), scores = scored.map((row) => row.score);
    const first = (score) => scored.find((row) => row.score === score) ?? mates[0];
    const best = first(Math.max(...scores)), worst = first(Math.min(...scores));
    const apart = scores.length ? best.score - worst.score : 0;
    for (const row of mates) Object.assign(row, { mates, apart, best: row === best, worst: row === worst });
    table.rollouts = Math.max(table.rollouts, mates.length);
  }
}

function toggleProblem(name, chip) {
  const on = !table.problems.delete(name);
  if (on) table.problems.add(name);
  chip.setAttribute("aria-pressed", String(on));
  drawTable();
}

function clearFilters() {
  byId("filters").reset();
  table.problems.clear();
  for (const chip of document.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", "false");
  drawTable();
}

function sortBy(column) {
  table.down = column === table.sorted && !table.down;
  table.sorted = column;
  drawTable();
}

function chosenRows() {
  const text = byId("search").value.trim().toLowerCase(), task = byId("task").value, database = byId("database").value;
  const turn = byId("rollout").value, some = table.rows.some((row) => row.apart > 0);
  const turns = { "": () => true, worst: (row) => row.worst, best: (row) => row.best, apart: (row) => !some || row.apart > 0 };
  const ofTurn = turns[turn] ?? ((row) => row.rollout === Number(turn));
  const tests = PROBLEMS.filter(([name]) => table.problems.has(name)).map(([, , test]) => test);
  return table.rows.filter((row) => (!task || row.task === task) && (!database || row.database === database) && ofTurn(row)
    && (!tests.length || tests.some((test) => test(row)))
    && (!text || `${row.id} ${row.patient} ${row.error ?? ""} ${STATES[row.state] ?? stoppedBy(row) ?? ""}`.toLowerCase().includes(text)));
}

function drawTable() {
  const { key } = table.sorted, sign = table.down ? -1 : 1;
  const value = (row) => key(row) ?? (table.down ? -Infinity : Infinity);
  const apart = byId("rollout").value === "apart";
  table.shown = chosenRows().sort((a, b) => {
    const x = value(a), y = value(b);
    return (apart ? b.apart - a.apart || (a.mates[0].index - b.mates[0].index) : 0) || (x < y ? -1 : x > y ? 1 : 0) * sign || a.index - b.index;
  });
  byId("columns").querySelectorAll("th").forEach((head, at) =>
    table.columns[at] === table.sorted && !apart ? head.setAttribute("aria-sort", table.down ? "descending" : "ascending")
      : head.removeAttribute("aria-sort"));
  byId("rows").replaceChildren(...table.shown.map(tableRow));
  byId("count").textContent = `${table.shown.length} of ${table.rows.length} episodes`;
  byId("none").hidden = table.shown.length > 0;
}

function tableRow(row) {
  const head = table.columns.findIndex((column) => column.name === "task") + 1;
  const columns = row.state === "played" ? table.columns : table.columns.slice(0, head);
  const cells = columns.map(({ cell, text }) => make("td", { class: text ? "text" : null }, ...[cell(row)].flat()));
  if (row.state !== "played") {
    const note = row.error ?? (row.state === "damaged" ? "Its transcript cannot be read." : "");
    cells.push(make("td", { class: "text error", colspan: table.columns.length - head }, make("div", {}, note)));
  }
  const link = cells[0].querySelector("a");
  return make("tr", { "data-state": row.state, onclick: (event) => { if (event.target !== link) link.click(); } }, ...cells);
}

const rowLink = (row) => make("a", { href: episodeLink(row), title: legible(row.id) }, `${row.database}/${row.record}`);

function scoreCell(row) {
  if (row.state !== "played") return make("span", { class: `state ${row.state}` }, STATES[row.state]);
  const stopped = stoppedBy(row);
  const tag = stopped && make("span", { class: "state stopped", title: "stopped before it called finish; its ledger was scored as it stood" }, stopped);
  if (!isNumber(row.score)) return [tag, "no truth"];
  const bar = make("span", { class: "scorebar", "aria-hidden": "true" }, make("i"));
  bar.firstChild.style.width = `${100 * clamp(row.score, 0, 1)}%`;
  return [tag, bar, number(row.score)];
}

/** The scores of all rollouts of an instance from 0 to 1, this one filled; those without a score are left out. */
function spread(row) {
  const wide = 64, at = (score) => 5 + (wide - 10) * clamp(score, 0, 1);
  const parts = [["path", { class: "axis", d: `M5 7H${wide - 5}` }]];
  const scored = row.mates.filter((one) => isNumber(one.score) && one !== row);
  for (const one of isNumber(row.score) ? [...scored, row] : scored) {
    parts.push(["circle", { class: one === row ? "this" : "other", cx: at(one.score).toFixed(1), cy: 7, r: one === row ? 4 : 3 }]);
  }
  const lost = Object.keys(STATES).map((state) => [row.mates.filter((one) => one.state === state).length, STATES[state]]).filter(([n]) => n);
  const said = row.mates.map((one) => `${rolloutName(one.rollout)} ${scoreText(one)}`).join(", ");
  const drawn = drawing(wide, 14, said, parts);
  return lost.length ? make("span", { class: "spread" }, drawn, make("span", { class: "lost" }, lost.map(([n, state]) => `${n} of ${row.mates.length} ${state}`).join(", "))) : drawn;
}

const scoreText = (row) => (row.state !== "played" ? STATES[row.state] : isNumber(row.score) ? number(row.score) : "no truth");

function drawing(width, height, said, parts) {
  const svg = (tag, properties) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
    return element;
  };
  const whole = svg("svg", { class: "rolls", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said });
  const title = svg("title", {});
  title.textContent = said;
  whole.append(title, ...parts.map(([tag, properties]) => svg(tag, properties)));
  return whole;
}
