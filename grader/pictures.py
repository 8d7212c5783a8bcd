"""Pictures for a page: loss curves, heat maps, the computational graph, as SVG by drawsvg.

Colours are classes of the page's style sheet, so that light, dark and print each look right; what a
colour says is also said by a dash, a sign or a word.  Every picture has a title and a description.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import drawsvg as draw

from breaks import i18n
from grader.graph import Cells, GraphNode
from grader.recording import Phase, TrainingRun

_ = i18n.gettext
_numbers = itertools.count(1)


def svg(
    width: float, height: float, title: str, description: str, parts: Sequence[Any], kind: str = ""
) -> str:
    """One picture as text that can stand in a page; the page has rules for some kinds."""
    name = f"p{next(_numbers)}"
    drawing = draw.Drawing(
        width,
        height,
        id_prefix=name,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_=f"picture {kind}".strip(),
        style=f"width:{width:g}px",
    )
    drawing.append(draw.Raw(f'<title id="{name}-title">{escaped(title)}</title>'))
    drawing.append(draw.Raw(f'<desc id="{name}-desc">{escaped(description)}</desc>'))
    drawing.extend(parts)
    text = str(drawing.as_svg(header=""))
    # Sizes come from viewBox and the page; fixed ones would not shrink on a telephone.
    head, _sep, rest = text.partition("viewBox")
    return head.replace(f'width="{width}" height="{height}" ', "") + "viewBox" + rest


def escaped(text: str) -> str:
    from markupsafe import escape

    return str(escape(text))


def label(text: str, x: float, y: float, *classes: str, anchor: str = "start") -> Any:
    return draw.Text(text, None, x, y, text_anchor=anchor, class_=" ".join(("t", *classes)))


# --- loss curves --------------------------------------------------------------------------------


def loss_curves(broken: TrainingRun | None, clean: TrainingRun | None, title: str) -> str:
    """The loss over the steps: correct dashed, broken solid, the floor dotted."""
    shown = broken or clean
    assert shown is not None
    width, height = 640.0, 260.0
    left, top, right, bottom = 48.0, 16.0, width - 110.0, height - 36.0
    runs = [run for run in (clean, broken) if run is not None]
    low, high = _loss_range(shown, clean)
    steps = max((len(run.losses) for run in runs), default=1)

    def place(step: float, loss: float) -> tuple[float, float]:
        x = left + (right - left) * step / max(steps - 1, 1)
        share = min(max((loss - low) / (high - low), 0.0), 1.0)
        return round(x, 1), round(bottom - (bottom - top) * share, 1)

    parts: list[Any] = []
    for tick in ticks(low, high):
        y = place(0, tick)[1]
        parts.append(draw.Line(left, y, right, y, class_="grid"))
        parts.append(label(f"{tick:g}", left - 6, y + 4, "small", anchor="end"))
    for tick in ticks(0, steps - 1, whole=True):
        x = place(tick, low)[0]
        parts.append(label(f"{tick:g}", x, bottom + 16, "small", anchor="middle"))
    parts.append(label(_("step"), (left + right) / 2, height - 4, "small", anchor="middle"))
    y = place(0, shown.floor)[1]
    parts.append(draw.Line(left, y, right, y, class_="floor"))
    parts.append(label(_("floor"), right + 6, y + 4, "small"))
    ends: list[float] = [y]
    for run, kind, word in ((clean, "clean", _("correct")), (broken, "broken", _("broken"))):
        if run is not None:
            parts += _curve(run, kind, word, place, right, ends)
    return svg(width, height, title, _curve_words(broken, clean), parts, "plot")


def _loss_range(broken: TrainingRun, clean: TrainingRun | None) -> tuple[float, float]:
    """A scale for the correct curve, and for the broken one as far as it does not run away."""
    ground = [broken.floor]
    for run in (clean, broken):
        if run is not None:
            ground += [x for x in run.losses[:1] if x is not None]
    if clean is not None:
        ground += [x for x in clean.losses if x is not None]
    low, high = min(ground), max(ground)
    high = high if high > low else low + 1.0
    size = high - low
    known = [x for x in broken.losses if x is not None]
    lowest = max(min(known, default=low), low - size)
    return min(low, lowest), max(high, min(max(known, default=high), high + 0.25 * size))


def _curve(
    run: TrainingRun, kind: str, word: str, place: Any, right: float, ends: list[float]
) -> Iterator[Any]:
    spots = [place(i, loss) for i, loss in enumerate(run.losses) if loss is not None]
    if not spots:
        return
    if len(spots) == 1:
        yield draw.Circle(*spots[0], 4, class_=f"spot {kind}")
    else:
        flat = [number for spot in spots for number in spot]
        yield draw.Lines(*flat, close=False, class_=f"curve {kind}")
        if len(spots) < len(run.losses) or run.error:
            yield draw.Circle(*spots[-1], 4, class_=f"spot {kind}")  # it stopped here
    x, y = spots[-1]
    wanted = y + 4
    while any(abs(wanted - other) < 13 for other in ends):
        wanted -= 13
    ends.append(wanted)
    yield label(word, min(x, right) + 8, wanted, "small", kind)


def _curve_words(broken: TrainingRun | None, clean: TrainingRun | None) -> str:
    """The picture in a sentence, for whoever does not see it."""

    def words(run: TrainingRun) -> str:
        first, last = _plain(run.first), _plain(run.last)
        return _("from %(first)s to %(last)s") % {"first": first, "last": last}

    if broken is None:
        assert clean is not None
        text = _("The loss on the correct library goes %(way)s") % {"way": words(clean)}
        return text + "; " + _("the floor is %(floor)s.") % {"floor": _plain(clean.floor)}
    if not has_losses(broken):
        text = _("The broken library has no loss")
    else:
        text = _("The loss on the broken library goes %(way)s") % {"way": words(broken)}
    if broken.error:
        text += ", " + _("then it stops: %(error)s") % {"error": broken.error}
    if clean is not None:
        text += "; " + _("on the correct one %(way)s") % {"way": words(clean)}
    return text + "; " + _("the floor is %(floor)s.") % {"floor": _plain(broken.floor)}


def has_losses(run: TrainingRun) -> bool:
    """Whether there is anything to draw: a run may stop before its first loss."""
    return any(loss is not None for loss in run.losses)


def _plain(value: float | None) -> str:
    return "?" if value is None else f"{value:.3f}"


def ticks(low: float, high: float, *, whole: bool = False) -> list[float]:
    """About five round numbers from low to high."""
    if high <= low:
        return [low]
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    step = max(step, 1.0) if whole else step
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 10) for k in range(first, math.floor(high / step + 1e-9) + 1)]


# --- heat maps ----------------------------------------------------------------------------------

CELL_WIDTH, CELL_HEIGHT = 46.0, 24.0


def heat_map(cells: Cells, title: str, largest: float) -> str:
    """An array as coloured cells with their numbers; blue is negative, orange positive."""
    rows, columns = as_rows(cells)
    width, height = columns * CELL_WIDTH + 2, rows * CELL_HEIGHT + 2
    parts: list[Any] = []
    for i, value in enumerate(cells["entries"]):
        x, y = 1 + (i % columns) * CELL_WIDTH, 1 + (i // columns) * CELL_HEIGHT
        parts += _cell(value, x, y, largest)
    return svg(max(width, 60.0), max(height, 26.0), title, _cells_words(cells), parts)


def _cell(value: float | None, x: float, y: float, largest: float) -> Iterator[Any]:
    share = 0.0 if value is None or not largest else min(abs(value) / largest, 1.0)
    kind = "odd" if value is None else "minus" if value < 0 else "plus"
    yield draw.Rectangle(
        x,
        y,
        CELL_WIDTH - 1,
        CELL_HEIGHT - 1,
        class_=f"cell {kind}",
        fill_opacity=1 if value is None else round(0.06 + 0.6 * share, 3),
    )
    text = "nan" if value is None else short(value)
    yield label(text, x + CELL_WIDTH / 2 - 0.5, y + 16, "number", anchor="middle")


def short(value: float) -> str:
    """A number in at most six characters."""
    text = f"{value:.3g}"
    return text if len(text) <= 6 else f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e")


def as_rows(cells: Cells) -> tuple[int, int]:
    """How many rows and columns show an array: the last axis across, the others down."""
    shape = cells["shape"]
    columns = shape[-1] if shape else 1
    return (len(cells["entries"]) // columns if columns else 0), max(columns, 1)


def _cells_words(cells: Cells) -> str:
    rows, columns = as_rows(cells)
    entries = ["nan" if value is None else short(value) for value in cells["entries"]]
    lines = [" ".join(entries[r * columns : (r + 1) * columns]) for r in range(rows)]
    return _("Shape %(shape)s.") % {"shape": tuple(cells["shape"])} + " " + "; ".join(lines)


def largest_of(*several: Cells | None) -> float:
    """The largest size of any entry: one scale for pictures that are compared."""
    values = [abs(v) for cells in several if cells for v in cells["entries"] if v is not None]
    return max(values, default=0.0)


def difference(found: Cells, expected: Cells) -> Cells | None:
    """Found minus expected; None where the shapes differ, for then there is none."""
    if found["shape"] != expected["shape"]:
        return None
    pairs = zip(found["entries"], expected["entries"], strict=True)
    entries = [None if a is None or b is None else a - b for a, b in pairs]
    return {"shape": found["shape"], "entries": entries}


# --- the computational graph --------------------------------------------------------------------

LONGEST = 34  # characters that fit a box
BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y = 220.0, 62.0, 24.0, 34.0


def computational_graph(
    nodes: Sequence[GraphNode], phase: Phase, first_wrong: str, title: str
) -> str:
    """Leaves above, the loss below; a wrong node has a thick border and ✗, the first a flag."""
    places = layout(nodes)
    width = max(x for x, _y in places) + BOX_WIDTH + 8
    height = max(y for _x, y in places) + BOX_HEIGHT + 8
    arrow = draw.Marker(-6, -4, 1, 4, scale=1.6, orient="auto", class_="head")
    arrow.append(draw.Lines(-6, -3, 0, 0, -6, 3, close=True, class_="head"))
    parts: list[Any] = []
    for i, node in enumerate(nodes):
        for parent in dict.fromkeys(node.parents):
            parts.append(_edge(places[parent], places[i], arrow))
    wrong = []
    for i, node in enumerate(nodes):
        value = node.data if phase is Phase.FORWARD else node.grad
        bad = value.differs and (phase is Phase.FORWARD or node.needs_grad)
        wrong += [node.name] if bad else []
        parts += _box(node, places[i], phase, bad, node.name == first_wrong)
    return svg(width, height, title, _graph_words(nodes, wrong, first_wrong), parts)


def layout(nodes: Sequence[GraphNode]) -> list[tuple[float, float]]:
    """Each node below its lowest parent; in a row, in the order of the parents' places."""
    depth: list[int] = []
    for node in nodes:
        depth.append(1 + max((depth[p] for p in node.parents if p < len(depth)), default=-1))
    children: dict[int, list[int]] = {}
    for i, node in enumerate(nodes):
        for parent in node.parents:
            children.setdefault(parent, []).append(i)
    for i, node in enumerate(nodes):  # a leaf stands right above what first uses it
        if not node.parents and children.get(i):
            depth[i] = min(depth[child] for child in children[i]) - 1
    rows: dict[int, list[int]] = {}
    for i, level in enumerate(depth):
        rows.setdefault(level, []).append(i)
    widest = max(len(row) for row in rows.values())
    places: list[tuple[float, float]] = [(0.0, 0.0)] * len(nodes)
    for level, row in sorted(rows.items()):
        row.sort(key=lambda i: (_middle(nodes[i].parents, places, i), i))
        start = (widest - len(row)) / 2
        for column, i in enumerate(row):
            x = 4 + (start + column) * (BOX_WIDTH + GAP_X)
            places[i] = (x, 4 + level * (BOX_HEIGHT + GAP_Y))
    return places


