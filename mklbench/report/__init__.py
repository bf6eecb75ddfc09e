"""Published tables beside measured ones: verdicts, pages, figures and the regression check.

Data flows one way: `table` (what was published, and which runs measure it) -> `analysis` (records
of those runs, as numbers) -> `claims` (of the paper's text) -> `layout` (a page in Markdown) ->
`formats` (a file; `document` makes HTML and LaTeX). `figures` draws from the same records,
`loading` reads the YAML of a table, `results` writes it all, `frames` gives it as data frames, and
`check` repeats some of the runs.

May import `experiments` and what is below; it is imported by `commands`.
"""
