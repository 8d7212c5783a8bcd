"""The programs of lab03: which axis, how many entries, and who wins a tie."""


def first_axis(lib, a):
    return a.sum(axis=0)


def last_axis_of_a_box(lib, a):
    return a.sum(axis=1)


def last_axis_of_a_square(lib, a):
    return a.sum(axis=1)


def square_with_a_sum_loss(lib, a):
    return a.sum(axis=1)


def last_axis_kept(lib, a):
    return a.sum(axis=1, keepdims=True)


def middle_axis_of_a_cube(lib, a):
    return a.sum(axis=1)


def mean_of_everything(lib, a):
    return a.mean()


def mean_over_tenses(lib, a):
    return a.mean(axis=1)


def mean_over_persons(lib, a):
    return a.mean(axis=0)


def mean_of_one_row(lib, a):
    return a.mean(axis=1)


def centred(lib, a):
    return (a - a.mean(axis=1, keepdims=True)) * a


def axes_in_order(lib, a):
    return a.sum(axis=(0, 1))


def axes_turned_box(lib, a):
    return a.sum(axis=(1, 0))


def axes_turned_cube(lib, a):
    return a.sum(axis=(1, 0))


def axes_turned_negative(lib, a):
    return a.sum(axis=(-1, 0))


def axes_turned_kept(lib, a):
    return a.sum(axis=(1, 0), keepdims=True)


def no_ties(lib, a):
    return a.max(axis=1)


def ties_by_value(lib, a):
    return a.max(axis=1)


def tie_with_itself(lib, a):
    return lib.stack([a, a]).max(axis=0)


def ties_after_relu(lib, a):
    return a.relu().max(axis=1)
