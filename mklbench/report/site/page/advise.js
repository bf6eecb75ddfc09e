// Which method for data like these: what was measured on the recorded sets that are most alike.
"use strict";
ready.then((data) => {
  const form = document.getElementById("advise");
  const answerAt = document.getElementById("advice");
  const MOST_SETS = 3, MOST_METHODS = 10, FEWEST_METHODS = 8;

  // By table, its sets on which several methods, tuned, have an accuracy under one protocol.
  const compared = data.tables.filter((table) => table.protocols.length === 1).map((table) => {
    const sets = new Map();
    for (const [row, column, , number] of table.places) {
      const run = data.runs[number];
      if (run.own || run.status !== "done" || run.search === "fixed" || !run.mean.accuracy) continue;
      const views = (data.sets[run.data] || {n_views: 1}).n_views;
      if (!sets.has(row)) sets.set(row, {label: table.rows[row], samples: run.n_train, views, runs: new Map()});
      sets.get(row).runs.set(column, run);
    }
    return {table, sets: [...sets.values()].filter((set) => set.runs.size >= FEWEST_METHODS)};
  });

  // The sets most like those asked for, all of one table, so that the same methods were run on them.
  function nearest(samples, views) {
    const far = (set) => Math.abs(Math.log(set.samples / samples)) + Math.abs(Math.log(set.views / views));
    const found = compared.map(({table, sets}) => {
      const alike = sets.filter((set) => (set.views > 1) === (views > 1)).sort((a, b) => far(a) - far(b)).slice(0, MOST_SETS);
      return {table, sets: alike, far: alike.reduce((sum, set) => sum + far(set), 0)};
    });
    return found.filter(({sets}) => sets.length).sort((a, b) => b.sets.length - a.sets.length || a.far - b.far)[0];
  }

  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  // The methods, those first that are least below the best accuracy of each set.
  function ranked({table, sets}) {
    const best = sets.map((set) => Math.max(...[...set.runs.values()].map((run) => run.mean.accuracy[0])));
    return table.columns.map((label, column) => {
      const on = sets.map((set, at) => ({run: set.runs.get(column), best: best[at]})).filter(({run}) => run);
      return {
        label, runs: on.map(({run}) => run), accuracy: mean(on.map(({run}) => run.mean.accuracy[0])),
        below: mean(on.map(({run, best: top}) => top - run.mean.accuracy[0])),
        seconds: mean(on.map(({run}) => (run.mean.time || [NaN])[0])),
      };
    }).filter(({runs}) => runs.length).sort((a, b) => a.below - b.below || a.seconds - b.seconds);
  }

  // The command of a recorded run, with the reader's own file in place of its data.
  function command(run, views) {
    const file = views > 1 ? "'data.path=[view1.csv,view2.csv]'" : "data.path=mine.csv";
    return run.command.replace(" split=published", "").replace(/ '?\+?data\.[^ ]*/g, "").replace(/ data=[^ ]*/, " data=csv " + file + " data.label=outcome");
  }

  const code = (text) => make("div", {class: "command"}, make("pre", {tabindex: 0}, make("code", {}, text)),
    make("button", {type: "button", class: "copy", "aria-label": "Copy: " + text}, "Copy"));
  const shown = (number, digits) => (Number.isNaN(number) ? "" : number.toFixed(digits));

  function answer() {
    const asked = new FormData(form);
    const samples = Number(asked.get("samples")), views = Number(asked.get("views"));
    if (!(samples >= 1 && views >= 1)) return answerAt.replaceChildren(make("p", {}, "Give the number of samples and of views, both 1 or more."));
    const found = nearest(samples, views);
    if (!found) return answerAt.replaceChildren(make("p", {}, "No recorded set is like yours."));
    const methods = ranked(found), [first] = methods;
    const rests = (method) => method.runs.length + " of " + found.sets.length;
    const described = (set) => set.label + " (" + set.samples + " samples, " + (set.views > 1 ? set.views + " views" : "one table of features") + ")";
    const known = data.classes[first.runs[0].algo];
    answerAt.replaceChildren(
      make("p", {class: "finding"}, make("strong", {}, "Try first: " + first.label + ". "),
        "This rests on " + rests(first) + " recorded sets most like yours, where its accuracy is " + shown(first.accuracy, 1) +
        " % on average, " + shown(first.below, 1) + " points below the best of each."),
      code(command(first.runs[0], views)), ...(known ? [code("from mklbench import " + known)] : []),
      make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Methods on the sets most alike"}, make("table", {class: "plain"},
        make("thead", {}, make("tr", {}, ...["Method", "accuracy %", "below the best", "rests on", "seconds of a fit", "algo=", "class"].map((text) => make("th", {scope: "col"}, text)))),
        make("tbody", {}, ...methods.slice(0, MOST_METHODS).map((method) => make("tr", {},
          make("td", {}, method.label), make("td", {class: "n"}, shown(method.accuracy, 1)), make("td", {class: "n"}, shown(method.below, 1)),
          make("td", {}, rests(method) + " sets"), make("td", {class: "n"}, Number.isNaN(method.seconds) ? "" : String(Number(method.seconds.toPrecision(2)))),
          make("td", {}, method.runs[0].algo), make("td", {}, data.classes[method.runs[0].algo] || "")))))),
      make("p", {class: "small"}, "The sets: " + found.sets.map(described).join(", ") + ", of ", make("a", {href: "#" + found.table.name}, found.table.title),
        ". Accuracies are means over them; seconds are of one fit, without the search."));
  }

  form.addEventListener("input", answer);
  form.addEventListener("submit", (event) => event.preventDefault());
  answer();
});
