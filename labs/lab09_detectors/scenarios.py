"""The programs of lab09: some reveal a fault, some hide it, some alarm where there is none."""

import numpy as np


def last_under_a_sum(lib, a):
    return a.tanh()


def last_under_weights(lib, a):
    return a.tanh()


def under_a_product(lib, a, b):
    return a.tanh() * b


def under_a_tiny_step(lib, a):
    return (a + 100000.0 - 100000.0).tanh()


def under_float32_noise(lib, a):
    return (a * lib.Tensor(np.array([0.5, -0.7, 1.3], dtype="float32"))).tanh()


def near_zero(lib, a):
    return a.gelu()


def in_the_tails(lib, a):
    return a.gelu()


def before_the_bend(lib, a):
    return a.gelu()


def under_a_coarse_step(lib, a):
    return a.gelu()


def plain_matrices(lib, a, b):
    return a @ b


def batch_in_a_box(lib, a, b):
    return a @ b


def batch_in_a_cube(lib, a, b):
    return a @ b


def cube_under_a_sum(lib, a, b):
    return a @ b


def constant_on_the_right(lib, a, b):
    return a @ b


def gradient_only(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def trained_whole(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def trained_in_halves(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)
