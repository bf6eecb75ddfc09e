// The pages: which one is shown, dark or light, commands to copy.
"use strict";

// What is large stands packed in the page: deflated, in base 64.
async function unpacked(id) {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}
// All that is known of tables, runs and numbers; the other scripts begin when it is there.
const ready = unpacked("data").then(JSON.parse);

// An element with attributes and content: texts, which are escaped, or other elements.
function make(name, attributes, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...content.filter((part) => part !== null && part !== undefined));
  return made;
}

// A table of plain values; numbers stand to the right.
function plainTable(headings, rows) {
  return make("table", {class: "plain"},
    make("thead", {}, make("tr", {}, ...headings.map((text) => make("th", {scope: "col"}, text)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((value) =>
      make("td", {class: typeof value === "number" ? "n" : null}, value === null || value === undefined ? "" : String(value)))))));
}

// The order of two values, `turn` being 1 or -1; what is not known comes last.
function inOrder(one, other, turn) {
  const unknown = (value) => value === null || value === undefined;
  if (unknown(one) || unknown(other)) return unknown(one) - unknown(other);
  return one < other ? -turn : one > other ? turn : 0;
}

function markSorted(table, head, up) {
  for (const other of table.tHead.querySelectorAll("th[aria-sort]")) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
}

// The pages stand one after the other, as they are printed without scripts; here one is shown.
const pages = [...document.querySelectorAll(".page")];
function show() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1))) || pages[0];
  if (target.id === "content") return;
  const page = target.closest(".page") || pages[0];
  for (const other of pages) other.hidden = other !== page;
  for (const link of document.querySelectorAll(".top li a")) {
    if (link.hash === "#" + page.id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  const inside = target.querySelector(":scope > details");
  if (inside && target.tagName === "LI") inside.open = true;
  document.title = page.querySelector("h1").textContent + " – mklbench";
  if (target === page) window.scrollTo(0, 0);
  else target.scrollIntoView();
  document.dispatchEvent(new CustomEvent("shown", {detail: page.id}));
}
window.addEventListener("hashchange", show);

const theme = document.getElementById("theme");
const darkOutside = window.matchMedia("(prefers-color-scheme: dark)");
function colour(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  theme.textContent = dark ? "Light" : "Dark";
  document.dispatchEvent(new CustomEvent("coloured"));
}
theme.addEventListener("click", () => colour(document.documentElement.dataset.theme !== "dark"));
darkOutside.addEventListener("change", (event) => colour(event.matches));
colour(darkOutside.matches);

document.addEventListener("click", async (event) => {
  if (!event.target.matches(".copy")) return;
  const text = event.target.parentElement.querySelector("code").textContent;
  try {
    await navigator.clipboard.writeText(text);
    event.target.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(event.target.parentElement.querySelector("code"));
  }
});

// On paper nothing can be opened: the ledger and what explains the tables is printed open.
window.addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details.printed:not([open])")) {
    folded.dataset.opened = "";
    folded.open = true;
  }
});
window.addEventListener("afterprint", () => {
  for (const opened of document.querySelectorAll("details[data-opened]")) {
    delete opened.dataset.opened;
    opened.open = false;
  }
});

const onlyMoved = document.getElementById("only-moved");
if (onlyMoved) {
  onlyMoved.addEventListener("change", () => {
    for (const row of document.querySelectorAll("#compared tbody tr")) {
      row.hidden = onlyMoved.checked && row.dataset.state !== "moved";
    }
  });
}
show();
window.addEventListener("load", () => ready.then(() => {
  document.body.dataset.ready = "yes";
  show();
}, () => document.getElementById("content").prepend(make("p", {class: "warning", role: "alert"},
  "This browser cannot unpack the numbers: the tables stand below, but filters, what is told of a number, and plots need a browser of 2023 or later."))));
