"""The report: one HTML file of everything that is recorded, to be opened from disk.

`content` is what the scripts of the page know, `papers` are the pages, and `build` fills the
templates in ``page/``. May import all of `report` but `check`, and what is below; it is imported by
`commands`.
"""
