"""Multiple kernel learning: algorithms, kernel operators, and the papers' experiments run again."""
