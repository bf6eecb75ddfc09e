// Which method for data like these: what was measured on the most similar recorded sets.
"use strict";
ready.then((data) => {
  const form = document.getElementById("advise");
  const place = document.getElementById("advice");
  const MOST_SETS = 3, MOST_METHODS = 8, FEWEST_METHODS = 8;

  // Rows of tables on which several methods, tuned, have an accuracy under the same protocol.
  const candidates = [];
  for (const table of data.tables) {
    const rows = new Map();
    for (const [row, column, protocol, number] of table.places) {
      const cell = data.cells[number];
      if (cell.own || cell.status !== "done" || cell.search === "fixed" || !cell.mean.accuracy) continue;
      const key = row + "/" + protocol;
      if (!rows.has(key)) rows.set(key, {table, row: table.rows[row], protocol: table.protocols[protocol], cells: []});
      rows.get(key).cells.push({method: table.columns[column], cell});
    }
    if (table.protocols.length > 1) continue;  // the same methods several times over
    for (const one of rows.values()) {
      if (one.cells.length < FEWEST_METHODS) continue;
      const first = one.cells[0].cell;
      candidates.push({...one, samples: first.n_train, set: first.data, views: (data.sets[first.data] || {n_views: 1}).n_views});
    }
  }

  function nearest(samples, views) {
    const alike = candidates.filter((one) => (one.views > 1) === (views > 1));
    const far = (one) => Math.abs(Math.log(one.samples / samples)) + Math.abs(Math.log(one.views / views));
    const found = [];
    for (const one of alike.sort((a, b) => far(a) - far(b) || b.cells.length - a.cells.length)) {
      if (!found.some((other) => other.set === one.set)) found.push(one);
    }
    return found.slice(0, MOST_SETS);
  }

  function standing(one) {
    const ranked = one.cells.map(({method, cell}) => {
      const [mean, sd] = cell.mean.accuracy;
      const n = Array.isArray(cell.splits) ? cell.splits.length : cell.splits;
      return {method, mean, sd, error: sd === null ? 0 : sd / Math.sqrt(n), seconds: (cell.mean.time || [null])[0]};
    }).sort((a, b) => b.mean - a.mean);
    const good = ranked.filter((item) => item.mean >= ranked[0].mean - ranked[0].error);
    const known = good.filter((item) => item.seconds !== null).sort((a, b) => a.seconds - b.seconds);
    return {ranked, good, fastest: known[0] || good[0]};
  }

  function answer() {
    const asked = new FormData(form);
    const samples = Number(asked.get("samples")), views = Number(asked.get("views"));
    if (!(samples >= 1 && views >= 1)) {
      place.replaceChildren(make("p", {}, "Give the number of samples and of views, both 1 or more."));
      return;
    }
    const sets = nearest(samples, views).map((one) => ({one, ...standing(one)}));
    const votes = new Map();
    for (const {good} of sets) for (const item of good) {
      const vote = votes.get(item.method) || {sets: 0, seconds: 0};
      votes.set(item.method, {sets: vote.sets + 1, seconds: vote.seconds + (item.seconds || 0)});
    }
    const order = [...votes].sort(([, a], [, b]) => b.sets - a.sets || a.seconds / a.sets - b.seconds / b.sets);
    const parts = [];
    if (order.length) {
      const said = order.slice(0, 3).map(([name, vote]) => name + " (on " + vote.sets + ")").join(", ");
      parts.push(make("p", {class: "finding"}, make("strong", {}, "Try first: " + order[0][0] + ". "),
        "Within a standard error of the best accuracy on most of the " + sets.length +
        " recorded sets most like yours, the fastest first: " + said + "."));
    }
    const tables = sets.map(({one, ranked, good}) => make("div", {}, make("h3", {}, one.row),
      make("p", {class: "small"}, one.samples + " training samples, " +
        (one.views > 1 ? one.views + " views" : "one table of features") + ", " + ranked.length + " methods: ",
      make("a", {href: "#" + one.table.name}, one.table.title)),
      make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Methods on " + one.row},
        make("table", {class: "plain"},
          make("thead", {}, make("tr", {}, ...["Method", "accuracy %", "seconds of a fit"].map((text) => make("th", {scope: "col"}, text)))),
          make("tbody", {}, ...ranked.slice(0, MOST_METHODS).map((item) => make("tr", {},
            make("td", {}, item.method + (good.includes(item) ? " ✓" : "")),
            make("td", {class: "n"}, item.mean.toFixed(1) + (item.sd === null ? "" : " ± " + item.sd.toFixed(1))),
            make("td", {class: "n"}, item.seconds === null ? "" : String(Number(item.seconds.toPrecision(2)))))))))));
    parts.push(make("div", {class: "pair"}, ...tables),
      make("p", {class: "small"}, "✓: within a standard error of the best of its set. Seconds are of one fit, without the search."));
    place.replaceChildren(...parts);
  }

  form.addEventListener("input", answer);
  form.addEventListener("submit", (event) => event.preventDefault());
  answer();
});
