"""Several processes that run a compiled function together, with JAX's names.

s2s.distributed.initialize("10.0.0.1:12355", num_processes=2, process_id=0)
step = s2s.jit(s2s.grad(loss), mesh={"data": 2}, in_shardings={"x": "data", "y": "data"})
"""

from __future__ import annotations


def initialize(
    coordinator_address: str,
    num_processes: int,
    process_id: int,
    initialization_timeout: float = 60,
) -> None:
    """Make this process one of several whose devices make up the meshes of `s2s.jit`.

    Each process then calls the same compiled functions in the same order with the same arguments,
    and each has the whole result. It is called once, before the first function of a mesh.

    Args:
        coordinator_address: `HOST:PORT` at which process 0 listens, a free port of its machine.
        num_processes: how many processes there are.
        process_id: the number of this one, from 0.
        initialization_timeout: seconds to wait for the others.

    Raises:
        UserError: if the others cannot be reached in time.
    """
    from s2s_codegen.stablehlo.group import join

    join(coordinator_address, process_id, num_processes, initialization_timeout)
