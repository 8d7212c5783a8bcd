"""The programs of lab08: the gradients are right, and what is done with them is not."""


def loss_before_any_step(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def one_piece(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def two_equal_pieces(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def pieces_of_one_row(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def two_uneven_pieces(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def one_step(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def two_steps(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def two_steps_at_the_bottom(lib, w):
    return (w * w).sum()


def no_decay(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def decay_of_normal_weights(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def decay_of_zeros_one_step(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def decay_of_zeros_two_steps(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)


def row_against_row(lib, x, w, target):
    return lib.mse_loss(x @ w, target)


def column_against_column(lib, x, w, target):
    return lib.mse_loss(x @ w, target)


def column_against_row(lib, x, w, target):
    prediction = x @ w
    try:
        return lib.mse_loss(prediction, target)
    except ValueError:
        return lib.mse_loss(prediction.reshape(target.shape), target)


def written_by_hand(lib, x, w, target):
    difference = x @ w - target
    return (difference * difference).mean()


def one_cell(lib, x, w, target):
    prediction = x @ w
    try:
        return lib.mse_loss(prediction, target)
    except ValueError:
        return lib.mse_loss(prediction.reshape(target.shape), target)
