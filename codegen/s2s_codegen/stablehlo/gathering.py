"""How processes find each other, before jaxlib connects them: it ends them if one does not come.

Each says to the first one who it is, in a line, and gets a line back when all are there, or one
that says what is wrong.
"""

from __future__ import annotations

import contextlib
import socket
import time

from s2s.errors import UserError

_MARK = "s2s"


def address(coordinator: str) -> tuple[str, int]:
    """The machine and the port of `HOST:PORT`. Raises UserError for anything else."""
    host, colon, port = coordinator.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise UserError(
            f"{coordinator!r} is no address of the first process; write HOST:PORT, as in "
            "127.0.0.1:12355."
        )
    return host, int(port)


def cannot_listen(coordinator: str, why: str) -> UserError:
    """The error of the first process if it cannot listen at its address."""
    return UserError(
        f"process 0 cannot listen at {coordinator} ({why}). Give an address of this machine and a "
        "free port."
    )


class Gathering:
    """The other processes, as the first one hears of them."""

    def __init__(self, coordinator: str, world: int, timeout: float) -> None:
        self._coordinator = coordinator
        self._world = world
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._there: dict[int, socket.socket] = {}
        try:
            self._server = socket.create_server(address(coordinator))
        except OSError as error:
            raise cannot_listen(coordinator, error.strerror or str(error)) from error

    def __enter__(self) -> Gathering:
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


def announce(coordinator: str, rank: int, world: int, timeout: float) -> str:
    """Say to process 0 that this one is there, and wait for the others. Returns the address at
    which this machine is reached from there."""
    host, _ = address(coordinator)
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection = socket.create_connection(address(coordinator), timeout=timeout)
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
