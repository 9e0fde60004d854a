"""What each primitive becomes in StableHLO, by family. Imported for what they register."""

from s2s_codegen.stablehlo.lower import (
    contractions as contractions,
    elementwise as elementwise,
    layout as layout,
    reductions as reductions,
)
