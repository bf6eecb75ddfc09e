"""Published tables beside measured ones: verdicts, pages, figures and the regression check.

Data flows one way: `table` (what was published, and which cells measure it) -> `analysis` (records
of those cells, as numbers) -> `layout` (a page) -> `document` (Markdown, HTML) -> `formats` (a
file). `figures` draws from the same records, `results` writes it all, and `check` runs some of them
again. May import `experiments` and what is below; it is imported by `commands`.
"""
