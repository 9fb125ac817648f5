"""The door to the compiled kernels: kept on disk, or still to be compiled. Loads scikit-learn and numba."""

from costboost.warming import is_warm, kernel_folder, warm

__all__ = ["is_warm", "kernel_folder", "warm"]
