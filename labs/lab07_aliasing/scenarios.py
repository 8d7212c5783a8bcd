"""The programs of lab07: who else holds this array, and reads it later?"""

import numpy as np


def relu_alone(lib, a):
    return a.relu()


def relu_after_tanh(lib, a, b):
    h = a * b
    soft = h.tanh()
    return soft + h.relu()


def relu_before_tanh(lib, a, b):
    h = a * b
    hard = h.relu()
    return hard + h.tanh()


def relu_plus_square(lib, a, b):
    h = a * b
    hard = h.relu()
    return hard + h * h


def relu_of_positives(lib, a, b):
    h = a * b
    hard = h.relu()
    return hard + h.tanh()


def checked_in_place(lib, a, x):
    slopes = []
    for i in range(len(x.data)):
        x.data[i] += 0.001
        rise = x.relu().sum().item()
        x.data[i] -= 0.002
        rise -= x.relu().sum().item()
        x.data[i] += 0.001
        slopes.append(rise / 0.002)
    return a.sum() * lib.Tensor(np.array(slopes))


def buffer_left_alone(lib, w, x):
    buffer = np.array(x.data)
    return lib.Tensor(buffer) * w


def buffer_reused_after_product(lib, w, x):
    buffer = np.array(x.data)
    y = lib.Tensor(buffer) * w
    buffer[:] = 0.0
    return y


def buffer_reused_after_sum(lib, w, x):
    buffer = np.array(x.data)
    y = lib.Tensor(buffer) + w
    buffer[:] = 0.0
    return y


def rows_from_a_list(lib, w, x):
    row = x.data.tolist()
    y = lib.Tensor(row) * w
    row[0] = 0.0
    return y


def two_batches_one_buffer(lib, w, first, second):
    buffer = np.array(first.data)
    y = lib.Tensor(buffer) @ w
    buffer[:] = second.data
    return y + lib.Tensor(buffer) @ w


def called_once(lib, z, tenses):
    return lib.cross_entropy(z, tenses)


def called_twice(lib, z, tenses):
    return lib.cross_entropy(z, tenses)


def called_twice_weighted(lib, z, tenses):
    return lib.cross_entropy(z, tenses, reduction="none")


def two_losses_one_trunk(lib, z, tenses, others):
    return lib.cross_entropy(z, tenses) + lib.cross_entropy(z, others)


def trained_plainly(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def best_weights_copied(lib, a, start):
    p = lib.Tensor(start.data, requires_grad=True)
    optimizer = lib.SGD([p], lr=0.1)
    best = np.array(p.data)
    for _ in range(2):
        optimizer.zero_grad()
        (p * lib.Tensor(a.data)).sum().backward()
        optimizer.step()
    return a * lib.Tensor(best)


def best_weights_named(lib, a, start):
    p = lib.Tensor(start.data, requires_grad=True)
    optimizer = lib.SGD([p], lr=0.1)
    best = p.data
    for _ in range(2):
        optimizer.zero_grad()
        (p * lib.Tensor(a.data)).sum().backward()
        optimizer.step()
    return a * lib.Tensor(best)


def weights_averaged(lib, a, start):
    p = lib.Tensor(start.data, requires_grad=True)
    optimizer = lib.SGD([p], lr=0.1)
    kept = []
    for _ in range(3):
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()
        kept.append(p.data)
    return a * lib.Tensor(sum(kept) / 3)
