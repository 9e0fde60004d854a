"""The types of a function's arguments: what they are, and all the ways to say them."""

from s2s.frontend.argument_types.collect import (
    ArgumentTypes as ArgumentTypes,
    argument_types as argument_types,
    bind as bind,
)
from s2s.frontend.argument_types.generalise import generalise as generalise
from s2s.frontend.argument_types.loop_bounds import with_loop_bounds as with_loop_bounds
from s2s.frontend.argument_types.types import (
    ArgumentType as ArgumentType,
    Static as Static,
    render as render,
    type_of_example as type_of_example,
)
