"""Losses made of ops (cross-entropy is an op of its own, in functions.py)."""

from minitorch.tensor import as_tensor


def mse_loss(prediction, target):
    """The mean of (prediction - target)².

    Both must have one shape: (n, 1) minus (n,) would broadcast to (n, n) and fit the wrong thing,
    silently.  Raises ValueError for shapes that differ.
    """
    target = as_tensor(target)
    if prediction.shape != target.shape:
        raise ValueError(
            f"mse_loss needs two equal shapes; found {prediction.shape} and {target.shape}. "
            "Reshape one of them."
        )
    difference = prediction - target
    return (difference * difference).mean()
