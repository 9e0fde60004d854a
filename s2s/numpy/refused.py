"""NumPy functions that are refused by name, with the reason and a way out."""

from __future__ import annotations

import numpy as np

from s2s.numpy.registry import refuse

refuse(
    "how many elements the result has depends on values, and the types of all results must follow "
    "from those of the arguments; use np.where(condition, x, y), or multiply by the condition",
    np.unique_values,
    np.unique_counts,
    np.unique_inverse,
    np.unique_all,
    np.setdiff1d,
    np.intersect1d,
    np.union1d,
    np.setxor1d,
    np.trim_zeros,
)
refuse(
    "how many elements the result has depends on values; with a number of bins k that you know, "
    "write counts = np.zeros(k) and np.add.at(counts, x, weights)",
    np.bincount,
)
refuse(
    "it is not supported yet; without NaN, use np.median, np.quantile or np.percentile",
    np.nanmedian,
    np.nanquantile,
    np.nanpercentile,
)
refuse(
    "the eigenvalues of general matrices are complex numbers, which are not supported yet; "
    "np.linalg.eigh and np.linalg.eigvalsh are for symmetric matrices",
    np.linalg.eig,
    np.linalg.eigvals,
)
refuse(
    "the rank is a whole number that jumps, so nothing can be differentiated through it; compute "
    "it outside, or count singular values with np.linalg.svdvals(x) > tolerance",
    np.linalg.matrix_rank,
)
refuse(
    "complex numbers are not supported yet; write the function on the real and imaginary parts",
    np.fft.fft,
    np.fft.ifft,
    np.fft.rfft,
    np.fft.irfft,
    np.angle,
)
refuse(
    "input and output under tracing are not supported; return the value, and write it outside",
    np.save,
    np.savez,
    np.savetxt,
    np.load,
    np.loadtxt,
)
refuse(
    "a Python function called for parts of an array is not supported; write it on whole arrays",
    np.apply_over_axes,
)
