"""The programs of lab02: what one operand is repeated along, and who looks afterwards."""


def created_axis(lib, a, b):
    return a + b


def length_1_axis(lib, a, b):
    return a + b


def twice_add_last(lib, a, b):
    return (a * b).sum() + (a + b).sum()


def twice_add_first(lib, a, b):
    return (a + b).sum() + (a * b).sum()


def equal_shapes(lib, a, b):
    return a + b


def bias_trained(lib, x, w, b):
    return x @ w + b


def both_moves(lib, a, b):
    return a + b


def one_in_both(lib, a, b):
    return a + b
