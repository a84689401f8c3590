// The table of episodes: filters, sorting, links.

const STATES = { failed: "error", damaged: "damaged", missing: "not played" };
const LOW_SCORE = 0.5;
const PROBLEMS = [
  ["failed", "error", (row) => row.state === "failed" || row.state === "damaged"],
  ["unplayed", "not played", (row) => row.state === "missing"],
  ["empty", "empty ledger", (row) => row.empty],
  ["missed", "missed events", (row) => row.missed > 0],
  ["late", "late", (row) => row.late > 0],
  ["low", `score under ${LOW_SCORE}`, (row) => isNumber(row.score) && row.score < LOW_SCORE],
];
const COLUMNS = [
  ["episode", (row) => row.id, true],
  ["task", (row) => row.task, true],
  ["score", (row) => (row.state === "played" ? row.score : row.state === "missing" ? 2 : -1)],
  ["events", (row) => row.events],
  ["missed", (row) => row.missed],
  ["delay, s", (row) => row.delay],
  ["writes", (row) => row.writes],
  ["skims", (row) => row.skims],
  ["measures", (row) => row.measures],
  ["bad calls", (row) => row.errors],
  ["length", (row) => row.duration],
];

const table = { rows: [], shown: [], column: 2, down: false, problems: new Set() };

function setUpTable(rows, lateSeconds) {
  table.rows = rows;
  for (const [id, key] of [["task", "task"], ["database", "database"]]) {
    for (const value of [...new Set(rows.map((row) => row[key]))].sort()) {
      byId(id).append(make("option", { value }, words(value)));
    }
    byId(id).addEventListener("change", drawTable);
  }
  byId("search").addEventListener("input", drawTable);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("clear").addEventListener("click", clearFilters);
  for (const [name, label, test] of PROBLEMS) {
    const count = rows.filter(test).length;
    const title = name === "late" ? `an event answered over ${lateSeconds} s after any causal agent could` : null;
    const chip = make("button", { type: "button", class: "chip", "aria-pressed": "false", title, "data-problem": name,
      onclick: () => toggleProblem(name, chip) }, name === "late" ? `${label}, over ${lateSeconds} s` : label, make("b", {}, count));
    chip.disabled = !count;
    byId("problems").append(chip);
  }
  byId("columns").append(make("tr", {}, ...COLUMNS.map(([label], column) =>
    make("th", { scope: "col", class: COLUMNS[column][2] ? "text" : "" },
      make("button", { type: "button", onclick: () => sortBy(column) }, label)))));
  drawTable();
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
  table.down = column === table.column && !table.down;
  table.column = column;
  drawTable();
}

function chosenRows() {
  const text = byId("search").value.trim().toLowerCase(), task = byId("task").value, database = byId("database").value;
  const tests = PROBLEMS.filter(([name]) => table.problems.has(name)).map(([, , test]) => test);
  return table.rows.filter((row) => (!task || row.task === task) && (!database || row.database === database)
    && (!tests.length || tests.some((test) => test(row)))
    && (!text || `${row.id} ${row.patient} ${row.error ?? ""} ${STATES[row.state] ?? ""}`.toLowerCase().includes(text)));
}

function drawTable() {
  const key = COLUMNS[table.column][1], sign = table.down ? -1 : 1;
  const value = (row) => key(row) ?? (table.down ? -Infinity : Infinity);
  table.shown = chosenRows().sort((a, b) => {
    const x = value(a), y = value(b);
    return (x < y ? -1 : x > y ? 1 : 0) * sign || a.index - b.index;
  });
  byId("columns").querySelectorAll("th").forEach((head, column) =>
    column === table.column ? head.setAttribute("aria-sort", table.down ? "descending" : "ascending")
      : head.removeAttribute("aria-sort"));
  byId("rows").replaceChildren(...table.shown.map(tableRow));
  byId("count").textContent = `${table.shown.length} of ${table.rows.length} episodes`;
  byId("none").hidden = table.shown.length > 0;
}

function tableRow(row) {
  const link = make("a", { href: episodeLink(row.id) }, `${row.database}/${row.record}`);
  const cells = [make("td", {}, link), make("td", { class: "text" }, words(row.task)), ...scoreCells(row)];
  return make("tr", { "data-state": row.state, onclick: (event) => { if (event.target !== link) link.click(); } }, ...cells);
}

function scoreCells(row) {
  if (row.state !== "played") {
    const label = make("span", { class: `state ${row.state}` }, STATES[row.state]);
    const note = row.error ?? (row.state === "damaged" ? "Its transcript cannot be read." : "");
    return [make("td", {}, label), make("td", { class: "text error", colspan: COLUMNS.length - 3 }, note)];
  }
  const bar = make("span", { class: "scorebar", "aria-hidden": "true" }, make("i"));
  bar.firstChild.style.width = `${100 * clamp(row.score ?? 0, 0, 1)}%`;
  const score = isNumber(row.score) ? [bar, number(row.score)] : ["no truth"];
  const cells = [row.events, row.missed ?? "–", number(row.delay, 1), row.writes, row.skims, row.measures, row.errors,
    clock(row.duration)];
  return [make("td", {}, ...score), ...cells.map((cell) => make("td", {}, cell))];
}
