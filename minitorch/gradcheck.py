"""Is the gradient the derivative?  Every coordinate, by central differences."""

STEP = 6e-6  # the cube root of the float64 epsilon: truncation and rounding errors meet here


class GradcheckError(AssertionError):
    """A gradient differs from the differences; says where, and both values."""


def gradcheck(f, *inputs, step=STEP, rtol=1e-6, atol=1e-7):
    """True if the gradient of `f(*inputs)` for every tensor that requires one is its derivative.

    `f` takes Tensors and returns one, of any shape, and does not change them.  Its result is
    weighted by irregular cotangents, since ones are blind to whatever a sum hides: one cotangent
    for every element where there are at most 200, four directions above that.  Each coordinate of
    each input is moved by `step` up and down.  float32 gradients are computed in float32 and
    compared with float64 differences at float32 tolerance.

    Raises GradcheckError where they differ (naming input, index, analytic and numeric value), and
    ValueError where nothing could be learnt: no input requires a gradient, no element to check,
    a value that is not finite, or inputs narrower than float64.
    """
    raise GradcheckError("to come")
