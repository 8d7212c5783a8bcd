"""Is the gradient the derivative?  Every coordinate, by central differences in float64."""

import contextlib

import numpy as np

from minitorch.graph import topological_order
from minitorch.tensor import Tensor, plain

STEP = 6e-6  # the cube root of the float64 epsilon: truncation and rounding errors meet here
EVERY_DIRECTION = 200  # results of at most so many elements get a cotangent for each of them
DENSE = 4  # and results of any size get so many cotangents without a zero
TOLERANCE = {"float64": (1e-6, 1e-8), "float32": (1e-4, 1e-5)}  # rtol, atol: 40 × worst noise


class GradcheckError(AssertionError):
    """A gradient differs from the differences; says where, and both values."""


def gradcheck(f, *inputs, dtype="float64", step=STEP, rtol=None, atol=None):
    """True if the gradient of `f(*inputs)` for every tensor that requires one is its derivative.

    `f` takes the inputs and returns a Tensor of any shape.  Its result is weighted by irregular
    cotangents, since ones are blind to whatever a sum hides: one for every element of a result of
    at most 200, and four without a zero for any result.  Every coordinate of every input is moved
    up and down by `step`.  Two values agree where their distance is at most rtol |difference| +
    atol max(1, |cotangent| · |what moved of the result|).  Keep away from kinks: there the two
    sides disagree.

    Differences in float32 would be noise, so float32 inputs are refused, unless dtype="float32"
    asks for it: then the gradient is computed in float32, and compared, with a float32 tolerance,
    with differences of the same function in float64.

    `f` may use its arguments or hold on to the tensors itself, as the parameters of a model do.
    Their data and the gradient of every tensor that `f` uses are, afterwards, the very arrays that
    they were, also after an error.

    Raises GradcheckError, which names input, index, analytic and numeric value, where the two
    differ or the gradient has another shape or dtype than its input, and where the result is cut
    off from every input.  Raises ValueError where nothing could be learnt: no input requires a
    gradient, no element to check, another dtype than `dtype`, a value or difference that is not
    finite, a step that is lost in a coordinate, tensors in a list, and an `f` (or a backward) that
    changes its inputs or gives another result when called again.
    """
    tensors = list(dict.fromkeys(x for x in inputs if isinstance(x, Tensor)))
    refuse_unfit(tensors, inputs, dtype)
    checked = {i: x for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad}
    default_rtol, default_atol = TOLERANCE[dtype]
    rtol = default_rtol if rtol is None else rtol
    atol = default_atol if atol is None else atol

    with own_data(tensors, "float64"):
        y = value(f, inputs)
        cotangents = irregular_cotangents(y.size)
        numeric = {i: differences(f, inputs, x, step, y, cotangents) for i, x in checked.items()}
        refuse_another(value(f, inputs), y)

    with own_data(tensors, dtype):
        analytic = gradients(f, inputs, checked, y, cotangents)

    for i, x in checked.items():
        for k, (a, n, scale) in enumerate(zip(analytic[i], *numeric[i], strict=True)):
            close = np.abs(a - n) <= rtol * np.abs(n) + atol * scale  # False for NaN
            if not close.all():
                at = int(np.argmin(close))
                raise GradcheckError(
                    f"input {i} at index {place(at, x.shape)}: expected the gradient "
                    f"{n[at]:.9g} (numeric), found {a[at]:.9g} (analytic), for "
                    f"{name(cotangents[k], y.shape)}; {np.sum(~close)} of {close.size} entries "
                    "differ. Look at the backward of the ops between this input and the result."
                )
    return True


def refuse_unfit(tensors, inputs, dtype):
    """ValueError for inputs that nothing can be learnt from."""
    if dtype not in TOLERANCE:
        raise ValueError(f'dtype must be "float64" or "float32"; found {dtype!r}')
    if not any(x.requires_grad and x.data.size for x in tensors):
        raise ValueError(
            "gradcheck needs an input with an element to check: a Tensor with requires_grad=True; "
            f"found {len(inputs)} inputs without one"
        )
    for i, x in enumerate(inputs):
        if isinstance(x, (list, tuple)) and any(isinstance(t, Tensor) for t in x):
            raise ValueError(
                f"input {i} must be a Tensor; found a list of them. Pass each by itself."
            )
        if not isinstance(x, Tensor):
            continue
        if x._prev:
            raise ValueError(f"input {i} must be a leaf; found the result of {x._op!r}. Pass .data")
        if x.requires_grad and x.dtype != dtype:
            raise ValueError(
                f"input {i} must be {dtype}; found {x.dtype}. Pass data.astype({dtype!r})"
                + (', or dtype="float32" for gradients in float32.' if x.dtype == "f4" else ".")
            )
        if not np.isfinite(x.data).all():
            raise ValueError(f"input {i} must be finite; found inf or nan. Choose other values.")


@contextlib.contextmanager
def own_data(tensors, dtype):
    """Gives each tensor a copy of its data, floats in `dtype`, and no gradient; then undoes it."""
    before = [(x, x.data, x.grad, x.requires_grad) for x in tensors]
    try:
        for x in tensors:
            x.data = np.array(x.data, dtype=dtype if x.dtype.kind == "f" else x.dtype)
            x.grad = None
        yield
    finally:
        for x, *kept in before:
            x.data, x.grad, x.requires_grad = kept


