"""The report: one HTML file of everything that is recorded, to be opened from disk.

`collected` assembles the tables, `runs` and `content` are what the scripts of the page know, `grid`
is a table as the paper prints it, `papers` are the pages, and `build` fills the
templates in ``page/``. May import all of `report` but
`check`, and what is below; it is imported by `commands`.
"""
