"""The programs of lab01: one tensor, several uses, and what adds up."""


def exp_alone(lib, a):
    return a.exp()


def exp_written_first(lib, a):
    return a.exp() + a * a


def exp_written_last(lib, a):
    return a * a + a.exp()


def exp_called_back_twice(lib, a):
    return a.exp()


def softmax_by_hand(lib, z):
    e = z.exp()
    return e / e.sum(axis=1, keepdims=True)


def chain(lib, a):
    return a.tanh().exp()


def leaf_used_twice(lib, a):
    return a * a + a


def hidden_squared(lib, a):
    b = a.tanh()
    return b * b


def hidden_diamond(lib, a):
    b = a.tanh()
    return b * b + b


def hidden_diamond_turned(lib, a):
    b = a.tanh()
    return b + b * b


def two_layers_trained(lib, x, w, b, v):
    return (x @ w + b).tanh() @ v


def called_once(lib, a, b):
    return a * b


def called_twice_one_op(lib, a):
    return a.sum()


def called_twice_two_ops(lib, a, b):
    return a * b


def called_three_times(lib, a, b):
    return a * b


def trained_in_pieces(lib, x, w):
    return x @ w


def added_once(lib, a, b):
    return a + b


def sum_written_first(lib, a, b):
    return (a + b) + a * b


def product_written_first(lib, a, b):
    return a * b + (a + b)


def sum_of_unlike_shapes(lib, a, b):
    return (a + b) + a * b
