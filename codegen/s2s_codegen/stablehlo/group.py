"""Several processes that run one program together, on one machine or many.

Each process calls `join` with the address of the first one, its own number and how many there are.
The devices of all of them then make up the meshes of programs. On CPUs, what they say to each
other goes through gloo, over TCP.
"""

from __future__ import annotations

import atexit
import contextlib
from dataclasses import dataclass
from typing import Any

from s2s.errors import UserError
from s2s_codegen.stablehlo.xla import error_type, jaxlib

TIMEOUT = 60
"""Seconds to wait for the other processes."""


@dataclass(frozen=True)
class Group:
    """The processes that run programs together, as one of them sees it."""

    rank: int
    """The number of this process."""
    world: int
    """How many processes there are."""
    client: Any
    """The connection to the first one."""
    host: str
    """The address at which the others reach this process."""

    def client_options(self) -> dict[str, Any]:
        """What a client of CPU devices has to know of the group."""
        collectives = jaxlib().jax.make_gloo_tcp_collectives(
            distributed_client=self.client, hostname=self.host
        )
        return {
            "distributed_client": self.client,
            "node_id": self.rank,
            "num_nodes": self.world,
            "collectives": collectives,
        }


class _Membership:
    """The group that this process has joined."""

    group: Group | None = None


_membership = _Membership()


def joined() -> Group | None:
    """The group that this process has joined, if any."""
    return _membership.group


def join(coordinator: str, rank: int, world: int, timeout: float = TIMEOUT) -> None:
    """Make this process one of several that run programs of a mesh together.

    Args:
        coordinator: the address `HOST:PORT` at which process 0 listens, a free port of its machine.
        rank: the number of this process, from 0 to `world - 1`.
        world: how many processes there are.
        timeout: seconds to wait for the others.

    Raises:
        UserError: if the address is none, or the others do not come in time.
    """
    # Opening sockets is what this is imported for, which takes a while.
    from s2s_codegen.stablehlo.gathering import Gathering, address, announce

    host, port = address(coordinator)
    if world < 1 or not 0 <= rank < world:
        raise UserError(
            f"process {rank} of {world}: processes are numbered from 0 to one less than there are."
        )
    if _membership.group is not None:
        raise UserError("this process has already joined others, which it can do once.")
    lib = jaxlib().jax
    service = None
    if rank == 0:
        with Gathering(coordinator, world, timeout) as gathering:
            gathering.wait()
            service = _service(coordinator, world)
            gathering.answer("welcome")
        own = host
    else:
        own = announce(coordinator, rank, world, timeout)
    client = lib.get_distributed_runtime_client(
        f"{host}:{port}",
        rank,
        init_timeout=max(1, round(timeout)),
        shutdown_timeout=10,
        heartbeat_timeout=10,
        use_compression=True,
    )
    client.connect()
    _membership.group = Group(rank, world, client, own)
    atexit.register(_leave, client, service)


def _leave(client: Any, service: Any) -> None:
    # The others may be gone already.
    with contextlib.suppress(error_type()):
        client.shutdown()
    if service is not None:
        service.shutdown()


def _service(coordinator: str, world: int) -> Any:
    from s2s_codegen.stablehlo.gathering import cannot_listen

    try:
        return jaxlib().jax.get_distributed_runtime_service(
            coordinator, world, heartbeat_timeout=10, shutdown_timeout=10
        )
    except error_type() as error:
        raise cannot_listen(coordinator, str(error).partition("\n")[0]) from error
