"""The programs of lab06: a wrong curve with its own slope, a kink, huge numbers, wider dtypes."""


def gelu_of_scores(lib, a):
    return a.gelu()


def gelu_of_zeros(lib, a):
    return a.gelu()


def gelu_far_out(lib, a):
    return a.gelu()


def gelu_in_tanh_form(lib, a):
    return a.gelu(approximate="tanh")


def relu_off_the_kink(lib, a):
    return a.relu()


def relu_at_the_kink(lib, a):
    return a.relu()


def relu_of_a_zero_bias(lib, x, w, b):
    return (x @ w + b).relu()


def relu_of_a_relu(lib, a):
    return a.relu().relu()


def logits_around_zero(lib, z, tenses):
    return lib.cross_entropy(z, tenses)


def logits_of_95(lib, z, tenses):
    return lib.cross_entropy(z, tenses)


def logits_of_95_in_float32(lib, z, tenses):
    return lib.cross_entropy(z, tenses)


def logits_of_1000(lib, z, tenses):
    return lib.cross_entropy(z, tenses)


def product_in_float64(lib, x, w):
    return x @ w


def product_in_float32(lib, x, w):
    return x @ w


def float32_used_twice(lib, a):
    return a.exp() * a


def trained_in_float32(lib, x, w, tenses):
    return lib.cross_entropy(x @ w, tenses)
