// The tables of the papers: what is told of a number, sorting, filters, arrow keys.
"use strict";
ready.then((data) => {
  const tip = document.getElementById("tip");
  let told = null;  // the number that the tip is about
  let pinned = false;

  function lines(number) {
    const run = data.runs[number.run];
    const found = [
      ["mean", number.mean], ["standard deviation", number.sd], ["splits", number.splits],
    ];
    if (number.published !== undefined) {
      found.push(["published", number.published + " (" + number.published_splits + " splits)"]);
      found.push(["difference", number.difference]);
    }
    found.push(["verdict", number.verdict]);
    if (run.message) found.push(["why", run.message]);
    if (number.stopped) found.push(["ended early", number.stopped]);
    if (run.cpu) found.push(["CPU", run.cpu]);
    if (run.command) {
      const copy = make("button", {type: "button", class: "copy"}, "Copy");
      found.push(["run it", make("span", {class: "command"}, make("code", {tabindex: 0}, run.command), copy)]);
    }
    return found;
  }

  function where(place) {
    const row = place.parentElement;
    const head = place.closest("table").tHead.rows[0].cells[place.cellIndex].querySelector(".sort");
    const parts = [row.cells[0].textContent, head.firstChild.textContent.trim(), row.cells[1].textContent];
    return parts.join(" · ") + ": " + head.querySelector("small").textContent;
  }

  function tell(place) {
    const number = data.numbers[place.dataset.number];
    const list = make("dl", {});
    for (const [term, text] of lines(number)) list.append(make("dt", {}, term), make("dd", {}, text));
    const table = place.closest("table").dataset.table;
    const entries = (number.ledger || []).map((at) => {
      const id = table + "-ledger-" + at;
      const point = document.getElementById(id).querySelector("summary").firstChild.textContent;
      return make("li", {}, make("a", {href: "#" + id}, point));
    });
    tip.replaceChildren(make("h4", {}, where(place)), list);
    const ledger = document.getElementById(table + "-ledger");
    if (entries.length) tip.append(make("p", {}, "From the ledger:"), make("ul", {}, ...entries));
    if (ledger) tip.append(make("a", {href: "#" + ledger.id}, "The whole ledger"));
    tip.hidden = false;
    const box = place.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(box.left, width - tip.offsetWidth - 8));
    // Below the number where there is room, or else where there is more of it.
    tip.style.maxHeight = "none";
    const room = {below: window.innerHeight - box.bottom - 12, above: box.top - 12};
    const below = tip.offsetHeight <= room.below || room.below >= room.above;
    tip.style.maxHeight = Math.max(120, below ? room.below : room.above) + "px";
    tip.style.left = left + window.scrollX + "px";
    tip.style.top = (below ? box.bottom + 4 : box.top - tip.offsetHeight - 4) + window.scrollY + "px";
    tip.scrollTop = 0;
    told = place;
  }

  function hush() {
    tip.hidden = true;
    told = null;
    pinned = false;
  }

  const numberAt = (event) => event.target.closest && event.target.closest("td.number");
  document.addEventListener("mouseover", (event) => {
    if (pinned || tip.contains(event.target)) return;
    const place = numberAt(event);
    if (place) tell(place);
    else if (told && told !== document.activeElement) hush();
  });
  document.addEventListener("focusin", (event) => {
    if (tip.contains(event.target)) return;
    const place = numberAt(event);
    if (place) tell(place);
    else hush();
  });
  document.addEventListener("click", (event) => {
    if (tip.contains(event.target)) {
      if (event.target.closest("a")) hush();
      return;
    }
    const place = numberAt(event);
    if (!place) return hush();
    if (place.tabIndex < 0) place.tabIndex = -1;  // so that it can have the focus
    place.focus({preventScroll: true});
    tell(place);
    pinned = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hush();
    if (event.key === "Enter" && numberAt(event)) {
      pinned = true;
      const link = tip.querySelector("a");
      if (link) link.focus();
    }
  });
  window.addEventListener("hashchange", hush);

  // One number of each table is reached with Tab, the others with the arrow keys.
  const visible = (element) => element.offsetParent !== null;
  const numbersOf = (row) => [...row.querySelectorAll("td.number")].filter(visible);
  function step(place, key) {
    const row = place.parentElement;
    const inRow = numbersOf(row);
    const at = inRow.indexOf(place);
    if (key === "ArrowRight") return inRow[at + 1];
    if (key === "ArrowLeft") return inRow[at - 1];
    if (key === "Home") return inRow[0];
    if (key === "End") return inRow[inRow.length - 1];
    const rows = [...place.closest("table").querySelectorAll("tbody tr")].filter(visible);
    const by = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
    for (let next = rows.indexOf(row) + by; by && rows[next]; next += by) {
      const there = rows[next].children[place.cellIndex];
      if (there.matches("td.number") && visible(there)) return there;
    }
    return undefined;
  }

  function sort(table, button) {
    const head = button.closest("th");
    const up = head.getAttribute("aria-sort") !== "ascending";
    markSorted(table, head, up);
    const column = Number(button.dataset.sort) + 2;
    const worth = (body) => {
      if (column === 1) return body.querySelector("th").textContent.toLowerCase();
      // By what was measured, in the first of the lines that are shown.
      const rows = [...body.rows].filter((row) => !row.hidden && !row.matches(".published"));
      const found = rows.map((row) => row.cells[column]).find((cell) => cell && cell.dataset.value !== undefined);
      return found ? Number(found.dataset.value) : null;
    };
    const bodies = [...table.tBodies].map((body) => ({body, worth: worth(body)}));
    bodies.sort((one, other) => inOrder(one.worth, other.worth, up ? 1 : -1));
    table.append(...bodies.map(({body}) => body));
  }

  function filter(table, form) {
    const chosen = new FormData(form);
    const kinds = new Set(chosen.getAll("kind"));
    const every = kinds.size === form.querySelectorAll("[name=kind]").length;
    const is = (name, value) => !chosen.get(name) || chosen.get(name) === value;
    const line = chosen.get("line");
    const alone = line === "published";  // the table of the paper by itself
    // In short the paper's line, what was measured as printed, and the best of the others.
    const inLines = (row) => line === "short" ? row.dataset.short !== undefined
      : row.matches(".published") || !line || line === row.dataset.line;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      if (at < 2) return;
      const out = !is("column", head.dataset.column) || !is("metric", head.dataset.metric) ||
        ((alone || line === "short") && head.dataset.published === undefined);
      head.hidden = out;
      for (const row of table.querySelectorAll("tbody tr")) row.cells[at].hidden = out;
    });
    let count = 0, all = 0;
    for (const body of table.tBodies) {
      let any = false, first = true;
      for (const row of body.rows) {
        row.hidden = !inLines(row);
        for (const place of row.querySelectorAll("td.number")) {
          const shown = [...kinds].some((kind) => place.classList.contains(kind));
          place.classList.toggle("dim", !shown);
          all += 1;
          if (shown && !row.hidden && !place.hidden && is("group", body.dataset.group)) {
            any = true;
            count += 1;
          }
        }
      }
      const measured = body.querySelector("td.number") !== null;
      const empty = alone ? !body.querySelector(".published") : measured ? !any : !every;
      body.hidden = !is("group", body.dataset.group) || empty;
      for (const row of body.rows) {
        row.classList.toggle("first", first && !row.hidden);
        first = first && row.hidden;
      }
    }
    form.querySelector(".count").textContent = alone ? "the paper's numbers alone" : count === all ? all + " numbers" : count + " of " + all + " numbers";
    const tabbed = table.querySelector("td.number[tabindex='0']");
    if (tabbed) tabbed.tabIndex = -1;
    const next = [...table.querySelectorAll("td.number")].find((place) =>
      !place.hidden && !place.parentElement.hidden && !place.closest("tbody").hidden);
    if (next) next.tabIndex = 0;
  }

  for (const table of document.querySelectorAll("table.numbers")) {
    const form = document.querySelector(`form[data-table="${table.dataset.table}"]`);
    table.addEventListener("click", (event) => {
      const button = event.target.closest(".sort");
      if (button) sort(table, button);
    });
    table.addEventListener("keydown", (event) => {
      const place = numberAt(event);
      const next = place && step(place, event.key);
      if (!next) return;
      event.preventDefault();
      place.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
    form.addEventListener("input", () => filter(table, form));
    form.addEventListener("reset", () => setTimeout(() => {
      for (const select of form.querySelectorAll("select")) select.value = "";
      filter(table, form);
    }));
    form.addEventListener("submit", (event) => event.preventDefault());
    filter(table, form);
  }
});
