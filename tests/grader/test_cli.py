"""The grader command, as a learner types it: predict, check, explain, and what goes wrong."""

import json
import os
import select
import subprocess
import sys
import time

import pytest
import yaml

from breaks import __version__
from breaks.cli import cli as breaks
from breaks.create import create
from grader import commits, learner, overview
from grader.cli import cli
from grader.recording import Mode, Outcome, Phase
from labs.load import load_labs

BRK = "skip-unbroadcast"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """One workspace for the module, so that what was observed once is known."""
    ws, _written = create(tmp_path_factory.mktemp("learner") / "ws")
    return ws


@pytest.fixture
def ws(home, monkeypatch):
    """The workspace with nothing done yet; the cache stays."""
    for name in (commits.FILE, learner.FILE, "peeks.jsonl", "drafts"):
        path = home.root / ".breaks" / name
        if path.is_dir():
            for inner in path.iterdir():
                inner.unlink()
        else:
            path.unlink(missing_ok=True)
    monkeypatch.chdir(home.root)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return home


@pytest.fixture
def run(ws, capfd, monkeypatch):
    """run("check", "lab02", code=0, stdin="…") → what was printed; the exit code is asserted."""

    def run(*line, code=0, stdin=None):
        source = ws.root / "stdin.txt"
        source.write_text(stdin or "")
        with source.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            found = cli.run(list(line))
        out, err = capfd.readouterr()
        assert found == code, err
        assert "Traceback" not in err
        run.err = err
        return out

    return run


@pytest.fixture
def answers(run):
    """run_json(…) → the document of --json."""

    def answers(*line, code=0, stdin=None):
        out = run(*line, "--json", code=code, stdin=stdin)
        assert run.err == ""
        return json.loads(out)

    return answers


@pytest.fixture
def by_hand(ws, capfd):
    """by_hand("apply", ID): the breaks command, in silence."""

    def by_hand(*line):
        assert breaks.run(list(line)) == 0
        capfd.readouterr()

    return by_hand


def template(run, lab="lab02"):
    return yaml.safe_load(run("predict", lab, "--break", BRK, "--template"))


def filled(data, *, phase="backward", mode="crash", confidence=95, detectors="fires"):
    """A template with one and the same answer everywhere."""
    for said in data["scenarios"].values():
        said["first"] = {"phase": phase, "mode": mode}
        said["detectors"] = dict.fromkeys(said["detectors"], detectors)
        said["confidence"] = confidence
        said["because"] = "shapes do not fit"
    data["training"] = {"outcome": "crash"}
    return data


def true_answers(observed):
    """The prediction that everything comes true of."""
    scenarios = {}
    for one in observed["observations"]:
        seen = one["difference"]
        first = {key: seen[key] for key in ("phase", "mode", "tensor") if seen[key]}
        if seen["mode"] == Mode.WRONG_SHAPE:
            first["shape"] = seen["shape"]
        if seen["mode"] == Mode.WRONG_VALUES:
            first |= {k: seen[k] for k in ("pattern", "factor") if seen[k] is not None}
        detectors = {
            name: result["answer"]
            for name, result in one["detectors"].items()
            if result["answer"] != "unavailable"
        }
        scenarios[one["scenario"]] = {"first": first, "detectors": detectors, "confidence": 80}
    return scenarios


@pytest.fixture
def predicted(ws, run):
    """A committed prediction of lab02 that says the same everywhere."""
    path = ws.root / "p.yaml"
    path.write_text(yaml.safe_dump(filled(template(run))))
    run("predict", "lab02", "--from", "p.yaml")
    return path


# --- where one is -------------------------------------------------------------------------------


def test_a_bare_grader_says_where_one_is_and_what_comes_next(run):

    assert "next  grader predict" in run()


