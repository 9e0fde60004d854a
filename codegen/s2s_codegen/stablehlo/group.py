"""Several processes that run one program together, on one machine or many.

Each process calls `join` with the address of the first one, its own number and how many there are.
The devices of all of them then make up the meshes of programs. On CPUs, what they say to each
other goes through gloo, over TCP.
"""

from __future__ import annotations

import atexit
import contextlib
import socket
import time
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
    host, port = _address(coordinator)
    if world < 1 or not 0 <= rank < world:
        raise UserError(
            f"process {rank} of {world}: processes are numbered from 0 to one less than there are."
        )
    if _membership.group is not None:
        raise UserError("this process has already joined others, which it can do once.")
    lib = jaxlib().jax
    service = None
    if rank == 0:
        with _Gathering(coordinator, world, timeout) as gathering:
            gathering.wait()
            service = _service(coordinator, world)
            gathering.answer("welcome")
        own = host
    else:
        own = _announce(coordinator, rank, world, timeout)
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


def _address(coordinator: str) -> tuple[str, int]:
    host, colon, port = coordinator.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise UserError(
            f"{coordinator!r} is no address of the first process; write HOST:PORT, as in "
            "127.0.0.1:12355."
        )
    return host, int(port)


def _service(coordinator: str, world: int) -> Any:
    try:
        return jaxlib().jax.get_distributed_runtime_service(
            coordinator, world, heartbeat_timeout=10, shutdown_timeout=10
        )
    except error_type() as error:
        raise _cannot_listen(coordinator, str(error).partition("\n")[0]) from error


def _cannot_listen(coordinator: str, why: str) -> UserError:
    return UserError(
        f"process 0 cannot listen at {coordinator} ({why}). Give an address of this machine and a "
        "free port."
    )


# -- gathering ------------------------------------------------------------------------------------
#
# Before jaxlib connects the processes, which ends them if one does not come, each says to the first
# who it is, in a line, and gets a line back.


class _Gathering:
    """The other processes, as the first one hears of them."""

    def __init__(self, coordinator: str, world: int, timeout: float) -> None:
        self._coordinator = coordinator
        self._world = world
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._there: dict[int, socket.socket] = {}
        try:
            self._server = socket.create_server(_address(coordinator))
        except OSError as error:
            raise _cannot_listen(coordinator, error.strerror or str(error)) from error

    def __enter__(self) -> _Gathering:
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.close()
        for connection in self._there.values():
            connection.close()

    def wait(self) -> None:
        """Until all are there; then the port is free for jaxlib."""
        while len(self._there) < self._world - 1:
            self._server.settimeout(max(0.01, self._deadline - time.monotonic()))
            try:
                connection, _ = self._server.accept()
            except TimeoutError:
                problem = f"{self._missing()} did not come to {self._coordinator} within "
                problem += f"{self._timeout:g} seconds"
                self.answer(problem)
                raise UserError(
                    f"{problem}. Start each process with the same coordinator and number of "
                    "processes, and with a number of its own."
                ) from None
            self._hear(connection)
        self._server.close()

    def _missing(self) -> str:
        absent = [str(rank) for rank in range(1, self._world) if rank not in self._there]
        return f"process{'es' if len(absent) > 1 else ''} {', '.join(absent)} of {self._world}"

    def _hear(self, connection: socket.socket) -> None:
        connection.settimeout(1.0)
        try:
            said = _read_line(connection).split()
            mark, rank, world = said[0], int(said[1]), int(said[2])
        except (OSError, ValueError, IndexError):
            connection.close()  # something else that came to the port
            return
        problem = ""
        if mark != _MARK or not 0 < rank < world:
            problem = "it is no process of s2s"
        elif world != self._world:
            problem = f"process 0 expects {self._world} processes, not {world}"
        elif rank in self._there:
            problem = f"there is a process {rank} already"
        if problem:
            _send_line(connection, problem)
            connection.close()
        else:
            self._there[rank] = connection

    def answer(self, line: str) -> None:
        """Say the same to all who are there."""
        for connection in self._there.values():
            _send_line(connection, line)


_MARK = "s2s"


def _announce(coordinator: str, rank: int, world: int, timeout: float) -> str:
    """Say to process 0 that this one is there, and wait for the others. Returns the address at
    which this machine is reached from there."""
    host, _ = _address(coordinator)
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection = socket.create_connection(_address(coordinator), timeout=timeout)
        except socket.gaierror as error:
            raise UserError(f"there is no machine {host} ({error.strerror}).") from error
        except OSError as error:
            if time.monotonic() > deadline:
                raise UserError(
                    f"no process listens at {coordinator} after {timeout:g} seconds "
                    f"({error.strerror or error}). Start process 0 there, where it can be reached "
                    "from here."
                ) from error
            time.sleep(0.1)
            continue
        with connection:
            # Process 0 gives up first, and says so.
            connection.settimeout(timeout + 1.0)
            _send_line(connection, f"{_MARK} {rank} {world}")
            try:
                answer = _read_line(connection)
            except OSError:
                answer = ""
            if answer == "welcome":
                return connection.getsockname()[0]
            problem = answer or "it gave no answer"
            raise UserError(f"process 0 at {coordinator} does not take this one: {problem}.")


def _send_line(connection: socket.socket, line: str) -> None:
    with contextlib.suppress(OSError):  # who has left need not hear it
        connection.sendall(f"{line}\n".encode())


def _read_line(connection: socket.socket) -> str:
    received = b""
    while not received.endswith(b"\n") and len(received) < 1000:
        more = connection.recv(100)
        if not more:
            break
        received += more
    return received.decode(errors="replace").strip()
