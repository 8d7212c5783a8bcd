"""The grammar grid (20 English verbs × 3 persons × 5 tense forms) and the MLP that reads it.

The model sees a verb and a person and must name the tense.  It cannot: every verb–person pair
occurs with all five tenses, so the label is not a function of the input.  What training can reach
is the conditional entropy of the label given the input on the cells that it sees (`floor()`), and
on held-out cells no accuracy beyond chance is to be expected.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from labs.numbers import SEED, uniform

PERSONS = ("first", "second", "third")
PRONOUNS = ("I", "you", "she")
TENSES = ("infinitive", "present", "past simple", "past participle", "future")

# verb: third person of the present, past simple, past participle
_PRINCIPAL_PARTS = {
    "work": ("works", "worked", "worked"),
    "play": ("plays", "played", "played"),
    "walk": ("walks", "walked", "walked"),
    "talk": ("talks", "talked", "talked"),
    "listen": ("listens", "listened", "listened"),
    "watch": ("watches", "watched", "watched"),
    "study": ("studies", "studied", "studied"),
    "finish": ("finishes", "finished", "finished"),
    "start": ("starts", "started", "started"),
    "look": ("looks", "looked", "looked"),
    "want": ("wants", "wanted", "wanted"),
    "like": ("likes", "liked", "liked"),
    "be": ("is", "was", "been"),
    "have": ("has", "had", "had"),
    "do": ("does", "did", "done"),
    "go": ("goes", "went", "gone"),
    "come": ("comes", "came", "come"),
    "see": ("sees", "saw", "seen"),
    "eat": ("eats", "ate", "eaten"),
    "write": ("writes", "wrote", "written"),
}
VERBS = tuple(_PRINCIPAL_PARTS)

TRAIN, VALIDATE = 60, 30
HIDDEN = 32
STEPS = 200


class Cell(NamedTuple):
    """One cell of the grid: indices into VERBS, PERSONS and TENSES, and the form itself."""

    verb: int
    person: int
    tense: int
    text: str


def conjugate(verb: str, person: int, tense: int) -> str:
    """The English form of a verb, for a person (0–2) and a tense (0–4)."""
    third, past, participle = _PRINCIPAL_PARTS[verb]
    if verb == "be":
        present, past = ("am", "are", "is")[person], ("was", "were", "was")[person]
    else:
        present = third if person == 2 else verb
    return (f"to {verb}", present, past, participle, f"will {verb}")[tense]


def grid() -> tuple[Cell, ...]:
    """All 300 cells, verb by verb, person by person, tense by tense."""
    return tuple(
        Cell(v, p, t, conjugate(verb, p, t))
        for v, verb in enumerate(VERBS)
        for p in range(len(PERSONS))
        for t in range(len(TENSES))
    )


@cache
def split() -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    """The 60 cells to train on and the 30 to validate on: always the same, whatever the seed."""

    def place(cell: Cell) -> bytes:
        return hashlib.sha256(f"{cell.verb}/{cell.person}/{cell.tense}".encode()).digest()

    order = sorted(grid(), key=place)
    return tuple(order[:TRAIN]), tuple(order[TRAIN : TRAIN + VALIDATE])


@cache
def floor() -> float:
    """The least mean loss that any function of (verb, person) reaches on the training cells.

    It is the conditional entropy of the label given the input: a pair that occurs with n different
    tenses costs ln n for each of its n cells, however it is predicted.
    """
    train, _ = split()
    pairs = Counter((cell.verb, cell.person) for cell in train)
    return sum(n * math.log(n) for n in pairs.values()) / len(train)


class GrammarMLP:
    """Two layers from a verb and a person to five logits, made of one library's tensors.

    `form="one-hot"`: 23 zeros and ones → 32 → 5.  `form="embedding"`: the verb and the person are
    rows looked up in two tables (indexing), joined, → 32 → 5.  `lib` is any library with
    minitorch's public names.  Weights depend on `seed` alone.
    """

    def __init__(self, lib: ModuleType | Any, form: str = "one-hot", seed: int = SEED):
        import numpy as np

        self.lib, self.form = lib, form
        self._np = np
        self._arrays: dict[tuple[Cell, ...], tuple[Any, Any, Any, Any]] = {}

        def weights(name: str, rows: int, columns: int, scale: float) -> Any:
            numbers = 2 * uniform((rows, columns), "grammar", seed, form, name) - 1
            return lib.Tensor(scale * math.sqrt(3) * numbers, requires_grad=True)

        if form == "one-hot":
            self.tables: list[Any] = []
            width = len(VERBS) + len(PERSONS)
        elif form == "embedding":
            self.tables = [
                weights("verb", len(VERBS), 8, 1.0),
                weights("person", len(PERSONS), 4, 1.0),
            ]
            width = 12
        else:
            raise ValueError(f'form must be "one-hot" or "embedding"; found {form!r}')
        self.w1 = weights("w1", width, HIDDEN, 1 / math.sqrt(width))
        self.w2 = weights("w2", HIDDEN, 5, 1 / math.sqrt(HIDDEN))
        self.b1, self.b2 = (lib.Tensor(np.zeros(n), requires_grad=True) for n in (HIDDEN, 5))

    @property
    def parameters(self) -> list[Any]:
        return [*self.tables, self.w1, self.b1, self.w2, self.b2]

    def inputs(self, cells: tuple[Cell, ...]) -> Any:
        """The cells as the first layer wants them: (n, 23) or (n, 12)."""
        verbs, persons, one_hot, _ = self._encoded(cells)
        if self.form == "embedding":
            return self.lib.cat([self.tables[0][verbs], self.tables[1][persons]], axis=1)
        return self.lib.Tensor(one_hot)

    def _encoded(self, cells: tuple[Cell, ...]) -> tuple[Any, Any, Any, Any]:
        """The cells as arrays, made once: verbs, persons, one-hot rows, tenses."""
        found = self._arrays.get(cells)  # one look: a hash of sixty cells is not free
        if found is None:
            np = self._np
            verbs, persons, tenses, _ = (np.array(column) for column in zip(*cells, strict=True))
            one_hot = np.zeros((len(cells), len(VERBS) + len(PERSONS)))
            one_hot[np.arange(len(cells)), verbs] = 1.0
            one_hot[np.arange(len(cells)), len(VERBS) + persons] = 1.0
            found = self._arrays[cells] = verbs, persons, one_hot, tenses
        return found

    def logits(self, cells: tuple[Cell, ...]) -> Any:
        hidden = (self.inputs(cells) @ self.w1 + self.b1).relu()  # (n, width) @ (width, 32)
        return hidden @ self.w2 + self.b2  # (n, 32) @ (32, 5)

    def loss(self, cells: tuple[Cell, ...]) -> Any:
        return self.lib.cross_entropy(self.logits(cells), self._encoded(cells)[-1])

    def accuracy(self, cells: tuple[Cell, ...]) -> float:
        """How many of the cells get their tense first, from 0 to 1."""
        found = self._np.asarray(self.logits(cells).data).argmax(axis=-1)
        return float((found == self._encoded(cells)[-1]).mean())
