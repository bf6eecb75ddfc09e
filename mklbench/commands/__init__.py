"""The commands behind the command line, each imported when it is used."""
