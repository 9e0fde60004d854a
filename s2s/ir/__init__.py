"""The intermediate representation: JAX's jaxpr language, with symbolic dimensions."""
