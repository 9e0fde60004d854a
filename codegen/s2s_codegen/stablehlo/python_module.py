"""A Python module that holds a function as StableHLO and runs it with jaxlib, without s2s."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping

from s2s.errors import UserError
from s2s.frontend.argument_types.types import Static
from s2s.ir.dims import Size, dimension, linear_in, names_of, same_size
from s2s.ir.jaxpr import ClosedJaxpr, Literal, ShapedArray
from s2s_codegen.numpy_source.description import Description
from s2s_codegen.numpy_source.docstring import function_docstring, module_docstring
from s2s_codegen.numpy_source.entry import access_paths, checking_static
from s2s_codegen.numpy_source.format import format_statements
from s2s_codegen.numpy_source.module import build, parameter_texts, signature_lines
from s2s_codegen.stablehlo.emit import emit_module
from s2s_codegen.stablehlo.names import Arguments
from s2s_codegen.stablehlo.text import element_type, tensor_type

COMPILER = '''\
@functools.cache
def _compiler():
    """A function that compiles a module for this machine, as a function of a list of arrays."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # says nothing when it starts
    from jaxlib import _jax, xla_client

    class Type:
        weak_type = False

        def __init__(self, shape, dtype):
            self.shape, self.dtype = shape, np.dtype(dtype)

    class OneDevice(_jax.SingleDeviceSharding):
        memory_kind = None

        def _to_xla_hlo_sharding(self, ndim):
            return xla_client.HloSharding.replicate()

    client = xla_client.make_cpu_client(asynchronous=False)
    device = client.local_devices()[0]
    sharding = OneDevice(device)
    devices = _jax.DeviceList((device,))
    copied = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
    # Up to jaxlib 0.11.0 there is one argument more.
    skips = "_skip_checks" in str(_jax.array_result_handler.__nb_signature__)
    process = os.getpid()

    def check_process():
        if os.getpid() != process:
            raise RuntimeError(
                "this process was forked from one that had used XLA, whose threads do not exist "
                "here; start processes with the method spawn or forkserver of multiprocessing"
            )

    def put(array):
        kind = Type(array.shape, array.dtype)
        return xla_client.batched_device_put(
            kind, sharding, [array], [device], True, False, copied, True
        )

    def compile(module, results):
        check_process()
        loaded = client.compile_and_load(module, devices, xla_client.CompileOptions())
        handlers = [
            _jax.array_result_handler(Type(*kind), sharding, True, *[True] * skips)
            for kind in results
        ]

        def run(arrays):
            check_process()
            found = loaded.execute_sharded([put(array) for array in arrays])
            return [np.asarray(result) for result in found.consume_with_handlers(handlers)]

        return run

    return compile
'''

LAPACK = """\
    from jaxlib import lapack

    for platform, targets in lapack.registrations().items():
        for name, capsule, version in targets:
            xla_client.register_custom_call_target(
                name, capsule, platform=platform, api_version=version
            )
    lapack._lapack.initialize()
"""
"""What the compiler does besides where the module calls LAPACK."""

PROGRAM = '''\
@functools.cache
def _program():
    """The module, compiled for this machine."""
    return _compiler()(MODULE, RESULTS)
'''

PROGRAM_OF_OPEN_SIZES = '''\
@functools.cache
def _program(shapes, result_shapes):
    """The module, compiled for this machine and for arguments of these shapes."""
    compile = _compiler()
    from jaxlib import _jax

    types = [
        f"tensor<{'x'.join(map(str, [*shape, element]))}>"
        for shape, element in zip(shapes, ELEMENTS)
    ]
    parameters = ", ".join(f"%arg{i}: {type}" for i, type in enumerate(types))
    converted = "".join(
        f"    %{i} = stablehlo.convert %arg{i} : ({type}) -> {wanted}\\n"
        for i, (type, wanted) in enumerate(zip(types, ARGUMENTS))
    )
    operands = ", ".join(f"%{i}" for i in range(len(types)))
    outputs = ", ".join(type for _, type in RESULTS)
    returned = ", ".join(f"%results#{i}" for i in range(len(RESULTS)))
    main = f"""
  func.func public @main({parameters}) -> ({outputs}) {{
{converted}    %results:{len(RESULTS)} = func.call @of_any_size({operands})
      : ({', '.join(ARGUMENTS)}) -> ({outputs})
    return {returned} : {outputs}
  }}
}}
"""
    try:
        module = _jax.mlir.refine_polymorphic_shapes(
            (MODULE.rstrip().removesuffix("}") + main).encode(),
            enable_shape_assertions=True,
            validate_static_shapes=True,
        )
    except RuntimeError as error:
        message = str(error).partition("\\n")[0]
        raise ValueError(message.partition(" error: ")[2] or message) from None
    dtypes = [dtype for dtype, _ in RESULTS]
    return compile(module, list(zip(result_shapes, dtypes)))


