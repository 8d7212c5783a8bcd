"""The programs of lab04: what is moved, what is picked, and the way back to its place."""


def rows_all_different(lib, table, verbs):
    return table[verbs]


def row_taken_again(lib, table, verbs):
    return table[verbs]


def rows_by_slice(lib, table):
    return table[1:4]


def rows_by_mask(lib, table, kept):
    return table[kept > 0]


def embedding_trained(lib, table, w, verbs, tenses):
    return lib.cross_entropy(table[verbs] @ w, tenses)


def one_hot_trained(lib, one_hot, table, w, tenses):
    return lib.cross_entropy((one_hot @ table) @ w, tenses)


def two_axes_swapped(lib, a):
    return a.transpose((1, 0))


def three_axes_reversed(lib, a):
    return a.transpose()


def cycle_in_a_box(lib, a):
    return a.transpose((1, 2, 0))


def cycle_in_a_cube(lib, a):
    return a.transpose((1, 2, 0))


def cycle_with_a_sum_loss(lib, a):
    return a.transpose((1, 2, 0))


def flattened(lib, a):
    return a.reshape((-1,))


def flattened_and_summed(lib, a):
    return a.reshape((-1,))


def row_of_a_vector(lib, a):
    return a.reshape((1, -1))


def sides_exchanged(lib, a):
    return a.reshape(a.shape[::-1])


def flattened_there_and_back(lib, a):
    return a.reshape((-1,)).reshape(a.shape)


def joined_by_first(lib, a, b):
    return lib.cat([a, b], axis=0)


def joined_by_last(lib, a, b):
    return lib.cat([a, b], axis=1)


def joined_by_minus_one(lib, a, b):
    return lib.cat([a, b], axis=-1)


def vectors_by_minus_one(lib, a, b):
    return lib.cat([a, b], axis=-1)


def joined_with_itself(lib, a):
    return lib.cat([a, a * a], axis=-1)
