"""breaks: faults as data, and what applies them.

>>> import breaks
>>> with breaks.broken("skip-unbroadcast") as mt:
...     a = mt.Tensor([1.0, 2.0, 3.0], requires_grad=True)
...     (a + mt.Tensor([[1.0] * 3] * 4)).sum().backward()
>>> a.grad.shape
(4, 3)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from breaks.model import Break

__version__ = "0.1.0"
__all__ = ["broken"]


@contextmanager
def broken(what: str | Break, *more: str | Break) -> Iterator[ModuleType]:
    """The library under one break or several, as a module of its own.

    Files and `import minitorch` stay as they are.  `what` is the id of a break, or a Break; so are
    `more`, one on top of the other.  Inside of a workspace its own breaks are known too, and its
    library is the one that is broken.  Raises BreaksError for an unknown id, or where a break does
    not apply.
    """
    from breaks import here
    from breaks.library import load_library
    from breaks.rewrite import mutate

    known, sources, labels = here.catalogue(), here.sources(), []
    for one in (what, *more):
        brk = known.get(one) if isinstance(one, str) else one
        sources = mutate(sources, brk)
        labels.append(brk.id)
    yield load_library(sources, label="+".join(labels))
