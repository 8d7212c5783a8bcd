"""What every command of the grader needs: the workspace, the labs, the catalogue, the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from breaks import console, i18n, journal
from breaks.errors import BreaksError, Exit
from breaks.workspace import Workspace

if TYPE_CHECKING:
    from breaks.catalog import Catalog
    from breaks.model import Break
    from grader.commits import Chain
    from grader.learner import Record, Row
    from grader.recording import Observed
    from labs.model import Lab

_ = i18n.gettext
Sources = Mapping[str, bytes]


@dataclass
class Session:
    """One run of a command; everything is read when it is first asked for."""

    ws: Workspace | None
    catalog_folders: Sequence[Path] = field(default=())
    _read: dict[str, Lab] = field(default_factory=dict)

    @property
    def workspace(self) -> Workspace:
        """The workspace.  Raises BreaksError (exit 3) where there is none."""
        return self.ws or Workspace.find()

    @cached_property
    def labs(self) -> dict[str, Lab]:
        from labs.load import BUILTIN, load_labs

        own = self.ws.config.labs if self.ws else ()
        return load_labs([BUILTIN, *own])

    @cached_property
    def catalogue(self) -> Catalog:
        from breaks.catalog import BUILTIN, load_catalog

        own = self.ws.config.catalog if self.ws else ()
        return load_catalog([BUILTIN, *own, *self.catalog_folders])

    @cached_property
    def sources(self) -> Sources:
        """The correct library: the workspace's with its breaks taken out, else the shipped one."""
        if self.ws is not None:
            return journal.pristine_sources(self.ws)
        from breaks.library import shipped_sources

        return shipped_sources()

    @cached_property
    def chain(self) -> Chain:
        from grader import commits

        return commits.load(self.workspace)

    @property
    def record(self) -> Record:
        from grader import learner

        return learner.load(self.workspace)

    @property
    def state(self) -> Path | None:
        return self.ws.state if self.ws else None

    # ---------------------------------------------------------------- names

    def lab(self, name: str) -> Lab:
        """The lab of that name; `lab02.b` is the variant of lab02."""
        from labs.load import find_lab

        alone = self._alone(name)
        return find_lab(self.labs, name) if alone is None else alone

    def _alone(self, name: str) -> Lab | None:
        """A lab that ships, read without the others: most commands need no more than one."""
        from labs.load import BUILTIN, find_lab, load_lab

        base = name.partition(".")[0]
        if "labs" in self.__dict__ or not base.isalnum() or (self.ws and self.ws.config.labs):
            return None
        if base not in self._read:
            folders = [path.parent for path in BUILTIN.glob(f"{base}_*/lab.yaml")]
            lab = load_lab(folders[0]) if len(folders) == 1 else None
            if lab is None or lab.id != base:
                return None
            self._read[base] = lab
        one = {base: self._read[base]}
        return find_lab(one, name) if name in (base, f"{base}.b") else None

    def break_id(self, lab: Lab, wanted: str | None, default: str) -> str:
        """The break that is meant: the one named, if the lab asks about it."""
        if wanted is None:
            return default
        if wanted in lab.breaks:
            return wanted
        known = list(lab.breaks)
        raise BreaksError(
            _("a break of %(lab)s: %(breaks)s") % {"lab": lab.id, "breaks": ", ".join(known)},
            repr(wanted),
            console.did_you_mean(wanted, known) or _("Choose one of them."),
        )

    def next_to_predict(self, lab: Lab) -> str:
        """The first break of a lab that has no prediction yet; the first one if all have."""
        for break_id in lab.breaks:
            if self.chain.find(lab.id, break_id) is None:
                return break_id
        return lab.main_break

    def last_predicted(self, lab: Lab) -> str:
        """The break of the lab's last prediction; the first one if there is none."""
        for commit in reversed(self.chain.commits):
            if commit.lab == lab.id and commit.break_id in lab.breaks:
                return commit.break_id
        return lab.main_break

    # ---------------------------------------------------------------- observing

    def observe(self, lab: Lab, brk: Break, *, live: bool = False, cache: bool = True) -> Observed:
        """What the break does in the lab's scenarios, from the cache where it was asked before."""
        from grader import observe

        question = observe.ask(lab, brk)
        with progressing(_("observing %(id)s") % {"id": brk.id}) as progress:
            return observe.observe(
                [question],
                sources=self.sources,
                live=live,
                use_cache=cache,
                state=self.state,
                progress=progress,
            )[0]

    # ---------------------------------------------------------------- where one is

    def rows(self) -> tuple[Row, ...]:
        """One row per lab and break: how far the learner has come."""
        from grader import learner

        labs = {name: tuple(lab.breaks) for name, lab in self.labs.items()}
        if self.ws is None:
            return learner.overview(labs, learner.Record(()), {})
        predicted = {(c.lab, c.break_id): c.peeked for c in self.chain.commits}
        return learner.overview(labs, self.record, predicted)

    def following(self) -> str:
        """The next command for whoever does not know what to do next."""
        from grader.learner import Stage

        if self.ws is None:
            return "breaks init my-lab"
        rows = self.rows()
        for row in rows:
            if row.stage is not Stage.EXPLAINED:
                verb = {Stage.NEW: "predict", Stage.PREDICTED: "check", Stage.CHECKED: "explain"}
                return self.command(verb[row.stage], row.lab, row.break_id)
        for row in rows:
            if row.again and row.variant is None:
                return self.command("predict", f"{row.lab}.b", row.break_id)
        return "grader matrix"

    def command(self, verb: str, name: str, break_id: str) -> str:
        """A command line about a break; the break is named only where another would be meant."""
        base = f"grader {verb} {name}"
        lab = self.lab(name)
        meant = self.next_to_predict(lab) if verb == "predict" else self.last_predicted(lab)
        return base if meant == break_id else f"{base} --break {break_id}"

    def again(self) -> None:
        """Forgets what was read of the chain: there is a new commit."""
        self.__dict__.pop("chain", None)


@contextmanager
def progressing(label: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar that is told (done, of how many, what); it appears only after a moment.

    Where what is to be done is another number than before, something else has begun: a new bar.
    """
    import time

    began = time.monotonic()
    shown, of = 0, 0
    advance: Callable[..., None] | None = None
    with ExitStack() as stack:

        def tell(done: int, total: int, what: str) -> None:
            nonlocal shown, of, advance
            if total != of:
                stack.close()
                shown, of, advance = 0, total, None
            if advance is None:
                if time.monotonic() - began < PATIENCE or done >= total:
                    return
                advance = stack.enter_context(console.advancing(label, total))
            for _step in range(done - shown):
                advance(what)
            shown = done

        yield tell


PATIENCE = 0.5  # seconds without a bar


def no_prediction(lab: Lab, break_id: str, command: str, verb: str) -> BreaksError:
    """The refusal to check what was not predicted, with the two ways of predicting."""
    todo = _(
        "Predict first: `%(command)s`, or with a file: `%(command)s --template > p.yaml`, edit it,"
        " `%(command)s --from p.yaml`. `grader %(verb)s %(lab)s --no-predict` only shows."
    )
    return BreaksError(
        _("a committed prediction for %(lab)s, %(id)s") % {"lab": lab.id, "id": break_id},
        _("none yet"),
        todo % {"command": command, "lab": lab.id, "verb": verb},
        code=Exit.PRECONDITION,
    )
