"""jit: functions compiled by XLA, NumPy in and NumPy out."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from s2s.api import reads
from s2s.api.static_keys import static_key
from s2s.api.transformed import function_name, signature
from s2s.collector import collector_paused
from s2s.errors import UserError
from s2s.frontend.argument_types.types import ArgumentType, Static, as_numpys, place_of
from s2s.in_force import builder_in_force
from s2s.ir.dtypes import PYTHON_SCALARS, SHORT_NAMES, refused, refused_class
from s2s.ir.jaxpr import ShapedArray, aval_of
from s2s.tree import flatten, leaf_paths, unflatten
from s2s_codegen.stablehlo.cache import cache_folder
from s2s_codegen.stablehlo.entry import OTHER, entry
from s2s_codegen.stablehlo.executable import DeviceArray
from s2s_codegen.stablehlo.remembered import Remembered, recall, remember

if TYPE_CHECKING:
    from s2s.frontend.traced import Traced
    from s2s_codegen.stablehlo.mesh import Mesh, Partition, Sharding

F = TypeVar("F", bound=Callable[..., Any])


class Where(NamedTuple):
    """Where a compiled function runs."""

    platform: str | None = None
    stays: bool = False
    """Whether results stay on the device."""
    mesh: Mesh | None = None
    divisions: Mapping[str, Partition] | Sequence[Partition] = ()
    """How arguments are divided over the mesh, by name or position."""

    def sharding(self, traced: Traced) -> Sharding | None:
        """How the inputs of a traced function are divided, if there are several devices."""
        if self.mesh is None:
            return None
        names = [parameter.name for parameter in traced.parameters]
        divisions = self.divisions
        if not isinstance(divisions, Mapping):
            if len(divisions) > len(names):
                raise UserError(
                    f"in_shardings says how {len(divisions)} arguments are divided, but there are "
                    f"{len(names)}: {', '.join(names)}."
                )
            divisions = dict(zip(names, divisions, strict=False))
        from s2s_codegen.stablehlo.mesh import sharding_of

        return sharding_of(self.mesh, divisions, traced.parameters)


def _mesh(axes: Mapping[str, int]) -> Mesh:
    from s2s_codegen.stablehlo.mesh import Mesh

    return Mesh.of(axes)


def _partition(said: str | Sequence[str | None] | None) -> Partition:
    if said is None:
        return ()
    return (said,) if isinstance(said, str) else tuple(said)


class CompiledFunction(Generic[F]):
    """A function that XLA compiles for each set of argument types; see `jit`."""

    def __init__(self, fun: F, static: Sequence[int | str], where: Where) -> None:
        self.fun = fun
        self.static = static
        functools.update_wrapper(self, fun, updated=())
        self._where = where
        self._found: dict[Hashable, Specialisation] = {}
        self._num_args = -1
        self._enter: Callable[..., Any] = _never
        """For positional arguments of the types of the last call."""
        self._signature: inspect.Signature | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if builder_in_force() is not None:
            return _call_in_trace(self.fun, self.static, args, kwargs)
        if not kwargs and len(args) == self._num_args:
            result = self._enter(*args)
            if result is not OTHER:
                return result
        return self._call(args, kwargs)

    def _call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if self._signature is None:
            self._signature = signature(self.fun)
        bound = self._signature.bind(*args, **kwargs)
        given = set(bound.arguments)
        bound.apply_defaults()
        parameters = list(bound.arguments)
        fixed = {self._static_name(one, parameters) for one in self.static}
        arguments: dict[str, ArgumentType] = {}
        values: list[Any] = []
        for name, argument in bound.arguments.items():
            if name in fixed or name not in given:
                arguments[name] = Static(argument)
            else:
                arguments[name] = _type_of(name, argument, values)
        key = tuple(map(_key, arguments.values()))
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = _specialise(self.fun, arguments, self._where)
        results = found.run(values)
        # What is positional throughout need not be bound to parameters the next time.
        kinds = [parameter.kind for parameter in self._signature.parameters.values()]
        if not kwargs and len(args) == len(parameters) and _POSITIONAL.issuperset(kinds):
            self._remember(found, arguments)
        return found.build(results)

    def _static_name(self, one: int | str, parameters: Sequence[str]) -> str:
        if isinstance(one, str) and one in parameters:
            return one
        if isinstance(one, int) and -len(parameters) <= one < len(parameters):
            return parameters[one]
        raise UserError(
            f"the static argument {one!r} is none of the parameters of "
            f"{function_name(self.fun)}, which are {', '.join(parameters)}."
        )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method of an object, which is a static argument."""
        return self if instance is None else MethodType(self, instance)

    def _remember(self, found: Specialisation, arguments: Mapping[str, ArgumentType]) -> None:
        enter = found.entry(arguments)
        if enter is not None:
            self._num_args, self._enter = len(arguments), enter

    def __reduce__(self) -> Any:
        # What is compiled stays in this process.
        return type(self), (self.fun, self.static, self._where)

    def __repr__(self) -> str:
        return f"<{function_name(self.fun)}, compiled by XLA>"


