// The plots of Explore, by Vega-Lite; each has its numbers as a table, too.
"use strict";
ready.then((data) => {
  if (!document.getElementById("library")) return;
  const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7a7a7a", "#8c6d00"];
  const heading = (name) => data.metrics[name].heading;
  const METRICS = Object.keys(data.metrics);
  const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"];
  const plots = [];
  let drawn = false;

  // The library is unpacked when its first plot is to be drawn.
  let library = null;
  function load() {
    library = library || unpacked("library").then((text) => document.head.append(make("script", {}, text)));
    return library;
  }

  function config() {
    const ink = colourOf("ink"), line = colourOf("line");
    const text = {labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 600};
    return {
      background: null, view: {stroke: line}, axis: {...text, gridColor: line, domainColor: ink, tickColor: ink, labelLimit: 160},
      legend: {...text, labelLimit: 150}, title: {color: ink}, range: {category: PALETTE}, text: {color: ink},
      rule: {color: ink}, font: "system-ui, sans-serif",
    };
  }

  const select = (plot, name) => plot.form.elements[name];
  function keep(element, pairs, preferred) {
    const before = element.value;
    element.replaceChildren(...pairs.map(([value, label]) => make("option", {value}, label)));
    const known = [before, preferred].find((value) => pairs.some(([key]) => String(key) === String(value)));
    if (known !== undefined) element.value = known;
  }
  const tables = data.tables.filter((table) => table.places.length);
  const tablePairs = tables.map((table, at) => [at, table.title]);
  const defaultTable = Math.max(0, tables.findIndex((table) => table.name === "all_methods"));
  const used = (table, at) => [...new Set(table.places.map((place) => place[at]))].sort((a, b) => a - b);
  const options = (table, at, labels) => used(table, at).map((number) => [number, labels[number]]);
  const meanOf = (number, metric) => (data.runs[number].mean[metric] || [null])[0];
  const metricsOf = (table) => METRICS.filter((name) => table.places.some((place) => meanOf(place[3], name) !== null)).map((name) => [name, heading(name)]);
  const round = (value) => (value === null ? null : Number(value.toPrecision(5)));
  const axis = (name, title, log) => ({field: name, type: "quantitative", title, scale: log ? {type: "log"} : {zero: false}});
  const isLog = (metric) => ["time", "gap", "svm_calls"].includes(metric);
  const positive = (rows, ...names) => rows.filter((row) => names.every((name) => row[name] > 0));

  // The rows whose labels cover neither one another nor a point: the first ones keep theirs.
  function labelled(rows, [x, logX], [y, logY], label) {
    const at = (row, name, log) => (log ? Math.log(row[name]) : row[name]);
    const span = (name, log) => {
      const all = rows.map((row) => at(row, name, log));
      return [Math.min(...all), Math.max(...all) - Math.min(...all) || 1];
    };
    const [fromX, wide] = span(x, logX), [fromY, high] = span(y, logY);
    const taken = [];
    const points = rows.map((row) => ({left: (at(row, x, logX) - fromX) / wide, top: (at(row, y, logY) - fromY) / high}));
    return rows.map((row, number) => {
      const {left, top} = points[number];
      const width = 0.025 + 0.014 * String(row[label]).length;
      const free = taken.every((box) => left + width < box.left || left > box.left + box.width || Math.abs(top - box.top) > 0.055) &&
        points.every((point) => point.left <= left || point.left > left + width || Math.abs(top - point.top) > 0.03);
      if (free) taken.push({left, top, width});
      return {...row, label: free ? row[label] : ""};
    });
  }

  // A plot: its selects, and a function from what is chosen to a specification and its rows.
  class Plot {
    constructor(name, controls, spec) {
      this.form = document.getElementById("plot-" + name);
      this.section = this.form.closest("section");
      this.spec = spec;
      this.form.addEventListener("input", (event) => { this.refill(event.target.name); this.draw(); });
      this.form.addEventListener("submit", (event) => event.preventDefault());
      for (const [key, label] of Object.entries(controls)) this.form.append(make("label", {}, label + " ", make("select", {name: key})));
      this.refill("");
    }

    get chosen() {
      return Object.fromEntries([...new FormData(this.form)].map(([name, value]) => [name, value]));
    }

    get table() { return tables[Number(select(this, "table").value)] || tables[0]; }
    get pairs() { return tablePairs; }
    refill() {
      if (!select(this, "table").options.length) keep(select(this, "table"), this.pairs, defaultTable);
      const table = this.table;
      const fillings = {
        protocol: () => options(table, 2, table.protocols), row: () => options(table, 0, table.rows),
        first: () => options(table, 1, table.columns), second: () => options(table, 1, table.columns),
        column: () => options(table, 1, table.columns), metric: () => metricsOf(table),
        x: () => metricsOf(table), y: () => metricsOf(table),
      };
      const preferred = {second: 1, x: "time", y: "accuracy", metric: "accuracy"};
      for (const [name, pairs] of Object.entries(fillings)) {
        if (select(this, name)) keep(select(this, name), pairs(), preferred[name]);
      }
    }

    async draw() {
      const {spec, rows, note} = this.spec(this.chosen, this);
      const chart = this.section.querySelector(".chart");
      if (!rows.length) {
        chart.replaceChildren(make("p", {}, note || "There is nothing to show."));
        this.section.querySelector(".as-table").replaceChildren();
        return;
      }
      await load();
      const width = Math.max(240, chart.clientWidth - 12);
      const whole = {
        width, height: 300,
        autosize: {type: "fit", contains: "padding"}, data: {values: rows}, ...spec, config: config(),
        description: this.section.querySelector("h3").textContent,
      };
      const tooltip = {theme: document.documentElement.dataset.theme === "dark" ? "dark" : "light"};
      await vegaEmbed(chart, whole, {mode: "vega-lite", renderer: "svg", tooltip, actions: false});
      // What the mouse points at is told to the keyboard as well.
      for (const mark of chart.querySelectorAll("[aria-roledescription=point], [aria-roledescription=tick]")) mark.setAttribute("tabindex", "0");
      const names = Object.keys(rows[0]);
      this.section.querySelector(".as-table").replaceChildren(plainTable(names, rows.map((row) => names.map((name) => row[name]))));
    }
  }

  plots.push(new Plot("methods", {table: "Table", protocol: "Protocol", first: "Across", second: "Up", metric: "Metric"}, (chosen, plot) => {
    const {table} = plot, metric = chosen.metric;
    const of = (column) => new Map(table.places.filter((place) => place[1] === Number(column) && place[2] === Number(chosen.protocol))
      .map((place) => [place[0], place[3]]));
    const first = of(chosen.first), second = of(chosen.second);
    const across = table.columns[chosen.first], up = table.columns[chosen.second];
    const rows = [...first.keys()].filter((row) => second.has(row)).map((row) => ({
      set: table.rows[row], across: round(meanOf(first.get(row), metric)), up: round(meanOf(second.get(row), metric)),
    })).filter((row) => row.across !== null && row.up !== null);
    const shown = isLog(metric) ? positive(rows, "across", "up") : rows;
    const all = shown.flatMap((row) => [row.across, row.up]);
    const ends = [Math.min(...all), Math.max(...all)];
    const scale = {domain: ends, nice: true, ...(isLog(metric) ? {type: "log"} : {zero: false})};
    return {rows: shown, note: "The two methods have no data set in common under this protocol.", spec: {layer: [
      {data: {values: ends.map((value) => ({across: value, up: value}))}, mark: {type: "line", strokeDash: [4, 4], color: colourOf("soft"), tooltip: null, aria: false},
        encoding: {x: {field: "across", type: "quantitative"}, y: {field: "up", type: "quantitative"}}},
      {mark: {type: "point", filled: true, size: 90, color: PALETTE[0], opacity: 0.85},
        encoding: {
          x: {field: "across", type: "quantitative", title: across + ", " + heading(metric), scale},
          y: {field: "up", type: "quantitative", title: up + ", " + heading(metric), scale},
          tooltip: [{field: "set", title: "data set"}, {field: "across", title: across}, {field: "up", title: up}],
        }},
      {data: {values: labelled(shown, ["across", isLog(metric)], ["up", isLog(metric)], "set")}, mark: {type: "text", align: "left", dx: 8, fontSize: 10.5, aria: false, tooltip: null},
        encoding: {x: {field: "across", type: "quantitative"}, y: {field: "up", type: "quantitative"}, text: {field: "label"}}},
    ]}};
  }));

  plots.push(new Plot("metrics", {table: "Table", row: "Data set", x: "Across", y: "Up"}, (chosen, plot) => {
    const {table} = plot;
    const places = table.places.filter((place) => place[0] === Number(chosen.row));
    const rows = places.map(([, column, protocol, number]) => ({
      method: table.columns[column], protocol: table.protocols[protocol],
      x: round(meanOf(number, chosen.x)), y: round(meanOf(number, chosen.y)), cpu: data.runs[number].cpu,
    })).filter((row) => row.x !== null && row.y !== null);
    const logX = isLog(chosen.x), logY = isLog(chosen.y);
    const shown = positive(rows, ...(logX ? ["x"] : []), ...(logY ? ["y"] : []));
    const many = new Set(shown.map((row) => row.method)).size > PALETTE.length;
    const several = table.protocols.length > 1;
    return {rows: shown, spec: {layer: [
      {mark: {type: "point", filled: true, size: 80, opacity: 0.85, ...(many ? {color: PALETTE[0]} : {})}, encoding: {
        x: axis("x", heading(chosen.x), logX), y: axis("y", heading(chosen.y), logY),
        ...(many ? {} : {color: {field: "method", title: "method"}, shape: {field: "method", scale: {range: SHAPES}}}),
        tooltip: [{field: "method"}, ...(several ? [{field: "protocol"}] : []), {field: "x", title: heading(chosen.x)}, {field: "y", title: heading(chosen.y)}, {field: "cpu", title: "CPU"}],
      }},
      ...(many && !several ? [{data: {values: labelled(shown, ["x", logX], ["y", logY], "method")}, mark: {type: "text", align: "left", dx: 7, fontSize: 10, aria: false, tooltip: null},
        encoding: {x: {field: "x", type: "quantitative"}, y: {field: "y", type: "quantitative"}, text: {field: "label"}}}] : []),
    ]}};
  }));

  // Mean ranks of the methods that have all of the ticked sets; ties share the mean.
  function ranks(table, protocol, rows, metric) {
    const at = new Map(table.places.filter((place) => place[2] === protocol).map((place) => [place[0] + "/" + place[1], meanOf(place[3], metric)]));
    const methods = used(table, 1).filter((column) => rows.length && rows.every((row) => typeof at.get(row + "/" + column) === "number"));
    const sums = new Map(methods.map((column) => [column, 0]));
    const sign = data.metrics[metric].lower ? 1 : -1;
    for (const row of rows) {
      for (const column of methods) {
        const own = sign * at.get(row + "/" + column);
        let before = 0, same = 0;
        for (const other of methods) {
          const value = sign * at.get(row + "/" + other);
          if (value < own) before += 1;
          else if (value === own) same += 1;
        }
        sums.set(column, sums.get(column) + before + (same + 1) / 2);
      }
    }
    const found = methods.map((column) => ({method: table.columns[column], rank: sums.get(column) / rows.length}));
    found.sort((a, b) => a.rank - b.rank);
    const critical = (data.critical[methods.length] || 0) / Math.sqrt(rows.length);
    return {found, critical};
  }

  // The longest runs of methods that the test does not tell apart.
  function groups(found, critical) {
    const runs = [];
    found.forEach((from, i) => {
      let to = i;
      while (to + 1 < found.length && found[to + 1].rank - from.rank < critical) to += 1;
      if (to > i && !(runs.length && runs[runs.length - 1].to >= to)) runs.push({from: i, to});
    });
    return runs;
  }

  class RankPlot extends Plot {
    refill(changed) {
      super.refill(changed);
      const table = this.table;
      if (this.form.querySelector("fieldset") && changed !== "table") return;
      const old = this.form.querySelector("fieldset");
      if (old) old.remove();
      const complete = used(table, 0).filter((row) => table.places.filter((place) => place[0] === row).length >= used(table, 1).length);
      this.form.append(make("fieldset", {class: "sets"}, make("legend", {}, "Data sets"), ...used(table, 0).map((row) =>
        make("label", {class: "chip"}, make("input", {type: "checkbox", name: "set", value: row, checked: !complete.length || complete.includes(row) ? "" : null}), " " + table.rows[row]))));
    }
  }

  plots.push(new RankPlot("ranks", {table: "Table", protocol: "Protocol", metric: "Metric"}, (chosen, plot) => {
    const ticked = new FormData(plot.form).getAll("set").map(Number);
    const {found, critical} = ranks(plot.table, Number(chosen.protocol), ticked, chosen.metric);
    if (found.length < 2 || ticked.length < 2) return {rows: [], note: "Tick two sets or more on which two methods or more are done."};
    const order = found.map((one) => one.method);
    const last = found[found.length - 1].rank;
    const bars = groups(found, critical).map((run, at) => ({x: last + 0.6 + 0.35 * at, from: order[run.from], to: order[run.to]}));
    const y = {field: "method", type: "nominal", scale: {domain: order}, title: null};
    const rows = found.map((one) => ({method: one.method, rank: round(one.rank)}));
    plot.section.dataset.critical = critical;
    return {rows, spec: {
      height: Math.max(140, 17 * found.length), title: {text: "critical difference " + critical.toFixed(2) + " over " + ticked.length + " sets", fontSize: 12, anchor: "start"},
      layer: [
        {mark: {type: "point", filled: true, size: 70, color: PALETTE[0]}, encoding: {y, x: axis("rank", "mean rank", false), tooltip: [{field: "method"}, {field: "rank", title: "mean rank"}]}},
        ...(bars.length ? [{data: {values: bars}, mark: {type: "rule", strokeWidth: 4, color: PALETTE[1], tooltip: null}, encoding: {x: {field: "x", type: "quantitative"}, y: {field: "from", type: "nominal"}, y2: {field: "to"}}}] : []),
      ],
    }};
  }));

  // The course of single fits, as their records have it.
  const COURSES = {gap: "certified gap", objective: "J", above: "J above the lowest here"};
  class CoursePlot extends Plot {
    get pairs() { return tablePairs.filter(([at]) => tables[at].places.some((place) => data.runs[place[3]].descent)); }
    refill() {
      if (!this.pairs.length) return;
      super.refill();
      const table = this.table;
      const rows = [...new Set(table.places.filter((place) => data.runs[place[3]].descent).map((place) => place[0]))];
      keep(select(this, "row"), rows.sort((a, b) => a - b).map((row) => [row, table.rows[row]]));
      keep(select(this, "course"), Object.entries(COURSES), "gap");
    }
  }
  plots.push(new CoursePlot("courses", {table: "Table", row: "Data set", course: "Up"}, (chosen, plot) => {
    const {table} = plot, several = table.protocols.length > 1;
    const fits = !plot.pairs.length ? [] : table.places
      .filter((place) => place[0] === Number(chosen.row) && data.runs[place[3]].descent)
      .map(([, column, protocol, number]) => ({
        method: table.columns[column] + (several ? ", " + table.protocols[protocol] : "") + (data.runs[number].own ? ", yours" : ""),
        descent: data.runs[number].descent,
      }));
    const lowest = Math.min(...fits.flatMap(({descent}) => descent.objective.filter((value) => value !== null)));
    const worth = ({objective, gap}, at) => {
      if (chosen.course === "gap") return gap ? gap[at] : null;
      return objective[at] === null ? null : chosen.course === "objective" ? objective[at] : objective[at] - lowest;
    };
    const rows = fits.flatMap(({method, descent}) => descent.svm_calls.map((calls, at) => ({method, calls, value: worth(descent, at), split: descent.split})))
      .filter((row) => row.calls > 0 && row.value > 0);
    return {rows, note: "No run here keeps the course of its fits: those that are run from version 0.2 on do.", spec: {
      mark: {type: "line", point: {filled: true, size: 45}},
      encoding: {x: axis("calls", "SVM calls", true), y: axis("value", COURSES[chosen.course], true),
        color: {field: "method", title: "method"}, shape: {field: "method", scale: {range: SHAPES}, legend: null},
        tooltip: [{field: "method"}, {field: "calls", title: "SVM calls"}, {field: "value", title: COURSES[chosen.course]}, {field: "split"}]},
    }};
  }));

  async function drawAll() {
    drawn = true;
    for (const plot of plots) await plot.draw();
    document.body.dataset.plots = "drawn";
  }
  document.addEventListener("shown", (event) => { if (event.detail === "explore" && !drawn) drawAll(); });
  document.addEventListener("coloured", () => {
    drawn = false;
    if (!document.getElementById("explore").hidden && document.readyState === "complete") drawAll();
  });
  let wait = null;
  window.addEventListener("resize", () => {
    clearTimeout(wait);
    wait = setTimeout(() => { if (drawn && !document.getElementById("explore").hidden) drawAll(); }, 200);
  });
});
