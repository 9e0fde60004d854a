"""The types of a function's arguments: what they are, and all the ways to say them."""
