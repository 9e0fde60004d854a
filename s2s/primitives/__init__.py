"""The primitives, one file a family. `s2s.lax` is their surface, with JAX's names."""
