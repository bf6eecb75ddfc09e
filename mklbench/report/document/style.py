"""The style sheet of the HTML pages."""

PAGE_STYLE = """\
:root {
  color-scheme: light dark;
  --ink: #1d2733; --soft: #5b6875; --paper: #fbfcfd; --line: #d9dfe5; --head: #eef2f5;
  --match: #0a6b4f; --match-back: #dff3ea; --close: #7a5700; --close-back: #fbf0cf;
  --differs: #9c2f10; --differs-back: #fbe3da; --unfinished: #6a4a86; --unfinished-back: #efe6f6;
  --link: #0b5ea8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e9ee; --soft: #9daab7; --paper: #14191f; --line: #323c47; --head: #1f2730;
    --match: #7fd8b4; --match-back: #12362a; --close: #ecca6b; --close-back: #3a2f0d;
    --differs: #f3a287; --differs-back: #43200f; --unfinished: #cdb0e6; --unfinished-back: #33234a;
    --link: #7ab8f0;
  }
  figure img { background: #fff; }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { max-width: 78rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .75rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; padding-bottom: .3rem;
     border-bottom: 1px solid var(--line); }
h3 { font-size: 1.02rem; margin: 1.5rem 0 .5rem; }
p { max-width: 48rem; margin: .6rem 0; }
a { color: var(--link); }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .9em; }
pre { background: var(--head); border: 1px solid var(--line); border-radius: 6px;
      padding: .7rem 1rem; overflow-x: auto; }
.scroll { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .38rem .8rem; border-bottom: 1px solid var(--line); text-align: right;
         white-space: nowrap; }
th { background: var(--head); text-align: right; vertical-align: bottom; font-weight: 600;
     white-space: normal; }
th.label, td.label { text-align: left; }
tbody tr:hover td { background: color-mix(in srgb, var(--head) 55%, transparent); }
td.published { color: var(--soft); }
tbody td.match { color: var(--match); background: var(--match-back); }
tbody td.close { color: var(--close); background: var(--close-back); }
tbody td.differs { color: var(--differs); background: var(--differs-back); }
tbody td.unfinished { color: var(--unfinished); background: var(--unfinished-back);
                      white-space: normal; }
tr:has(> td.label.published) > td { border-bottom-color: transparent; }
dl { max-width: 60rem; }
dt { font-weight: 600; margin-top: .9rem; }
dd { margin: .15rem 0 0 1.25rem; color: var(--soft); }
figure { margin: 1rem 0; }
figure img { max-width: 100%; height: auto; border-radius: 6px; }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .4rem; }
"""
