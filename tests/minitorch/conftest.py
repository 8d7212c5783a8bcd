"""Quick and telling modules first, so that `pytest -x` stops soon at a library that is wrong."""

FIRST = (
    "test_ops",
    "test_catalogue",
    "test_walk",
    "test_indexing",
    "test_cross_entropy",
    "test_training",
)
LAST = ("test_depth", "test_gradcheck")


def pytest_collection_modifyitems(items):
    ours = [i for i, item in enumerate(items) if item.path.parent.name == "minitorch"]
    ordered = sorted((items[i] for i in ours), key=rank)
    for i, item in zip(ours, ordered, strict=True):
        items[i] = item


def rank(item):
    name = item.path.stem
    if name in FIRST:
        return FIRST.index(name)
    return len(FIRST) + (1 + LAST.index(name) if name in LAST else 0)