def test_outside_of_a_workspace_it_says_how_to_make_one(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert "breaks init" in run()
    run("check", "lab02", code=3)
    assert "breaks init" in run.err


def test_every_command_has_help_with_examples(run):
    for name in cli.commands:
        assert f"grader {name}" in run(name, "--help")


def test_the_version_is_the_kit_s(run):

    assert __version__ in run("--version")


def test_labs_are_listed_and_a_lab_shows_its_page(run, answers):

    assert "lab02" in run("labs")
    assert next(lab["id"] for lab in answers("labs")["labs"]).startswith("lab")
    assert BRK in json.dumps(answers("show", "lab02"))
    assert "next  grader" in run("show", "lab02")


def test_a_lab_shows_the_scenarios_of_one_break(run, answers):
    shown = run("show", "lab02", "--break", BRK)

    assert "Scenario 1/6  created-axis" in shown
    assert [BRK] == list(answers("show", "lab02", "--break", BRK)["breaks"])
    run("show", "lab02", "--break", "skip-unbroadcats", code=2)
    assert "Did you mean skip-unbroadcast?" in " ".join(run.err.split())


def test_the_lessons_of_a_page_are_folded_until_their_break_is_checked(run, predicted):
    lesson = "three things happen"

    assert lesson not in run("show", "lab02")
    assert lesson in run("show", "lab02", "--unfold")
    run("check", "lab02")
    assert lesson in run("show", "lab02")
    assert "Every number is right" not in run("show", "lab02")  # another break's


def test_a_part_that_names_no_break_is_folded_until_all_are_checked():
    lab = load_labs()["lab08"]

    assert set(lab.breaks) == overview.about(lab, "What the curves said")
    assert {"zero-grad-missing"} == overview.about(lab, "Why: `zero-grad-missing`")


UNKNOWN = {
    "a lab": (["check", "lab02.c"], "Did you mean lab02"),
    "a break of the lab": (["check", "lab02", "--break", "skip-unbroadcas"], "Did you mean"),
    "a command": (["chekc", "lab02"], "Did you mean check"),
    "an option": (["check", "lab02", "--stict"], "Did you mean --strict"),
    "a break to train": (["train", "skip-unbroadcas"], "Did you mean skip-unbroadcast"),
    "a form": (["train", "--form", "onehot"], "one-hot"),
    "a score": (["check", "lab02", "--min-score", "eleven"], "--min-score: a number"),
    "a score too high": (["check", "lab02", "--min-score", "11"], "min-score"),
    "a file": (["predict", "lab02", "--from", "nowhere.yaml"], "nowhere.yaml"),
    "all and one": (["train", "--all", BRK], "Leave one of them out"),
    "a language": (["labs", "--lang", "fr"], "en"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "words"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_unknown_is_named_with_the_nearest_known(run, answers, line, words):
    run(*line, code=2)

    assert words in " ".join(run.err.split())
    assert answers(*line, code=2)["error"]["code"] == 2


# --- predict ------------------------------------------------------------------------------------


def test_without_a_prediction_check_says_how_to_make_one(run, answers):
    run("check", "lab02", code=3)

    assert "grader predict lab02" in run.err
    assert "--template" in run.err
    assert "--no-predict" in run.err
    assert answers("check", "lab02", code=3)["error"]["code"] == 3


def test_a_file_is_committed_once_and_the_same_again_is_no_second_one(ws, run, answers, predicted):
    again = answers("predict", "lab02", "--from", "p.yaml")

    assert (again["committed"], again["new"]) == (True, False)
    assert len(commits.load(ws).commits) == 1
    shown = run("predict", "lab02", "--from", "p.yaml")
    names = [one.name for one in load_labs()["lab02"].of(BRK)]
    places = [shown.index(f"\n{name} ") for name in names]
    assert sorted(places) == places


def test_another_prediction_for_the_same_question_is_refused(ws, run, predicted):
    predicted.write_text(predicted.read_text().replace("confidence: 95", "confidence: 20"))
    run("predict", "lab02", "--from", "p.yaml", code=3)

    assert "cannot be changed" in run.err
    assert "lab02.b" in run.err
    assert len(commits.load(ws).commits) == 1


def test_an_invalid_file_costs_nothing(ws, run, predicted):
    before = (ws.state / commits.FILE).read_bytes()
    (ws.root / "bad.yaml").write_text("lab: lab02\nscenarios: {}\n")
    run("predict", "lab02.b", "--from", "bad.yaml", code=2)
    run("predict", "lab02", "--from", "bad.yaml", code=2)

    assert (ws.state / commits.FILE).read_bytes() == before


def test_a_prediction_may_come_from_a_pipe_as_a_file(ws):
    grader = [sys.executable, "-c", "from grader.cli import main; main()"]
    made = subprocess.run(
        [*grader, "predict", "lab02", "--break", BRK, "--template"],
        cwd=ws.root,
        capture_output=True,
    )
    text = yaml.safe_dump(filled(yaml.safe_load(made.stdout))).encode()
    done = subprocess.run(
        [*grader, "predict", "lab02", "--from", "-"], input=text, cwd=ws.root, capture_output=True
    )

    assert done.returncode == 0, done.stderr
    assert commits.load(ws).find("lab02", BRK) is not None


def script(lab, *, last="yes"):
    """One line per answer: nothing is affected anywhere."""
    count = len(lab["scenarios"])
    return "nowhere\nnone\n60\n\n" * count + f"same\n{last}\n"


def test_a_prediction_may_be_answered_line_by_line(ws, run):
    lines = script(template(run))
    run("predict", "lab02", "--break", BRK, stdin=lines)
    said = commits.load(ws).find("lab02", BRK).prediction

    assert {s.first.phase for s in said.scenarios.values()} == {Phase.NOWHERE}
    assert said.training.outcome is Outcome.SAME


def test_the_last_question_may_be_answered_by_an_option(ws, run):
    lines = script(template(run), last="")
    run("predict", "lab02", "--break", BRK, "--yes", stdin=lines)

    assert commits.load(ws).find("lab02", BRK) is not None


def test_no_at_the_end_commits_nothing(ws, run):
    run("predict", "lab02", "--break", BRK, stdin=script(template(run), last="no"))

    assert commits.load(ws).commits == ()


def test_going_back_takes_the_answer_back(ws, run):
    lines = script(template(run)).replace("nowhere\n", "forward\nb\nnowhere\n", 1)
    run("predict", "lab02", "--break", BRK, stdin=lines)

    assert next(
        iter(commits.load(ws).find("lab02", BRK).prediction.scenarios.values())
    ).first.mode is (Mode.UNAFFECTED)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "neither"),
        ("\n", "expected one of forward backward nowhere; found an empty line"),
        ("nowhere\n\n", "property-test none all; found an empty line"),
        ("nowhere\nnone\n\n", "a whole number of percent, at most 100; found an empty line"),
        ("nowhere\n,\n", "found ','"),
        ("forward\n", "the end of the input"),
        ("sideways\n", "line 1 of the input"),
        ("backward\nwrong\n", "could be"),
        ("backward\n" + "x" * 70_000 + "\n", "characters"),
        ("b\nb\n", "the end of the input"),
    ],
    ids=[
        "nothing",
        "an empty line",
        "no detectors",
        "no percent",
        "a comma",
        "too few",
        "no such word",
        "two words",
        "too much",
        "back at the start",
    ],
)
def test_answers_that_are_none_are_refused_with_their_line(ws, run, lines, words):
    run("predict", "lab02", "--break", BRK, stdin=lines, code=2)

    assert words in run.err.replace("\n  ", " ")
    assert commits.load(ws).commits == ()