@contextlib.contextmanager
def own_gradients(root):
    """Takes the gradient of each tensor that `root` was made from; then gives it back."""
    before = [(x, x.grad) for x in topological_order(root)]
    try:
        for x, _ in before:
            x.grad = None
        yield
    finally:
        for x, grad in before:
            x.grad = grad


@contextlib.contextmanager
def unchanged(inputs):
    """ValueError where tensors or arrays among the inputs are changed meanwhile."""
    before = [(x, plain(x), np.array(plain(x))) for x in inputs if hasattr(x, "dtype")]
    yield
    for x, data, copy in before:
        if plain(x) is not data or not np.array_equal(
            data, copy, equal_nan=copy.dtype.kind in "fc"
        ):
            raise ValueError("f, or its backward, changed the data of an input. Work on a copy.")


def result(f, inputs):
    """f(*inputs), having looked that `f` left them as they were."""
    with unchanged(inputs):
        y = f(*inputs)
    if not isinstance(y, Tensor):
        raise ValueError(f"f must return a Tensor; found {type(y).__name__}. Return what it made.")
    return y


def value(f, inputs):
    """A copy of the array f(*inputs): float64, finite and not empty, else ValueError."""
    y = result(f, inputs)
    if y.dtype != "float64":
        raise ValueError(
            f"f must return float64 for float64 inputs; found {y.dtype}. Do not cast inside f."
        )
    if not y.data.size:
        raise ValueError(f"f must return an element to check; found shape {y.shape}")
    if not np.isfinite(y.data).all():
        raise ValueError("f must be finite at and around its inputs; found inf or nan")
    return y.data.copy()  # f may write its next result into the same array


def refuse_another(found, y):
    """ValueError where one call of `f` gave `y` and another, in the same dtype, not the same."""
    if found.shape != y.shape or (found.dtype == y.dtype and not np.array_equal(found, y)):
        raise ValueError("f gave two results for the same inputs. Make it deterministic.")


def irregular_cotangents(size):
    """Rows of `size` numbers, no two alike: four dense ones, and one per element for a few."""
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 1.5, (DENSE + 1, size)) * rng.choice([-1, 1], (DENSE + 1, size))
    if size > EVERY_DIRECTION:
        return weights[:DENSE]
    return np.concatenate([weights[:DENSE], np.diag(weights[DENSE])])


def differences(f, inputs, x, step, y, cotangents):
    """How the weighted results change with each coordinate, and on which scale: two arrays.

    Both are (cotangents, x.size).  What rounding does to a difference grows with the entries of the
    result that moved, not with those that did not.
    """
    data, slopes, scales = x.data, [], []
    for i in range(data.size):
        up, down = data.copy(), data.copy()
        up.flat[i] += step
        down.flat[i] -= step
        taken = up.flat[i] - down.flat[i]  # not quite 2 step, for large coordinates
        if not taken:
            raise ValueError(f"step {step} is lost in {data.flat[i]}. Choose smaller inputs.")
        x.data = up
        above = value(f, inputs)
        x.data = down
        below = value(f, inputs)
        if not above.shape == below.shape == y.shape:
            raise ValueError("f must give one shape at and around its inputs; found several")
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.abs(y.ravel()) * (above != below).ravel()
            slopes.append(cotangents @ (above - below).ravel() / taken)
            scales.append(np.maximum(1, np.abs(cotangents) @ moved))
        if not np.isfinite([slopes[-1], scales[-1]]).all():
            raise ValueError("f must change by finite numbers; found inf or nan. Scale it down.")
    x.data = data
    shape = (data.size, len(cotangents))
    return np.reshape(slopes, shape).T, np.reshape(scales, shape).T


def gradients(f, inputs, checked, y, cotangents):
    """What backward() says for each checked input, an array (cotangents, x.size)."""
    root = result(f, inputs)
    refuse_another(root.data, y)
    if not root.requires_grad:
        raise GradcheckError(
            "expected a result that depends on an input; found one that requires no gradient. "
            "Look for an op that leaves the graph."
        )
    found: dict[int, list] = {i: [] for i in checked}
    with own_gradients(root), unchanged(inputs):
        for cotangent in cotangents:
            for x in checked.values():
                x.grad = None
            root.backward(cotangent.reshape(root.shape))
            if all(x.grad is None for x in checked.values()):
                raise GradcheckError(
                    "expected a gradient for an input; found None for all. "
                    "The result is made from other tensors."
                )
            for i, x in checked.items():
                grad = np.zeros_like(x.data) if x.grad is None else np.asarray(x.grad)
                if (grad.shape, grad.dtype) != (x.shape, x.dtype):
                    raise GradcheckError(
                        f"input {i}: expected a gradient of shape {x.shape} and {x.dtype}; found "
                        f"{grad.shape} and {grad.dtype}. Look for a missing unbroadcast or a wide "
                        "constant."
                    )
                found[i].append(grad.ravel().astype("float64"))
    return found


def place(flat, shape):
    """The index of an entry, as Python ints."""
    return tuple(int(i) for i in np.unravel_index(flat, shape))


def name(cotangent, shape):
    """A cotangent in words."""
    (hit,) = np.nonzero(cotangent)
    one = hit.size == 1 and cotangent.size > 1
    return f"the result at {place(hit[0], shape)}" if one else f"all of a result of shape {shape}"
