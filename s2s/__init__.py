"""s2s: a source-to-source transformation compiler for numerical Python."""

__version__ = "0.1.0"