def test_a_break_applied_by_hand_is_noted_and_not_forbidden(ws, run, by_hand):
    by_hand("apply", BRK)
    by_hand("revert")
    (ws.root / "p.yaml").write_text(yaml.safe_dump(filled(template(run))))
    run("predict", "lab02", "--from", "p.yaml")

    assert commits.load(ws).find("lab02", BRK).peeked
    assert "Noted" in run("check", "lab02")


# --- at a terminal ------------------------------------------------------------------------------


class Terminal:
    """The grader at a terminal of its own, as tmux would give it one."""

    def __init__(self, ws, *line):
        import pty

        self.seen, self.over = "", False
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(ws.root)
            os.environ |= {"TERM": "xterm", "COLUMNS": "80", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
            code = "from grader.cli import main; main()"
            os.execv(sys.executable, [sys.executable, "-c", code, *line])

    def read(self, seconds):
        """Whether there was something to read within that time."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # nobody holds the other end any more
            data = b""
        self.seen += data.decode("utf-8", "replace")
        self.over = not data
        return not self.over

    def wait_for(self, words):
        """Reads until the words are there; what was read before them."""
        until = time.monotonic() + 60
        while words not in self.seen:
            assert time.monotonic() < until, self.seen
            assert not self.over, self.seen
            self.read(1)
        before, _, self.seen = self.seen.partition(words)
        return before

    def type(self, text):
        os.write(self.fd, text.encode())

    def answer(self, text):
        self.wait_for("> ")
        self.type(text + "\r")

    def end(self, key=""):
        """The exit code; `key` is pressed until it is heard (a line editor may not be ready)."""
        until = time.monotonic() + 60
        while not self.over:
            assert time.monotonic() < until, self.seen
            if key:
                self.type(key)
            while self.read(0.5):
                pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


CTRL_C, CTRL_D = "\x03", "\x04"


def test_one_answer_is_kept_as_one_answer(ws):
    line = ["predict", "lab02", "--break", BRK]
    first = Terminal(ws, *line)
    first.answer("backward")
    first.wait_for("How?")

    assert first.end(CTRL_D) == 130
    assert "your 1 answer is kept" in " ".join(first.seen.split())


def test_at_a_terminal_ctrl_d_keeps_a_draft_that_goes_on_later(ws):
    line = ["predict", "lab02", "--break", BRK]
    first = Terminal(ws, *line)
    first.answer("?")
    assert "gradients are computed" in first.wait_for("Where does it")
    first.answer("now")
    first.answer("none")
    first.wait_for("> ")

    assert first.end(CTRL_D) == 130
    assert "your 2 answers are kept" in " ".join(first.seen.split())
    assert commits.load(ws).commits == ()
    second = Terminal(ws, *line)
    second.wait_for("goes on with 2 answers")
    second.answer("b")  # the detectors are asked again
    second.answer("none")
    second.answer("60")
    second.answer("")
    count = len(here(ws).lab("lab02").breaks[BRK])
    for _scenario in range(count - 1):
        for typed in ("nowhere", "none", "60", ""):
            second.answer(typed)
    second.answer("same")
    second.wait_for("cannot be changed afterwards")
    second.answer("yes")
    assert second.end() == 0
    assert commits.load(ws).find("lab02", BRK) is not None
    assert not list((ws.state / "drafts").glob("*.json"))


def test_at_a_terminal_ctrl_c_keeps_the_draft_and_restart_forgets_it(ws):
    line = ["predict", "lab02", "--break", BRK]
    first = Terminal(ws, *line)
    first.answer("now")
    first.wait_for("> ")

    assert first.end(CTRL_C) == 130
    assert "Traceback" not in first.seen
    second = Terminal(ws, *line, "--restart")
    second.wait_for("Where does it FIRST differ")
    assert second.end(CTRL_D) == 130
    assert "your 0 answers" in " ".join(second.seen.split())


def test_at_a_terminal_explain_asks_for_the_sentence(ws, run, predicted):
    run("check", "lab02")
    asked = Terminal(ws, "explain", "lab02")
    asked.wait_for("in your own words")
    asked.answer("")
    asked.answer("nobody adds the copies")
    asked.wait_for("The lesson")

    assert asked.end() == 0
    assert learner.load(ws).sentence("lab02", BRK) == "nobody adds the copies"


def here(ws):
    from grader.session import Session

    return Session(ws)


# --- check --------------------------------------------------------------------------------------


def test_a_wrong_prediction_is_a_normal_event_and_confident_misses_come_first(run, predicted):
    out = run("check", "lab02")

    assert "You were 95 % sure" in out
    assert "Wrong is fine" in out
    assert "next  grader explain lab02" in out
    heads = [line for line in out.splitlines() if line.startswith("Scenario ")]
    assert "unaffected" in out
    assert len(heads) == len(heads)
    first = out.split("Scenario ")[1]
    assert "✗" in first or "~" in first


def test_every_line_of_the_verdict_fits_80_columns(run, predicted):
    for line in run("check", "lab02").splitlines():
        assert len(line) <= 80, line


def test_the_verdict_is_the_same_whether_or_not_the_break_is_applied(answers, predicted, by_hand):
    def plain():
        found = answers("check", "lab02", "--no-cache")
        observed = found["observed"]
        return found["verdict"], observed["observations"], observed["proofs"]

    before = plain()
    by_hand("apply", BRK)
    try:
        during = plain()
    finally:
        by_hand("revert")

    assert during == before


def test_what_comes_true_scores_ten(ws, run, answers):
    observed = answers("check", "lab02", "--break", BRK, "--no-predict")["observed"]
    runs = {run_["form"]: run_ for run_ in observed["training"]["runs"]}
    document = {"lab": "lab02", "break": BRK, "scenarios": true_answers(observed)}
    for one in runs.values():
        document["training"] = {"outcome": one["outcome"]}
        if one["outcome"] == "crash":
            document["training"]["phase"] = one["phase"]
        if one["outcome"] != "same":
            break
    (ws.root / "true.yaml").write_text(yaml.safe_dump(document))
    run("predict", "lab02", "--from", "true.yaml")
    found = answers("check", "lab02", "--strict", "--min-score", "10")

    assert found["score"] == 10
    assert found["verdict"]["misses"] == 0


def test_exit_1_comes_from_min_score_and_strict_alone(run, predicted):
    run("check", "lab02", code=0)
    run("check", "lab02", "--min-score", "0", code=0)
    run("check", "lab02", "--min-score", "10", code=1)
    run("check", "lab02", "--strict", code=1)


def test_json_is_one_document_with_the_verdict_and_the_evidence(answers, predicted):
    found = answers("check", "lab02")

    assert found["lab"] == "lab02"
    assert found["chain_intact"] is True
    assert found["commit"]["attempt"] == 1
    assert found["calibration"]["answers"] == len(found["observed"]["observations"])
    assert {"difference", "detectors", "graph"} <= set(found["observed"]["observations"][0])


def test_no_predict_shows_and_scores_nothing_and_a_later_prediction_is_noted(ws, run, answers):
    out = run("check", "lab02", "--break", BRK, "--no-predict")

    assert "nothing is scored" in out
    assert learner.load(ws).checks == ()
    (ws.root / "p.yaml").write_text(yaml.safe_dump(filled(template(run))))
    assert answers("predict", "lab02", "--from", "p.yaml")["peeked"] is True


def test_an_edited_prediction_is_not_scored(ws, run, predicted):
    path = ws.state / commits.FILE
    path.write_text(path.read_text().replace('"confidence": 95', '"confidence": 20', 1))
    run("check", "lab02", code=3)

    assert "edited" in run.err
    run("verify", code=1)


def test_a_chain_that_is_cut_off_after_a_check_is_evident(ws, run, answers, predicted):
    run("check", "lab02")
    (ws.state / commits.FILE).write_text("")

    assert answers("verify", code=1)["checked_but_gone"] == [f"lab02 {BRK}"]


def test_an_intact_chain_is_said_to_be_evidence_and_no_proof(run, predicted):
    out = run("verify")

    assert "intact" in out
    assert "no proof" in out


def test_a_scenario_that_changed_since_is_not_scored(ws, run, answers, predicted):
    path = ws.state / commits.FILE
    document = json.loads(path.read_text())
    name = next(iter(document["scenarios"]))
    document["scenarios"][name] = "0" * 64
    document["hash"] = commits.seal(document)
    path.write_text(json.dumps(document) + "\n")
    found = answers("check", "lab02")

    assert found["changed_scenarios"] == [name]
    facets = {s["scenario"]: s["facets"] for s in found["verdict"]["scenarios"]}
    assert {f["why"] for f in facets[name]} == {"changed"}


def test_the_score_on_record_is_that_of_the_first_check(ws, run, predicted):
    run("check", "lab02")
    run("check", "lab02")

    assert len(learner.load(ws).checks) == 1


# --- watch --------------------------------------------------------------------------------------


def test_watch_says_that_the_file_is_not_there_yet(ws, run, monkeypatch):
    monkeypatch.setattr("grader.checking.time.sleep", interrupted)
    run("check", "lab02", "--watch", "nowhere.yaml", code=130)

    assert "nowhere.yaml: expected a file" in run.err
    assert "Watching nowhere.yaml" in run.err


def interrupted(_seconds):
    raise KeyboardInterrupt


def test_watch_judges_a_draft_again_when_it_is_saved_and_scores_nothing(ws, run):
    run("check", "lab02", "--break", BRK, "--no-predict")  # now it is known, and quick
    draft = ws.root / "draft.yaml"
    data = filled(template(run))
    draft.write_text("lab: lab02\n")
    code = "from grader.cli import main; main()"
    line = [sys.executable, "-u", "-c", code, "check", "lab02", "--watch", "draft.yaml"]
    log = ws.root / "watch.log"
    with log.open("w") as out:
        watcher = subprocess.Popen(line, cwd=ws.root, stdout=out, stderr=out)
    try:
        wait_for(log, "problem")
        draft.write_text(yaml.safe_dump(data))
        wait_for(log, "if it were committed")
    finally:
        watcher.send_signal(2)
        code = watcher.wait(20)

    assert code == 130
    assert commits.load(ws).commits == ()
    assert "Traceback" not in log.read_text()


def wait_for(log, words):
    until = time.monotonic() + 60
    while words not in log.read_text():
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.1)


# --- explain and progress -----------------------------------------------------------------------


def test_explain_wants_a_check_or_giving_up(run, predicted):
    run("explain", "lab02", "--because", "so", code=3)

    assert "grader check lab02" in run.err
    assert "--give-up" in run.err


def test_explain_wants_the_learner_s_own_sentence_first(run, predicted):
    run("check", "lab02")
    run("explain", "lab02", code=2)

    assert "--because" in run.err


def test_explain_shows_the_sentence_the_lesson_the_reports_and_the_variant(ws, run, predicted):
    run("check", "lab02")
    out = run("explain", "lab02", "--because", "nobody adds the copies")

    assert out.index("nobody adds the copies") < out.index("The lesson") < out.index("https://")
    assert "next  grader predict lab02\n" in out  # the lab's next break; then the variant
    assert learner.load(ws).sentence("lab02", BRK) == "nobody adds the copies"
    assert "nobody adds the copies" in run("explain", "lab02")  # it need not be said twice


def test_giving_up_is_possible_and_noted(ws, run):
    run("explain", "lab02", "--break", BRK, "--give-up")

    assert learner.load(ws).gave_up("lab02", BRK)
    (ws.root / "p.yaml").write_text(yaml.safe_dump(filled(template(run))))
    run("predict", "lab02", "--from", "p.yaml")
    assert commits.load(ws).find("lab02", BRK).peeked


def test_the_variant_is_another_question_with_its_own_commit(ws, run, answers, predicted):
    (ws.root / "b.yaml").write_text(yaml.safe_dump(filled(template(run, "lab02.b"))))
    run("predict", "lab02.b", "--from", "b.yaml")
    first = answers("check", "lab02")["observed"]["observations"][0]["difference"]
    second = answers("check", "lab02.b")["observed"]["observations"][0]["difference"]

    assert first["shape"] != second["shape"]
    assert len(commits.load(ws).commits) == 2


def test_progress_tells_scores_calibration_and_what_to_repeat(run, answers, predicted):
    run("check", "lab02")
    row = next(
        r for r in answers("progress")["breaks"] if r["break"] == BRK and r["lab"] == "lab02"
    )

    assert row["stage"] == "checked"
    assert "Calibration" in run("progress")


@pytest.mark.parametrize(("language", "again"), [("en", "again"), ("es", "repetir")])
def test_progress_breaks_no_id_and_no_word_at_80_columns(run, answers, predicted, language, again):
    for brk in {row["break"] for row in answers("progress")["breaks"] if row["lab"] == "lab02"}:
        run("explain", "lab02", "--break", brk, "--give-up")  # the longest words of its column
    run("check", "lab02")
    words = run("--lang", language, "progress").split()

    assert {row["break"] for row in answers("progress")["breaks"]} <= set(words)
    assert again in words


def test_the_whole_record_can_be_exported(ws, run, predicted):
    run("check", "lab02")
    run("progress", "--export", "me.json")
    found = json.loads((ws.root / "me.json").read_text())

    assert found["commits"][0]["lab"] == "lab02"
    assert found["events"][0]["kind"] == "checked"
    run("progress", "--export", "no/such/folder/me.json", code=2)


# --- train, matrix, report ----------------------------------------------------------------------


def test_train_shows_the_curve_of_the_correct_and_of_a_broken_library(run, answers):
    out = run("train", BRK, "--form", "one-hot")

    assert "Floor" in out
    assert "correct" in out
    found = answers("train", BRK)
    assert found["breaks"][0]["break"] == BRK
    assert {r["form"] for r in found["clean"]["runs"]} == {"one-hot", "embedding"}
    assert all(len(line) <= 80 for line in out.splitlines())


def test_train_several_shows_a_row_each(ws, run):
    out = run("train", BRK, "mean-backward-missing-1-over-n", "--html", "train.html")

    rows = [line for line in out.splitlines() if line.startswith(f"{BRK} ")]
    assert len(rows) == 2  # one in the table of each form
    assert "<svg" in (ws.root / "train.html").read_text()
    assert all(len(line) <= 80 for line in out.splitlines())


def test_matrix_shows_who_sees_a_break(ws, run, answers):
    out = run("matrix", "--break", BRK, "--html", "matrix.html")

    assert BRK in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert answers("matrix", "--break", BRK)["rows"][0]["break"] == BRK
    assert "The kill matrix" in (ws.root / "matrix.html").read_text()


def test_report_writes_a_page_about_what_was_predicted(ws, run, answers, predicted):
    assert answers("report", "lab02")["file"] == "lab02.html"
    run("report", "-o", "all.html")

    assert "shapes do not fit" in (ws.root / "lab02.html").read_text()
    assert (ws.root / "all.html").stat().st_size > 10_000


def test_report_shows_nothing_that_was_not_predicted_unless_told(ws, run):
    run("report", code=3)
    run("report", "lab02", code=3)
    assert "`grader report lab02 --no-predict`" in " ".join(run.err.split())
    run("report", "lab02", "--break", BRK, "--no-predict", "-o", "x.html")

    assert "nothing is scored" in (ws.root / "x.html").read_text()
    assert learner.load(ws).looked(BRK)


# --- conventions --------------------------------------------------------------------------------


def test_everything_works_without_colour_and_without_utf_8(ws):
    code = "from grader.cli import main; main()"
    for line in (["labs"], ["check", "lab02", "--break", BRK, "--no-predict"], ["train", BRK]):
        done = subprocess.run(
            [sys.executable, "-c", code, *line],
            cwd=ws.root,
            capture_output=True,
            env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PATH": ""},
        )

        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()
        assert b"\x1b" not in done.stdout


def test_a_cached_check_imports_nothing_heavy(ws, run, predicted):
    run("check", "lab02")
    code = (
        "import sys; from grader.cli import cli; cli.run(['check', 'lab02']);"
        "heavy = {'numpy', 'scipy', 'torch', 'hypothesis', 'rich', 'jsonschema', 'jinja2',"
        " 'drawsvg'} & set(sys.modules); print(sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ws.root, capture_output=True, text=True)

    assert "answered from the cache" in done.stdout
    assert done.stderr.strip() == "[]"


def test_a_workspace_that_cannot_be_written_is_an_environment_error(
    ws, run, predicted, monkeypatch
):
    def refuse(*_args):
        raise PermissionError(13, "Permission denied", str(ws.state))

    monkeypatch.setattr("grader.lines.save", refuse)
    (ws.root / "b.yaml").write_text(yaml.safe_dump(filled(template(run, "lab02.b"))))
    run("predict", "lab02.b", "--from", "b.yaml", code=4)

    assert "Permission denied" in run.err


def test_the_kit_s_own_failure_is_exit_5_and_scores_nothing(ws, run, predicted, monkeypatch):
    from grader.errors import GraderError

    def fail(*_args, **_more):
        raise GraderError("silence on the correct library", "fires", "Report it.", code=5)

    monkeypatch.setattr("grader.observe.observe", fail)
    run("check", "lab02", code=5)

    assert learner.load(ws).checks == ()