def _middle(parents: Sequence[int], places: Sequence[tuple[float, float]], own: int) -> float:
    return sum(places[p][0] for p in parents) / len(parents) if parents else float(own)


def _edge(start: tuple[float, float], end: tuple[float, float], arrow: Any) -> Any:
    x1, y1 = start[0] + BOX_WIDTH / 2, start[1] + BOX_HEIGHT
    x2, y2 = end[0] + BOX_WIDTH / 2, end[1] - 3
    bend = (y2 - y1) / 2
    path = draw.Path(class_="edge", marker_end=arrow)
    return path.M(x1, y1).C(x1, y1 + bend, x2, y2 - bend, x2, y2)


def _box(
    node: GraphNode, place: tuple[float, float], phase: Phase, bad: bool, first: bool
) -> Iterator[Any]:
    x, y = place
    value = node.data if phase is Phase.FORWARD else node.grad
    kind = "first" if first else "wrong" if bad else "right"
    yield draw.Rectangle(x, y, BOX_WIDTH, BOX_HEIGHT, rx=6, class_=f"node {kind}")
    sign = "⚑ " if first else "✗ " if bad else ""
    name = f"{node.name} = {node.op}" if node.op and node.op not in node.name else node.name
    yield label(sign + name, x + 8, y + 17, "name", kind)
    shown = value.broken if bad else value.clean
    what = "data" if phase is Phase.FORWARD else "grad"
    if not node.needs_grad and phase is not Phase.FORWARD:
        shown, what = _("no gradient"), ""
    yield label(_cut(f"{what} {shown}".strip()), x + 8, y + 35, "small")
    if bad:
        should = _("should be %(value)s") % {"value": value.clean}
        yield label(_cut(should), x + 8, y + 52, "small")


def _cut(text: str) -> str:
    """The text in the width of a box; what gives way are numbers, not the shape at the end."""
    if len(text) <= LONGEST:
        return text
    numbers, bracket, shape = text.rpartition("] (")
    tail = f" …] ({shape}" if bracket else "…"
    return (numbers or text)[: LONGEST - len(tail)].rstrip(" …") + tail


def _graph_words(nodes: Sequence[GraphNode], wrong: Sequence[str], first: str) -> str:
    text = _("%(count)d nodes.") % {"count": len(nodes)}
    if wrong:
        text += " " + _("Wrong: %(names)s.") % {"names": ", ".join(wrong)}
    if first:
        text += " " + _("The first that differs: %(name)s.") % {"name": first}
    return text