def _shape(name, value, rank, may_be_empty=False):
    """The shape of an argument, which must have so many axes, and elements."""
    shape = np.shape(value)
    if len(shape) != rank or (0 in shape and not may_be_empty):
        wanted = f"{rank} axes and no size 0"
        raise TypeError(f"{name} must be an array with {wanted}, not of shape {shape}")
    return shape
'''

CHECKED = '''\
def _checked(name, value, shape, dtype):
    """An argument as an array; XLA would take any other of as many bytes for one."""
    if type(value) in (bool, int, float, complex):
        value = np.dtype(dtype).type(value)
    array = np.asarray(value)
    if array.shape != shape or array.dtype.newbyteorder("=") != dtype:
        raise TypeError(
            f"{name} must be an array of {dtype} of shape {shape}, "
            f"not of {array.dtype} of shape {array.shape}"
        )
    return array.astype(dtype, copy=False)
'''


def render(description: Description, closed: ClosedJaxpr) -> str:
    """The text of a module with one function, which computes the jaxpr.

    Where sizes are open, the StableHLO is made for given ones when the function is called.
    """
    _check_element_types(description, closed)
    _check_names(description)
    title = module_docstring(description, ["numpy"]).replace(
        "Needs NumPy only.", "Needs NumPy and jaxlib only."
    )
    names = names_in_function(description, closed)
    if names:
        arguments = Arguments(description.name, _places(description), description.minimum)
        module = emit_module(closed, description.name, arguments=arguments, entry="of_any_size")
        program = PROGRAM_OF_OPEN_SIZES
        constants = [
            f"ELEMENTS = {_list(element_type(aval.dtype) for aval in closed.in_avals)}",
            f"ARGUMENTS = {_list(map(tensor_type, closed.in_avals))}",
        ]
        results = [f'    ("{a.dtype.name}", "{tensor_type(a)}"),' for a in closed.out_avals]
    else:
        module = emit_module(closed, description.name)
        program = PROGRAM
        constants = []
        results = [f'    ({_sizes(a, {})}, "{a.dtype.name}"),' for a in closed.out_avals]
    compiler = COMPILER
    if "lapack_" in module:
        compiler = compiler.replace("\n    class Type:", f"\n{LAPACK}\n    class Type:", 1)
    parts = [
        "\n".join(_function(description, closed, names)),
        CHECKED,
        program,
        compiler,
        "\n".join([*constants, "RESULTS = [", *results, "]"]),
    ]
    head = f'"""{_escaped(title)}\n"""\n\nimport functools\nimport os\n\nimport numpy as np'
    body = "\n\n\n".join(part.rstrip() for part in parts)
    return f'{head}\n\n\n{body}\n\nMODULE = r"""\n{module.rstrip()}\n"""\n'


def _check_element_types(description: Description, closed: ClosedJaxpr) -> None:
    for aval in (*closed.in_avals, *closed.out_avals):
        if aval.dtype.isbuiltin != 1:
            raise UserError(
                f"{description.name}: --target xla writes no functions of {aval.dtype.name}; an "
                "artifact (--stablehlo) can have it."
            )


_OWN_NAMES = frozenset(
    "ARGUMENTS ELEMENTS MODULE RESULTS _checked _compiler _program _shape functools np os "
    "ValueError enumerate len list map range str tuple type zip".split()
)
"""What a module calls its own, and what it uses of Python's."""


def _check_names(description: Description) -> None:
    for what, name in [
        ("the function", description.name),
        *[("a parameter", parameter.name) for parameter in description.parameters],
    ]:
        if name in _OWN_NAMES:
            other = "give it another one by --name" if what == "the function" else "rename it"
            raise UserError(
                f"{description.name}: {what} cannot be called `{name}` in a module for XLA, which "
                f"has that name itself; {other}."
            )


def names_in_function(description: Description, closed: ClosedJaxpr) -> dict[str, str]:
    """What the named dimensions are called in the function, which has other names too."""
    found = [n for aval in closed.in_avals for size in aval.shape for n in sorted(names_of(size))]
    taken = {p.name for p in description.parameters} | {"arrays", "results", "np"}
    return {
        name: f"{name}_size" if name in taken or keyword.iskeyword(name) else name
        for name in dict.fromkeys(found)
    }


def _inputs(description: Description) -> list[tuple[str, ShapedArray]]:
    """For each input of the program, the expression of the argument, and its type."""
    return [
        (path, leaf)
        for parameter in description.parameters
        for path, leaf in access_paths(parameter)
        if not isinstance(leaf, Static)
    ]


def _places(description: Description) -> list[str]:
    return [path.replace('"', "'") for path, _ in _inputs(description)]


def _list(texts: Iterable[str]) -> str:
    quoted = [f'"{text}"' for text in texts]
    return f"[{', '.join(quoted)}]"


def _sizes(aval: ShapedArray, names: Mapping[str, str]) -> str:
    """The shape of a type, as Python."""
    sizes = [_size(size, names) for size in aval.shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def _size(size: Size, names: Mapping[str, str]) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda word: names[word[0]], str(size))


def _reading(description: Description, names: Mapping[str, str]) -> list[str]:
    """The statements that read the named dimensions off the arguments."""
    lines: list[str] = []
    known: set[str] = set()

    def unknown(size: Size) -> bool:
        return any(same_size(size, dimension(name)) for name in names.keys() - known)

    inputs = _inputs(description)
    for path, aval in sorted(inputs, key=lambda pair: -pair[1].ndim):
        distinct = len(set(map(str, aval.shape))) == aval.ndim
        if aval.shape and distinct and all(map(unknown, aval.shape)):
            known.update(map(str, aval.shape))
            targets = ", ".join(_size(size, names) for size in aval.shape)
            comma = "," if aval.ndim == 1 else ""
            lines.append(f"    {targets}{comma} = {_shape_of(path, aval)}")
    axes = [(path, aval, axis) for path, aval in inputs for axis in range(aval.ndim)]
    for path, aval, axis in sorted(axes, key=lambda place: len(str(place[1].shape[place[2]]))):
        found = linear_in(aval.shape[axis], known)
        if found is not None:
            name, factor, rest = found
            known.add(name)
            text = f"{_shape_of(path, aval)}[{axis}]"
            if not same_size(rest, 0):
                text = f"({text} - ({_size(rest, names)}))"
            text += f" // {factor}" if factor != 1 else ""
            lines.append(f"    {names[name]} = {text}")
    return lines


def _shape_of(path: str, aval: ShapedArray) -> str:
    name = path.replace('"', "'")
    empty = ", may_be_empty=True" if any(same_size(size, 0) for size in aval.shape) else ""
    return f'_shape("{name}", {path}, {aval.ndim}{empty})'


def _function(description: Description, closed: ClosedJaxpr, names: Mapping[str, str]) -> list[str]:
    doc = function_docstring(description, _result_names(closed), closed.out_avals)
    body = [*format_statements(checking_static(description.parameters), 1)]
    body += _reading(description, names)
    for name, least in sorted(description.minimum.items()):
        if least > 1 and name in names:
            body.append(f"    if {names[name]} < {least}:")
            body.append(f'        raise ValueError("{names[name]} must be at least {least}")')
    body.append("    arrays = [")
    for path, aval in _inputs(description):
        name = path.replace('"', "'")
        shape = _sizes(aval, names)
        body.append(f'        _checked("{name}", {path}, {shape}, "{aval.dtype.name}"),')
    if names:
        body += ["    ]", "    shapes = tuple(array.shape for array in arrays)"]
        outputs = ", ".join(_sizes(aval, names) for aval in closed.out_avals)
        comma = "," if len(closed.out_avals) == 1 else ""
        body.append(f"    results = _program(shapes, ({outputs}{comma}))(arrays)")
    else:
        body += ["    ]", "    results = _program()(arrays)"]
    results = [
        f"results[{i}]{'.item()' if aval.weak_type else '' if aval.shape else '[()]'}"
        for i, aval in enumerate(closed.out_avals)
    ]
    returned = f"    return {build(description.result, results)}"
    quoted = [f"    {line}" if line else "" for line in map(_escaped, doc)]
    quoted[0] = f'    """{quoted[0].lstrip()}'
    end = ['    """'] if len(quoted) > 1 else []
    if not end:
        quoted[0] += '"""'
    texts = parameter_texts(description.parameters, False)
    return [*signature_lines(description.name, texts), *quoted, *end, *body, returned]


def _result_names(closed: ClosedJaxpr) -> list[str]:
    names = [None if isinstance(a, Literal) else a.name for a in closed.jaxpr.outvars]
    return [
        name or ("value" if len(names) == 1 else f"value_{number}")
        for number, name in enumerate(names, start=1)
    ]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', r"\"\"\"")
