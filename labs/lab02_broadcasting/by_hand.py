"""The lecture note's experiment, by hand, on the minitorch that lies in this workspace.

    PYTHONPATH=. python labs/lab02_broadcasting/by_hand.py

Two regimes of broadcasting, two losses each.  Run it on the correct library, then after
`breaks apply skip-unbroadcast`, and compare.
"""

import numpy as np

from minitorch import Tensor

WEIGHTS = np.arange(15.0).reshape(3, 5)  # a loss that does not treat all copies alike


def report(title, expression, **shapes):
    """Runs forward and backward and prints each gradient beside the shape it should have."""
    leaves = {
        name: Tensor(np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape), requires_grad=True)
        for name, shape in shapes.items()
    }
    print(title)
    try:
        expression(**leaves).backward()
    except Exception as error:
        print(f"  backward raised {type(error).__name__}: {error}")
    for name, leaf in leaves.items():
        if not isinstance(leaf.grad, np.ndarray):
            print(f"  {name}.grad was not reached")
            continue
        mark = "" if leaf.grad.shape == leaf.shape else "   <- wrong shape"
        print(f"  {name}.grad has shape {leaf.grad.shape}, should be {leaf.shape}{mark}")
        print("    " + np.array2string(leaf.grad, prefix="    "))


report("created axis: a (3,) + b (4, 3), sum", lambda a, b: (a + b).sum(), a=(3,), b=(4, 3))
report("length-1 axis: a (3, 1) + b (3, 5), sum", lambda a, b: (a + b).sum(), a=(3, 1), b=(3, 5))
report(
    "length-1 axis, weighted: a (3, 1) + b (3, 5)",
    lambda a, b: ((a + b) * WEIGHTS).sum(),
    a=(3, 1),
    b=(3, 5),
)
report(
    "a used again, later: (a + b).sum() + (a * a).sum()",
    lambda a, b: (a + b).sum() + (a * a).sum(),
    a=(3, 1),
    b=(3, 5),
)
report(
    "a used again, before: (a * a).sum() + (a + b).sum()",
    lambda a, b: (a * a).sum() + (a + b).sum(),
    a=(3, 1),
    b=(3, 5),
)
