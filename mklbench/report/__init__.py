"""Published tables beside measured ones: verdicts, rendering, figures and the regression check.

Data flows one way through the modules: `paper_table` (what was published and which cells measure
it) -> `assemble` (records of those cells, as numbers with verdicts) -> `layout` (a document) ->
`render` (Markdown, HTML, CSV). `figures` draws from the same records, `regression` runs a few of
them again, and `commands` is what the command line calls.
"""
