// Explore: every run as a line, with its splits below it; search, filters, sorting, CSV.
"use strict";
ready.then((data) => {
  const form = document.getElementById("find");
  const table = document.getElementById("runs");
  const more = document.getElementById("more");
  const STEP = 60;
  let limit = STEP;
  let sorted = {column: null, up: true};

  // A run stands in one line, with the names of all tables that show it.
  const byRun = new Map();
  for (const of of data.tables) {
    for (const [row, column, protocol, number] of of.places) {
      const name = of.name || "your store";
      const line = byRun.get(number);
      if (line) line.tables.add(name);
      else byRun.set(number, {number, run: data.runs[number], tables: new Set([name]), row: of.rows[row], method: of.columns[column], protocol: of.protocols[protocol]});
    }
  }
  const lines = [...byRun.values()];
  for (const line of lines) {
    const {algo, kernel, search, status, own, key} = line.run;
    line.table = [...line.tables].join(", ");
    line.state = status + (own ? ", yours" : "");
    line.text = [line.table, line.row, line.method, line.protocol, line.run.data, algo, kernel, search, line.state, key].join(" ").toLowerCase();
  }

  const mean = (name) => (line) => (line.run.mean[name] || [null])[0];
  const short = (value) => (value === null || value === undefined ? "" : String(Number(Number(value).toPrecision(4))));
  const COLUMNS = [
    ["table", (line) => line.table], ["data", (line) => line.row], ["method", (line) => line.method],
    ["protocol", (line) => line.protocol], ["algorithm", (line) => line.run.algo], ["kernel", (line) => line.run.kernel],
    ["search", (line) => line.run.search], ["state", (line) => line.state],
    ["splits", (line) => line.run.splits.length, true], ["samples", (line) => line.run.n_train, true],
    ["accuracy %", mean("accuracy"), true], ["sd", (line) => (line.run.mean.accuracy || [null, null])[1], true], ["RMSE", mean("rmse"), true],
    ["kernels", mean("n_kernels"), true], ["gap", mean("gap"), true], ["SVM calls", mean("svm_calls"), true],
    ["seconds", mean("time"), true],
  ];

  function chosen() {
    const asked = new FormData(form);
    const words = asked.get("text").toLowerCase().split(/\s+/).filter(Boolean);
    const is = (name, value) => !asked.get(name) || asked.get(name) === value;
    const found = lines.filter((line) => words.every((word) => line.text.includes(word)) &&
      (!asked.get("table") || line.tables.has(asked.get("table"))) &&
      ["data", "algo", "status"].every((name) => is(name, line.run[name])));
    if (sorted.column !== null) {
      const worth = COLUMNS[sorted.column][1], turn = sorted.up ? 1 : -1;
      found.sort((one, other) => inOrder(worth(one), worth(other), turn));
    }
    return found;
  }

  function splits(run) {
    const at = (values, split) => (Array.isArray(values) ? values[split] : values);
    return run.splits.map((split, position) => ({
      split, C: at(run.C, position),
      ...Object.fromEntries(Object.entries(run.split).map(([name, values]) => [name, at(values, position)])),
    }));
  }

  function open(row, line) {
    if (row.nextSibling && row.nextSibling.matches(".splits")) {
      row.nextSibling.remove();
      return false;
    }
    const names = ["split", "C", ...Object.keys(line.run.split)];
    const told = make("p", {}, line.run.command ? make("code", {}, line.run.command) : "", " key " + line.run.key,
      line.run.message ? ": " + line.run.message : "");
    const headings = names.map((name) => (data.metrics[name] ? data.metrics[name].heading : name));
    row.after(make("tr", {class: "splits"}, make("td", {colspan: COLUMNS.length + 1}, told,
      plainTable(headings, splits(line.run).map((split) => names.map((name) => split[name]))))));
    return true;
  }

  function draw() {
    const found = chosen();
    table.tBodies[0].replaceChildren(...found.slice(0, limit).map((line) => {
      const button = make("button", {type: "button", class: "open-row", "aria-expanded": "false", "aria-label": "Splits of " + line.row + ", " + line.method}, "+");
      const row = make("tr", {"data-run": line.number}, make("td", {}, button), ...COLUMNS.map(([, value, number]) =>
        make("td", {class: number ? "n" : null}, number ? short(value(line)) : String(value(line) || ""))));
      button.addEventListener("click", () => {
        const is = open(row, line);
        button.setAttribute("aria-expanded", String(is));
        button.textContent = is ? "−" : "+";
      });
      return row;
    }));
    more.hidden = found.length <= limit;
    const n = found.reduce((sum, line) => sum + line.run.splits.length, 0);
    document.getElementById("found").textContent =
      found.length + (found.length === 1 ? " run with " : " runs with ") + n + " splits; " + Math.min(limit, found.length) + " are shown.";
  }

  document.getElementById("csv").addEventListener("click", () => {
    const names = Object.keys(data.metrics);
    const header = ["table", "row", "method", "protocol", "data", "algo", "kernel", "search", "key", "command", "split", "C", ...names];
    const rows = chosen().flatMap((line) => splits(line.run).map((split) =>
      [line.table, line.row, line.method, line.protocol, line.run.data, line.run.algo, line.run.kernel, line.run.search,
        line.run.key, line.run.command, split.split, split.C, ...names.map((name) => split[name])]));
    const quoted = (value) => {
      const text = value === null || value === undefined ? "" : String(value);
      return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
    };
    const text = [header, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
    const link = make("a", {href: URL.createObjectURL(new Blob([text], {type: "text/csv"})), download: "splits.csv"});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  table.tHead.append(make("tr", {}, make("th", {scope: "col"}, make("span", {class: "hidden"}, "Splits")),
    ...COLUMNS.map(([name], at) => {
      const head = make("th", {scope: "col", "aria-sort": "none"}, make("button", {type: "button", class: "sort"}, name));
      head.firstChild.addEventListener("click", () => {
        sorted = {column: at, up: sorted.column === at ? !sorted.up : true};
        markSorted(table, head, sorted.up);
        draw();
      });
      return head;
    })));
  const of = {table: (line) => [...line.tables], data: (line) => [line.run.data], algo: (line) => [line.run.algo], status: (line) => [line.run.status]};
  for (const [name, values] of Object.entries(of)) {
    form.elements[name].append(...[...new Set(lines.flatMap(values))].sort().map((value) => make("option", {value}, value)));
  }
  form.addEventListener("input", () => { limit = STEP; draw(); });
  form.addEventListener("reset", () => setTimeout(() => { limit = STEP; sorted = {column: null, up: true}; draw(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => { limit += 10 * STEP; draw(); });
  draw();
});
