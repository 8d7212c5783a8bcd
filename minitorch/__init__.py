"""minitorch: tensor autograd in NumPy, small enough to read in one sitting."""

from minitorch.axes import unbroadcast
from minitorch.functions import cat, cross_entropy, stack
from minitorch.gradcheck import gradcheck
from minitorch.losses import mse_loss
from minitorch.optim import SGD
from minitorch.tensor import Tensor, as_tensor, record
from minitorch.training import fit

__all__ = [
    "SGD",
    "Tensor",
    "as_tensor",
    "cat",
    "cross_entropy",
    "fit",
    "gradcheck",
    "mse_loss",
    "record",
    "stack",
    "unbroadcast",
]
