"""`grader report`: gathers what was predicted and observed, and writes the page."""

from __future__ import annotations

from breaks import i18n
from breaks.console import Reply
from breaks.errors import BreaksError, Exit
from breaks.model import Break
from grader.checking import looked
from grader.judge import Verdict, judge
from grader.recording import Observed
from grader.session import Session, no_prediction
from labs.model import Lab

_ = i18n.gettext
Part = tuple[Lab, Break, Verdict, Observed, str]


def report(
    here: Session, name: str | None, wanted: str | None, file: str | None, *, no_predict: bool
) -> Reply:
    """Writes the page about one lab, or about everything that was predicted."""
    from grader import report as page

    if name is None and (wanted or no_predict):
        raise BreaksError(
            _("a lab with --break or --no-predict"), _("none"), _("Name it: grader report lab02.")
        )
    parts = _everything(here) if name is None else _lab(here, name, wanted, no_predict)
    path = file or f"{name or 'report'}.html"
    page.write(path, page.lab_page(parts, here.record.calibration))
    document = {
        "file": path,
        "parts": [{"lab": part[0].id, "break": part[1].id} for part in parts],
    }
    return Reply(document, _("Wrote %(file)s: open it in a browser.") % {"file": path})


def _everything(here: Session) -> list[Part]:
    asked = list(dict.fromkeys((one.lab, one.break_id) for one in here.chain.commits))
    known = [(lab, brk) for lab, brk in asked if lab.partition(".")[0] in here.labs]
    if not known:
        command = here.following()
        raise BreaksError(
            _("at least one committed prediction"),
            _("none yet"),
            _("Start with `%(command)s`, or name a lab with --no-predict.") % {"command": command},
            code=Exit.PRECONDITION,
        )
    return [_part(here, here.lab(lab), brk, predicted=True) for lab, brk in known]


def _lab(here: Session, name: str, wanted: str | None, no_predict: bool) -> list[Part]:
    lab = here.lab(name)
    asked = [here.break_id(lab, wanted, "")] if wanted else list(lab.breaks)
    predicted = [one for one in asked if here.chain.find(lab.id, one)]
    if no_predict:
        return [_part(here, lab, one, predicted=one in predicted) for one in asked]
    if not predicted:
        command = here.command("predict", lab.id, asked[0])
        raise no_prediction(lab, asked[0], command, "report")
    return [_part(here, lab, one, predicted=True) for one in predicted]


def _part(here: Session, lab: Lab, break_id: str, *, predicted: bool) -> Part:
    from breaks.difference import unified
    from breaks.rewrite import mutate
    from grader.checking import committed

    brk = here.catalogue.get(break_id)
    commit = committed(here, lab, break_id) if predicted else None
    observed = here.observe(lab, brk)
    if commit is None:
        looked(here, lab, break_id)
    digests = {one.name: one.digest for one in lab.of(break_id)}
    changed = commit.changed(digests) if commit else ()
    verdict = judge(commit.prediction if commit else None, observed, changed=changed)
    return lab, brk, verdict, observed, unified(here.sources, mutate(here.sources, brk))
