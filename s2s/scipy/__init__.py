"""The surface of SciPy that a user's code meets. Imported when a user's code has imported SciPy."""
