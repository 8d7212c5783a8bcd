"""One small program per corner of the library: where a break shows that no lab asks about."""

import numpy as np


def broadcast_arithmetic(lib, a, b, c):
    return (a + b) * c - a / b


def reflected_arithmetic(lib, a):
    return 2.0 - a + 3.0 * a + 1.0 / a + (1.0 + a) - (-a)


def constant_first(lib, w, a):
    return (w - a) * a


def elementwise(lib, a):
    return a.exp() + (a * a).log() + a.tanh()


def relu_both_signs(lib, a):
    return a.relu() * a


def relu_at_kink(lib, a):
    return a.relu()


def gelu_exact(lib, a):
    return a.gelu()


def gelu_tanh(lib, a):
    return a.gelu(approximate="tanh")


def gelu_tails(lib, a):
    return a.gelu()


def extreme_tanh(lib, a):
    return a.tanh()


def sum_box(lib, a):
    return a.sum(axis=1) * a.sum(axis=0).sum()


def sum_cube(lib, a):
    return a.sum(axis=(0, 2), keepdims=True) * a + a.sum(axis=-1, keepdims=True)


def mean_box(lib, a):
    return a.mean(axis=0) * a.mean()


def mean_cube(lib, a):
    return a.mean(axis=(0, -1)) * a.mean(axis=1, keepdims=True).sum()


def max_box(lib, a):
    return a.max(axis=1) * a.max()


def max_ties(lib, a):
    return a.max(axis=1)


def reshape_rows(lib, a):
    return a.reshape(a.shape[::-1]) * a.reshape((-1,)).reshape(a.shape[::-1])


def transpose_square(lib, a):
    return a.transpose() * a


def transpose_cycle(lib, a):
    return a.transpose((1, 2, 0)) * a.transpose((-2, -1, -3))


def broadcast_to_both(lib, a):
    return a.broadcast_to((2, *a.shape[:1], 4)) * a


def getitem_repeated(lib, a, rows):
    return a[rows] * a[rows]


def getitem_pairs(lib, a, rows, columns):
    return a[rows, columns] * 2.0


def getitem_boolean(lib, a):
    return a[np.asarray(a.data) > 0] * 3.0


def getitem_slices(lib, a):
    return (a[::2] * a[::-2]).sum(axis=0) + a[..., :1] * a[0, None]


def cat_axes(lib, a, b):
    return lib.cat([a, b, a], axis=-1) * lib.cat([b, b * a, a], axis=1)


def cat_uneven(lib, a, b):
    return lib.cat([a, b], axis=0).tanh()


def stack_axes(lib, a, b):
    return lib.stack([a, b, a], axis=1) * lib.stack([b, a, b], axis=1)


def stack_last(lib, a, b):
    return lib.stack([a, b], axis=-1).exp()


def matmul_matrices(lib, a, b):
    return a @ b


def matmul_square(lib, a, b):
    return a @ b @ a


def matmul_vector_right(lib, a, v):
    return a @ v


def matmul_vector_left(lib, v, a):
    return v @ a


def matmul_dot(lib, v, w):
    return v @ w


def matmul_batched(lib, a, b):
    return a @ b


def softmax_last(lib, a):
    return a.softmax()


def softmax_first(lib, a):
    return a.softmax(axis=0) * a


def softmax_extreme(lib, a):
    return a.softmax()


def cross_entropy_mean(lib, z, t):
    return lib.cross_entropy(z, t)


def cross_entropy_sum(lib, z, t):
    return lib.cross_entropy(z, t, reduction="sum") * 2.0


def cross_entropy_none(lib, z, t):
    return lib.cross_entropy(z, t, reduction="none")


def cross_entropy_single(lib, z, t):
    return lib.cross_entropy(z, t)


def cross_entropy_extreme(lib, z, t):
    return lib.cross_entropy(z, t, reduction="none")


def diamond(lib, a):
    b = a * a
    return b * b + b


def deep_diamond(lib, a):
    b = a.tanh()
    c = b * a
    return (b + c) * (c - a) + b * b


def same_twice(lib, a):
    return a * a + a / a + (a - a)


def backward_twice(lib, a, b):
    c = a * b
    return c * c


def float32_arithmetic(lib, a, b):
    return (a + b) * 2.0 - a / b + a.mean(axis=0) + a.max(axis=0)


def float32_functions(lib, a):
    return a.exp() + a.gelu() + a.softmax() + a.tanh() + a[[0, 0, 1]].sum()


def float32_loss(lib, z, t):
    return lib.cross_entropy(z, t)


def zero_dims(lib, a, b):
    return a * b + a


def other_rank(lib, a, b):
    return a + b


def log_of_a_number(lib, a):
    return a.log()


def mean_of_no_axes(lib, a):
    return a.mean(axis=()) * a


def transpose_mixed(lib, a):
    return a.transpose((-1, 0, 1))


def long_chain(lib, a):
    for _ in range(1200):
        a = a + 0.5
    return a


def sgd_plain(lib, x, w, b, target):
    return lib.mse_loss(x @ w + b, target)


def sgd_momentum(lib, x, w, target):
    return lib.mse_loss(x @ w, target)


def sgd_decay(lib, x, w, target):
    return lib.mse_loss(x @ w, target)


def sgd_decay_momentum(lib, x, w, target):
    return lib.mse_loss((x @ w).tanh(), target)


def sgd_micro_batches(lib, x, w, target):
    return lib.mse_loss(x @ w, target)


def shared_operand(lib, a):
    return a.exp() * a + a.tanh() * a + (-a) * a + a.relu() * a + a.gelu() * a


def shared_reductions(lib, a):
    return a.sum(axis=0) * a + a.mean(axis=0) * a + a.max(axis=0) * a + a.softmax() * a


def shared_shapes(lib, a):
    b = a.reshape((-1,)).reshape(a.shape) * a + a.transpose().transpose() * a
    return b + a.broadcast_to(a.shape) * a + a[::-1] * a


def shared_products(lib, a):
    return (a @ a) * a + lib.stack([a, a]).sum(axis=0) * a + (a / (a * a + 1.0)) * a


def cross_entropy_huge_equal_logits(lib, z, t):
    return lib.cross_entropy(z, t)


def cross_entropy_hopeless(lib, z, t):
    return lib.cross_entropy(z, t)


def cross_entropy_negative_label(lib, z, t):
    try:
        return lib.cross_entropy(z, t)
    except IndexError:  # refused, as it must be
        return (z * z).sum()


def sum_then_product(lib, a):
    return (a.sum() + (a * a).sum()) * ((a * a).sum() + a.sum())


def integer_leaf(lib, a, n):
    try:
        leaf = lib.Tensor(n, requires_grad=True)
    except RuntimeError:  # refused, as it must be
        return a * 1.0
    (leaf / 2).sum().backward()
    return a * lib.Tensor(leaf.grad)


def array_on_the_left(lib, a):
    return np.array([1.0, 2.0, 3.0]) * a


def float32_loss_halved(lib, a):
    return (a * a).sum() * 0.5


def float32_max_alone(lib, a):
    return a.max(axis=1)


def tied_weights(lib, a, start):
    p = lib.Tensor(start.data, requires_grad=True)
    optimizer = lib.SGD([p, p], lr=0.1)
    (p * p).sum().backward()
    optimizer.step()
    return a * lib.Tensor(p.data)


def division_by_tiny_numbers(lib, a, b):
    return a / b


def division_by_huge_numbers(lib, a, b):
    return a / b


def longest_axis(lib, a):
    axis = np.argmax(a.shape)
    return a.sum(axis=axis) * a.mean(axis=axis)
