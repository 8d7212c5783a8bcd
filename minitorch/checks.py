"""What a tensor cannot hold and what a walk back cannot start from; and what to do instead."""

import numpy as np


def refuse_data(data, requires_grad):
    """Raises TypeError for what is not numbers, RuntimeError, like torch, for an integer leaf."""
    if data.dtype.kind not in "biuf":
        raise TypeError(f"a Tensor holds numbers; found {data.dtype} data: {data.tolist()!r:.60}")
    if requires_grad and data.dtype.kind != "f":
        raise RuntimeError(
            f"only floating-point tensors can require gradients; found {data.dtype}. "
            "Write 1.0 instead of 1, or pass data.astype(float)."
        )


def refuse_root(root, gradient):
    """Raises RuntimeError, like torch, where `root.backward(gradient)` has no meaning."""
    if not root.requires_grad:
        raise RuntimeError(
            "backward() needs a tensor that requires a gradient; this one was made from "
            "constants only. Pass requires_grad=True to a leaf."
        )
    if gradient is None and root.data.size != 1:
        raise RuntimeError(
            f"a gradient can be implied only for one element; found shape {root.shape}. "
            "Reduce the tensor (.sum()) or call backward(gradient)."
        )
    if gradient is not None and np.asarray(gradient).dtype.kind not in "biuf":
        raise RuntimeError(
            f"the gradient must hold real numbers; found {np.asarray(gradient).dtype}. "
            "Pass one number for each element."
        )
    if gradient is not None and np.shape(gradient) != root.shape:
        raise RuntimeError(
            f"the gradient must have the tensor's shape {root.shape}; found {np.shape(gradient)}. "
            "Pass one number for each element."
        )
