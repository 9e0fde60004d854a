"""What each primitive becomes in StableHLO, by family. Imported for what they register."""

from s2s_codegen.stablehlo.lower import (
    contractions as contractions,
    control as control,
    cumulative as cumulative,
    elementwise as elementwise,
    indexing as indexing,
    layout as layout,
    linalg as linalg,
    reductions as reductions,
    sorting as sorting,
)
