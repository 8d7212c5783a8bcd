"""Stochastic gradient descent: a step against the gradient."""

import numpy as np


class SGD:
    """v ← μ v + (g + λ p),   p ← p - η v, as in torch.optim.SGD (no dampening, no Nesterov).

    `parameters` are leaves; one that is listed twice is stepped once.  A parameter without a
    gradient is left alone.  `step` rebinds `p.data` to a new array: arrays that somebody else holds
    stay as they are.  Raises ValueError for no parameters, for the result of an op among them, and
    for a negative `lr`, `momentum` or `weight_decay`.
    """

    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters = list(dict.fromkeys(parameters))
        if not self.parameters:
            raise ValueError("SGD needs at least one parameter; found none")
        if any(p._prev for p in self.parameters):
            raise ValueError(
                "SGD moves leaves; found the result of an op. Pass a list of the tensors that were "
                "made with requires_grad=True."
            )
        for name, number in (("lr", lr), ("momentum", momentum), ("weight_decay", weight_decay)):
            if not number >= 0:
                raise ValueError(f"{name} must be at least 0; found {number}")
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocity = {}

    def zero_grad(self):
        """Forgets the gradient of every parameter."""
        for p in self.parameters:
            p.zero_grad()

    def step(self):
        """Moves every parameter that has a gradient."""
        # Python floats, whatever a schedule has set: NumPy's would widen float32.
        lr, momentum, decay = float(self.lr), float(self.momentum), float(self.weight_decay)
        for p in self.parameters:
            if p.grad is None:
                continue
            v = p.grad
            if decay:
                v = v + decay * p.data
            if momentum:
                v = self.velocity[p] = momentum * self.velocity.get(p, 0.0) + v
            p.data = np.asarray(p.data - lr * v)  # 0-d: an array, not a NumPy scalar
