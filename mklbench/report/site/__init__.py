"""The report: one HTML file of everything that is recorded, to be opened from disk.

`collected` assembles the tables, `numbers` and `cells` are what the page knows of them, `grid` is a
table as the paper prints it, `papers`, `start` and `compare` are the pages, and `build` fills the
templates in ``page/``, with what is large packed by `packing`. May import all of `report` but
`check`, and what is below; it is imported by `commands`.
"""
