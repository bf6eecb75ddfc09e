"""The version of the package, where everything may ask for it."""

__version__ = "0.2.0"
