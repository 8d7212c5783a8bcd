"""What a walk back cannot start from, and what to do instead."""

import numpy as np


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
    if gradient is not None and np.shape(gradient) != root.shape:
        raise RuntimeError(
            f"the gradient must have the tensor's shape {root.shape}; found {np.shape(gradient)}. "
            "Pass one number for each element."
        )
