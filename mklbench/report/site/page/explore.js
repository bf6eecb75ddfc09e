// Explore: every cell as a line, with its splits below it; search, filters, groups, CSV.
"use strict";
ready.then((data) => {
  const form = document.getElementById("find");
  const table = document.getElementById("cells");
  const more = document.getElementById("more");
  const STEP = 60;
  let limit = STEP;
  let sorted = {column: null, up: true};

  // One line a place of a table: a cell that stands in two tables has two.
  const lines = data.tables.flatMap((of) => of.places.map(([row, column, protocol, number]) => {
    const cell = data.cells[number];
    const line = {
      table: of.name || "your store", row: of.rows[row], method: of.columns[column],
      protocol: of.protocols[protocol], data: cell.data, algo: cell.algo, kernel: cell.kernel,
      search: cell.search, status: cell.status, own: cell.own ? "yours" : "", number, cell,
    };
    line.text = [line.table, line.row, line.method, line.protocol, line.data, line.algo, line.kernel, line.search, line.status, line.own, cell.key].join(" ").toLowerCase();
    return line;
  }));

  const mean = (name) => (line) => (line.cell.mean[name] || [null])[0];
  const spread = (name) => (line) => (line.cell.mean[name] || [null, null])[1];
  const count = (cell) => (Array.isArray(cell.splits) ? cell.splits.length : cell.splits);
  const short = (value) => (value === null || value === undefined ? "" : String(Number(Number(value).toPrecision(4))));
  const COLUMNS = [
    ["table", (line) => line.table], ["data", (line) => line.row], ["method", (line) => line.method],
    ["protocol", (line) => line.protocol], ["algorithm", (line) => line.algo], ["kernel", (line) => line.kernel],
    ["search", (line) => line.search], ["state", (line) => [line.status, line.own].filter(Boolean).join(", ")],
    ["splits", (line) => count(line.cell), true], ["samples", (line) => line.cell.n_train, true],
    ["accuracy %", mean("accuracy"), true], ["sd", spread("accuracy"), true], ["RMSE", mean("rmse"), true],
    ["kernels", mean("n_kernels"), true], ["gap", mean("gap"), true], ["SVM calls", mean("svm_calls"), true],
    ["seconds", mean("time"), true], ["objective / n", mean("objective"), true],
  ];

  function chosen() {
    const asked = new FormData(form);
    const words = asked.get("text").toLowerCase().split(/\s+/).filter(Boolean);
    const found = lines.filter((line) =>
      words.every((word) => line.text.includes(word)) &&
      ["table", "data", "algo", "status"].every((name) => !asked.get(name) || line[name] === asked.get(name)));
    const by = asked.get("by");
    const worth = sorted.column === null ? null : COLUMNS[sorted.column][1];
    const order = (one, other) => {
      if (one === other) return 0;
      if (one === null || one === undefined) return 1;
      if (other === null || other === undefined) return -1;
      return (one < other ? -1 : 1) * (sorted.up ? 1 : -1);
    };
    if (worth) found.sort((one, other) => order(worth(one), worth(other)));
    if (by) found.sort((one, other) => (one[by] < other[by] ? -1 : one[by] > other[by] ? 1 : 0));
    return {found, by};
  }

  function splits(cell) {
    const numbers = Array.isArray(cell.splits) ? cell.splits : [...Array(cell.splits).keys()];
    const at = (values, place) => (Array.isArray(values) ? values[place] : values);
    return numbers.map((split, place) => {
      const line = {split, C: at(cell.C, place)};
      for (const [name, values] of Object.entries(cell.split)) line[name] = at(values, place);
      return line;
    });
  }

  function open(row, line) {
    if (row.nextSibling && row.nextSibling.matches(".splits")) {
      row.nextSibling.remove();
      return false;
    }
    const found = splits(line.cell);
    const names = ["split", "C", ...Object.keys(line.cell.split)];
    const heading = (name) => (data.metrics[name] ? data.metrics[name].heading : name);
    const inner = make("table", {},
      make("thead", {}, make("tr", {}, ...names.map((name) => make("th", {scope: "col"}, heading(name))))),
      make("tbody", {}, ...found.map((split) => make("tr", {}, ...names.map((name) =>
        make("td", {class: "n"}, split[name] === null ? "" : String(split[name])))))));
    const told = make("p", {}, line.cell.run ? make("code", {}, line.cell.run) : "", " key " + line.cell.key,
      line.cell.message ? ": " + line.cell.message : "");
    row.after(make("tr", {class: "splits"}, make("td", {colspan: COLUMNS.length + 1}, told, inner)));
    return true;
  }

  function draw() {
    const {found, by} = chosen();
    const rows = [];
    let group = null;
    for (const line of found.slice(0, limit)) {
      if (by && line[by] !== group) {
        group = line[by];
        const of = found.filter((other) => other[by] === group);
        const known = of.map(mean("accuracy")).filter((value) => value !== null);
        const mid = known.length ? ", mean accuracy " + short(known.reduce((a, b) => a + b) / known.length) + " %" : "";
        rows.push(make("tr", {class: "group-head"}, make("td", {colspan: COLUMNS.length + 1}, group + ": " + of.length + " cells" + mid)));
      }
      const button = make("button", {type: "button", class: "open-row", "aria-expanded": "false", "aria-label": "Splits of " + line.row + ", " + line.method}, "+");
      const row = make("tr", {"data-cell": line.number}, make("td", {}, button), ...COLUMNS.map(([, value, number]) =>
        make("td", {class: number ? "n" : null}, number ? short(value(line)) : String(value(line) || ""))));
      button.addEventListener("click", () => {
        const is = open(row, line);
        button.setAttribute("aria-expanded", String(is));
        button.textContent = is ? "−" : "+";
      });
      rows.push(row);
    }
    table.tBodies[0].replaceChildren(...rows);
    more.hidden = found.length <= limit;
    const n = found.reduce((sum, line) => sum + count(line.cell), 0);
    document.getElementById("found").textContent =
      found.length + " cells with " + n + " splits; " + Math.min(limit, found.length) + " are shown.";
  }

  function save(name, header, rows) {
    const quoted = (value) => {
      const text = value === null || value === undefined ? "" : String(value);
      return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
    };
    const text = [header, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
    const link = make("a", {href: URL.createObjectURL(new Blob([text], {type: "text/csv"})), download: name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  document.getElementById("csv-cells").addEventListener("click", () => {
    const header = [...COLUMNS.map(([name]) => name), "key", "cpu", "command"];
    save("cells.csv", header, chosen().found.map((line) =>
      [...COLUMNS.map(([, value]) => value(line)), line.cell.key, line.cell.cpu, line.cell.run]));
  });
  document.getElementById("csv-splits").addEventListener("click", () => {
    const names = Object.keys(data.metrics);
    const header = ["table", "row", "method", "protocol", "data", "algo", "kernel", "search", "key", "split", "C", ...names];
    save("splits.csv", header, chosen().found.flatMap((line) => splits(line.cell).map((split) =>
      [line.table, line.row, line.method, line.protocol, line.data, line.algo, line.kernel, line.search,
        line.cell.key, split.split, split.C, ...names.map((name) => split[name])])));
  });

  table.tHead.append(make("tr", {}, make("th", {scope: "col"}, make("span", {class: "hidden"}, "Splits")),
    ...COLUMNS.map(([name], at) => {
      const head = make("th", {scope: "col", "aria-sort": "none"}, make("button", {type: "button", class: "sort"}, name));
      head.firstChild.addEventListener("click", () => {
        sorted = {column: at, up: sorted.column === at ? !sorted.up : true};
        for (const other of table.tHead.querySelectorAll("th[aria-sort]")) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", sorted.up ? "ascending" : "descending");
        draw();
      });
      return head;
    })));
  for (const name of ["table", "data", "algo", "status"]) {
    const values = [...new Set(lines.map((line) => line[name]))].sort();
    form.elements[name].append(...values.map((value) => make("option", {value}, value)));
  }
  form.addEventListener("input", () => { limit = STEP; draw(); });
  form.addEventListener("reset", () => setTimeout(() => { limit = STEP; sorted = {column: null, up: true}; draw(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => { limit += 10 * STEP; draw(); });
  draw();
});