def _call_in_trace(
    fun: Callable[..., Any],
    static: Sequence[int | str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    from s2s.control.jit import Jitted

    return Jitted(fun, static)(*args, **kwargs)


def _never(*args: Any) -> Any:
    return OTHER


class Specialisation:
    """A function compiled for arguments of given types."""

    def __init__(self, made: Remembered, device: bool) -> None:
        self._compiled = made.compiled
        self._result = made.result
        self._avals = made.out_avals
        self._device = device
        self._entry: Callable[..., Any] | None = None

    def run(self, values: Sequence[Any]) -> list[Any]:
        """The leaves of the result."""
        return self._compiled.on_device(values) if self._device else self._compiled(values)

    def build(self, results: Sequence[Any]) -> Any:
        """The result: values of rank 0 are numbers, unless they stay on the device."""
        if not self._device:
            results = list(map(_number, results, self._avals))
        return unflatten(self._result, results)

    def entry(self, arguments: Mapping[str, ArgumentType]) -> Callable[..., Any] | None:
        """A faster way in, for positional arguments of which nothing is static."""
        executable = self._compiled.executable
        if self._entry is not None or self._device or executable.is_watched:
            return self._entry
        parts = [flatten(argument) for argument in arguments.values()]
        if any(isinstance(leaf, Static) for leaves, _ in parts for leaf in leaves):
            return None
        typed = [(structure, leaves) for leaves, structure in parts]
        places = self._compiled.places
        self._entry = entry(typed, executable, places, self._result, self._avals)
        return self._entry


_POSITIONAL = frozenset(
    {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
)


def _number(result: Any, aval: ShapedArray) -> Any:
    if aval.weak_type:
        return result.item()
    return result if aval.shape else result[()]


@collector_paused()
def _specialise(
    fun: Callable[..., Any], arguments: Mapping[str, ArgumentType], where: Where
) -> Specialisation:
    may_remember = where.mesh is None and cache_folder() is not None
    read = reads.digest(fun, arguments) if may_remember else None
    made = None if read is None else recall(read, where.platform)
    return Specialisation(made or _compile(fun, arguments, where, read), where.stays)


def _compile(
    fun: Callable[..., Any], arguments: Mapping[str, ArgumentType], where: Where, read: str | None
) -> Remembered:
    """The function compiled; it is remembered if what its trace read is known."""
    from s2s.api.tracing import optimised_for_xla, trace
    from s2s.passes.effects import without_effects
    from s2s_codegen.stablehlo.compile import compile_jaxpr

    traced = trace(fun, arguments)
    # A trace that changed what it read would be another one the next time; and what is said about
    # effects that are left out is to be said each time.
    is_same_again = read is not None and reads.digest(fun, arguments) == read
    is_same_again = is_same_again and without_effects(traced.closed) is traced.closed
    sharding = where.sharding(traced)
    closed = optimised_for_xla(traced)
    compiled = compile_jaxpr(closed, function_name(fun), where.platform, sharding)
    made = Remembered(compiled, traced.result, traced.closed.out_avals)
    if read is not None and is_same_again:
        remember(read, where.platform, made)
    return made


def _type_of(name: str, argument: Any, values: list[Any]) -> ArgumentType:
    """The type of an argument. Its arrays and numbers are traced, and added to `values`."""
    parts, structure = flatten(argument)
    types: list[Any] = []
    for given, path in zip(parts, leaf_paths(structure), strict=True):
        part: Any = given if isinstance(given, DeviceArray) else as_numpys(given)
        if _is_array(part):
            why = refused_class(part)
            if why is not None:
                raise UserError(f"{place_of(name, path)}: {why}.")
            if not part.dtype.isnative:
                part = part.astype(part.dtype.newbyteorder("="))
            if part.dtype not in SHORT_NAMES:
                raise UserError(f"{place_of(name, path)}: {refused(part.dtype)}.")
            types.append(ShapedArray(part.shape, part.dtype))
            values.append(part)
        elif isinstance(part, DeviceArray):
            types.append(ShapedArray(part.shape, part.dtype))
            values.append(part)
        elif type(part) in PYTHON_SCALARS:
            if type(part) is int and not -(2**63) <= part < 2**63:
                raise UserError(
                    f"{place_of(name, path)} is {part}, which does not fit in 64 bits. Make it a "
                    "float, or static."
                )
            types.append(aval_of(part))
            values.append(part)
        else:
            types.append(Static(part))
    return unflatten(structure, types)


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _key(argument: ArgumentType) -> Hashable:
    leaves, structure = flatten(argument)
    return (structure, *map(_leaf_key, leaves))


def _leaf_key(leaf: Any) -> Hashable:
    if isinstance(leaf, ShapedArray):
        return (leaf.shape, leaf.dtype, leaf.weak_type)
    return static_key(leaf.value)


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    device: bool = False,
    platform: str | None = None,
    mesh: Mapping[str, int] | None = None,
    in_shardings: Mapping[str, Any] | Sequence[Any] = (),
) -> Any:
    """The function compiled by XLA, for each set of argument types when it is first called with it.

    Inside a function that is itself transformed, the call stays a call: a function that is called
    twice or more comes out as a function of the generated module.

    Args:
        fun: a user's or a transformed function, of arrays, numbers and containers of them; without
            it, `jit` is a decorator with parameters.
        static_argnums, static_argnames: arguments, by position or name, that are not traced: the
            function is compiled again for each value of them. Strings, functions and other objects
            always are; so is the `self` of a decorated method. An object, list or array that was
            changed is another value.
        device: whether results stay on the device, for further compiled calls to take them. They
            convert to NumPy arrays where one is wanted.
        platform: "cpu", "cuda" or "tpu"; by default what the environment variable `S2S_PLATFORM`
            says, or "cpu".
        mesh: several devices that compute together, as a grid: the names of its axes, and how many
            devices there are along each. Those of all processes that `s2s.distributed` brings
            together count.
        in_shardings: for arguments by name or position, the axis of the mesh over which the first
            axis is divided; or a tuple with one, or None, for each axis. `"params.w"` is a part of
            an argument. All else, and each result, every device has whole.

    Returns:
        A function of NumPy arrays and numbers that returns NumPy arrays, which cannot be written
        to, and numbers. What it computes may differ from NumPy's in the last bits. What the
        function reads besides its arguments, such as globals, is read when it is compiled.
        Compiled code raises no exceptions: an item that does not exist is NaN, or the least
        integer, and writing one changes nothing; an integer divided by zero is 0, a float infinity
        or NaN; Python's integers have 64 bits and wrap around; a float that is made an integer and
        does not fit becomes the nearest one that there is, and NaN becomes 0. XLA's
        arrays lie in row-major order, whatever the order of those that they are copied from: what
        the function reshapes and then changes, it changes as NumPy changes an array in that order.
    """
    if fun is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            device=device,
            platform=platform,
            mesh=mesh,
            in_shardings=in_shardings,
        )
    numbers = [static_argnums] if isinstance(static_argnums, int) else list(static_argnums)
    names = [static_argnames] if isinstance(static_argnames, str) else list(static_argnames)
    if in_shardings and mesh is None:
        raise UserError("in_shardings divides arguments over a mesh, so give one: mesh={'data': 4}")
    divisions: Any = (
        {name: _partition(said) for name, said in in_shardings.items()}
        if isinstance(in_shardings, Mapping)
        else list(map(_partition, in_shardings))
    )
    where = Where(platform, device, None if mesh is None else _mesh(mesh), divisions)
    return CompiledFunction(fun, [*numbers, *names], where)
