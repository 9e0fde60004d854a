"""A Python module that holds a function as StableHLO and runs it with jaxlib, without s2s."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.errors import UserError
from s2s.frontend.argument_types.types import Static
from s2s.ir.dims import names_of
from s2s.ir.jaxpr import ClosedJaxpr, Literal, ShapedArray
from s2s_codegen.numpy_source.description import Description
from s2s_codegen.numpy_source.docstring import function_docstring, module_docstring
from s2s_codegen.numpy_source.entry import access_paths, checking_static
from s2s_codegen.numpy_source.format import format_statements
from s2s_codegen.numpy_source.module import build, parameter_texts, signature_lines
from s2s_codegen.stablehlo.emit import emit_module

LOADER = '''\
@functools.cache
def _program():
    """The module compiled for this machine: a function of arrays that returns a list of arrays."""
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
    execute = client.compile_and_load(MODULE, devices, xla_client.CompileOptions()).execute_sharded
    # Up to jaxlib 0.11.0 there is one argument more.
    skips = "_skip_checks" in str(_jax.array_result_handler.__nb_signature__)
    handlers = [
        _jax.array_result_handler(Type(*kind), sharding, True, *[True] * skips) for kind in RESULTS
    ]
    copied = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL

    def put(array):
        kind = Type(array.shape, array.dtype)
        return xla_client.batched_device_put(
            kind, sharding, [array], [device], True, False, copied, True
        )

    def run(arrays):
        results = execute([put(array) for array in arrays]).consume_with_handlers(handlers)
        return [np.asarray(result) for result in results]

    return run


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

LAPACK = """\
    from jaxlib import lapack

    # What the module calls of LAPACK; without this the first call would end the process.
    for platform, targets in lapack.registrations().items():
        for name, target, version in targets:
            xla_client.register_custom_call_target(
                name, target, platform=platform, api_version=version
            )
    lapack._lapack.initialize()

"""


def render(description: Description, closed: ClosedJaxpr) -> str:
    """The text of a module with one function, which computes the jaxpr.

    Raises UserError if a size is not fixed.
    """
    avals = closed.in_avals
    open_sizes = sorted({n for aval in avals for size in aval.shape for n in names_of(size)})
    if open_sizes:
        shown = ",".join(f"{name}=..." for name in open_sizes)
        raise UserError(f"--target xla needs all sizes; give them by --dims {shown}")
    title = module_docstring(description, ["numpy"]).replace(
        "Needs NumPy only.", "Needs NumPy and jaxlib only."
    )
    module = emit_module(closed, description.name)
    lines = [
        f'"""{_escaped(title)}',
        '"""',
        "",
        "import functools",
        "import os",
        "",
        "import numpy as np",
        "",
        "",
        *_function(description, closed),
        "",
        "",
        *_loader(module),
        "",
        "",
        "RESULTS = [",
        *[f'    ({_shape(aval)}, "{aval.dtype.name}"),' for aval in closed.out_avals],
        "]",
        "",
        'MODULE = r"""',
        module.rstrip(),
        '"""',
    ]
    return "\n".join(lines) + "\n"


def _loader(module: str) -> Sequence[str]:
    text = LOADER.rstrip()
    if "@lapack_" in module:
        client = "    client = "
        text = text.replace(client, LAPACK + client, 1)
    return text.split("\n")


def _shape(aval: ShapedArray) -> str:
    return repr(tuple(map(int, aval.shape)))  # type: ignore[arg-type]


def _function(description: Description, closed: ClosedJaxpr) -> list[str]:
    doc = function_docstring(description, _result_names(closed), closed.out_avals)
    body = [*format_statements(checking_static(description.parameters), 1), "    arrays = ["]
    for parameter in description.parameters:
        for path, leaf in access_paths(parameter):
            if not isinstance(leaf, Static):
                name = path.replace('"', "'")
                body.append(
                    f'        _checked("{name}", {path}, {_shape(leaf)}, "{leaf.dtype.name}"),'
                )
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
