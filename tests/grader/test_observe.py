"""Control, sentinel, live, provenance: each missing proof is an error of the kit, and no answer."""

import pytest

from breaks.errors import BreaksError
from breaks.library import shipped_sources
from grader import child, pool
from grader import observe as module
from grader.errors import GraderError
from grader.observe import ask, blinded, observe
from grader.recording import Answer, Detector, Mode, Observed, Outcome, Phase
from labs.load import find_lab, load_labs
from tests.grader.kit import SKIP, clean_text, lab02, made_break, probes, question


def refused(*questions, **options):
    """The error that takes the place of an answer."""
    with pytest.raises(GraderError) as caught:
        observe(list(questions), **options)
    return caught.value


# -------------------------------------------------------------------- answers


@pytest.fixture(scope="module")
def answer():
    return observe([ask(lab02(), SKIP)])[0]


def test_the_answer_of_lab02(answer):
    modes = {one.scenario: (one.phase.value, one.mode.value) for one in answer.observations}

    assert list(lab02().breaks["skip-unbroadcast"]) == list(modes)
    assert ("backward", "wrong-shape") == modes["created-axis"]
    assert ("backward", "crash") == modes["twice-add-last"]
    assert ("nowhere", "unaffected") == modes["equal-shapes"]
    for one in answer.observations:
        wanted = Answer.SILENT if one.mode is Mode.UNAFFECTED else Answer.FIRES

        assert {wanted} == {result.answer for result in one.detectors.values()}


def test_the_answer_comes_with_its_proofs(answer):
    assert 5 * len(answer.observations) + 1 == answer.proofs.control
    assert 6 == answer.proofs.sentinel
    assert answer.proofs.live == 6
    assert 2 == answer.proofs.changed_lines
    assert set(clean_text()) == set(answer.proofs.provenance)


def test_an_answer_is_plain_data_that_comes_back(answer):
    assert answer == Observed.from_json(answer.to_json())


def test_the_smallest_revealing_and_the_smallest_hiding_shapes(answer):
    found = answer.observation("length-1-axis").detectors[Detector.PROPERTY_TEST].evidence

    assert {"a": [1, 1], "b": [1, 2]} == found["revealing"]
    assert {"a": [1, 1], "b": [1, 1]} == found["hiding"]


def test_training_is_part_of_the_answer(answer):
    assert Outcome.FASTER is answer.training.outcome
    assert Outcome.SAME is answer.clean_training.outcome


def test_only_the_scenarios_asked_for_are_answered_in_their_order():
    names = ("equal-shapes", "created-axis")
    found = observe([ask(lab02(), SKIP, names)])[0]

    assert list(names) == [one.scenario for one in found.observations]
    assert 6 == found.proofs.live  # the others were looked at all the same


def test_an_unknown_scenario_is_refused():
    with pytest.raises(GraderError, match="created-axis"):
        ask(lab02(), SKIP, ["created-axes"])


def test_torch_is_asked_live_when_told(tmp_path):
    found = observe([question(SKIP, "created-axis")], live=True, references=tmp_path)[0]

    assert found.live
    assert Answer.FIRES is found.observations[0].detectors[Detector.PYTORCH_DIFF].answer
    assert found.versions["torch"]


def test_without_torch_and_without_reference_the_rest_runs(tmp_path, monkeypatch):
    real = module.kept.version_of
    monkeypatch.setattr(
        module.kept, "version_of", lambda name: "" if name == "torch" else real(name)
    )
    found = observe([question(SKIP, "created-axis")], references=tmp_path)[0]
    answers = {d: r.answer for d, r in found.observations[0].detectors.items()}

    assert Answer.UNAVAILABLE is answers.pop(Detector.PYTORCH_DIFF)
    assert {Answer.FIRES} == set(answers.values())
    assert 4 == refused(question(SKIP, "created-axis"), references=tmp_path, live=True).code


def test_progress_counts_to_the_end():
    seen = []
    observe([question(SKIP, "created-axis")], progress=lambda *one: seen.append(one[:2]))

    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


# -------------------------------------------------------------------- proofs


def test_no_control_when_the_library_itself_is_wrong():
    sources = {name: text.encode() for name, text in clean_text().items()}
    tensor = sources["minitorch.tensor"].replace(b"x.grad += g * y\n", b"x.grad += 2 * g * y\n", 1)
    assert tensor != sources["minitorch.tensor"]
    scenario = probes().scenarios["elementwise"]
    error = refused(
        question(SKIP)._replace(lab="probes", scenarios=(scenario,)),
        sources={**sources, "minitorch.tensor": tensor},
    )

    assert 5 == error.code
    assert "on the correct library" in error.expected


def test_no_control_when_the_correct_library_does_not_learn():
    sources = {name: text.encode() for name, text in clean_text().items()}
    lazy = sources["minitorch.optim"].replace(b"p.data - lr * v", b"p.data")
    assert lazy != sources["minitorch.optim"]
    error = refused(question(SKIP, "equal-shapes"), sources={**sources, "minitorch.optim": lazy})

    assert 5 == error.code
    assert "learns" in error.expected


def with_first_input(scenario, **changed):
    first, *rest = scenario.inputs
    return scenario._replace(inputs=(first._replace(**changed), *rest))


def test_what_is_large_is_drawn_in_a_child_whose_memory_is_limited(monkeypatch):
    drawn = []
    monkeypatch.setattr(child, "numbers", lambda *given, **named: drawn.append(given))
    scenario = lab02().scenarios["created-axis"]
    for one in (scenario, with_first_input(scenario, shape=(64,) * 6)):
        module.draw(one, 7, module.own_shapes(one))

    assert len(drawn) == 1


def test_numbers_that_cannot_be_drawn_are_reported_as_a_fault_of_the_scenario():
    asked = question(SKIP, "created-axis")
    mine = asked.scenarios[0]._replace(lab="mine")
    scenario = with_first_input(mine, dtype="int64", shape=(), values=10**30)
    error = refused(asked._replace(scenarios=(scenario,)))

    assert 5 == error.code
    assert "Mend the scenario" in error.todo


@pytest.mark.parametrize(
    ("module", "added", "expected"),
    [
        ("minitorch.tensor", b"def (", "minitorch.tensor in Python"),
        ("minitorch.tensor", b"return 1", "library that loads"),
        ("minitorch.optim", b"def (", "library that loads"),
        ("minitorch.optim", b"a = 1\0", "library that loads"),
        ("minitorch.optim", b"# \xf1", "minitorch.optim in Python and UTF-8"),
    ],
)
def test_a_library_that_is_not_python_is_named_as_that(module, added, expected):
    sources = dict(shipped_sources())
    sources[module] += added + b"\n"
    with pytest.raises(BreaksError) as caught:
        observe([question(SKIP, "created-axis")], sources=sources)

    assert expected in caught.value.expected
    assert "report it" not in caught.value.todo


def test_a_broken_library_that_does_not_compile_crashes_while_it_loads():
    brk = made_break("made", "minitorch.optim", "self.velocity = {}", "break")
    seen = observe([question(brk, "created-axis")])[0]

    assert Mode.CRASH is seen.observations[0].mode
    assert Outcome.CRASH is seen.training.outcome


def test_a_declared_false_alarm_must_be_one():
    asked = question(SKIP, "created-axis")
    scenario = asked.scenarios[0]._replace(false_alarms=("gradcheck",))
    error = refused(asked._replace(scenarios=(scenario,)))

    assert 5 == error.code
    assert "false alarm" in error.expected


def test_an_undeclared_false_alarm_is_no_control():
    scenario = probes().scenarios["relu-at-kink"]._replace(false_alarms=())
    brk = made_break("made", "minitorch.tensor", "np.where(x.data <= 0, 0, g)", "g")
    error = refused(module.Question("probes", brk, (scenario,)))

    assert 5 == error.code


def test_a_sentinel_that_raises_nothing_is_noticed(monkeypatch):
    monkeypatch.setattr(module, "RAISES", "\n\ndef unused(*_):\n    raise RuntimeError\n")
    error = refused(question(SKIP, "created-axis"))

    assert 5 == error.code
    assert "sentinel" in error.expected


@pytest.mark.parametrize("detector", list(Detector)[:-1])
def test_a_detector_that_sees_nothing_is_noticed_by_the_sentinel(monkeypatch, detector):
    from grader import detectors

    real = detectors.detect

    def blind(one, *given):
        found = real(one, *given)
        return found._replace(answer=Answer.SILENT) if one is detector else found

    monkeypatch.setattr(detectors, "detect", blind)
    error = refused(question(SKIP, "created-axis"))

    assert 5 == error.code
    assert detector.value in error.expected


def test_a_break_that_changes_nothing_is_not_live():
    same = made_break("made", "minitorch.tensor", "y = -x.data", "y = 0 - x.data")
    asked = question(same, "equal-shapes")

    assert 5 == refused(asked).code
    assert 0 == observe([asked], require_live=False)[0].proofs.live
    assert 0 == observe([asked._replace(brk=same._replace(equivalent=True))])[0].proofs.live


def test_an_answer_without_the_proof_of_life_is_not_taken_from_the_cache(tmp_path):
    same = made_break("made", "minitorch.tensor", "y = -x.data", "y = 0 - x.data")
    asked = question(same, "equal-shapes")
    observe([asked], require_live=False, state=tmp_path)

    assert 5 == refused(asked, state=tmp_path).code


def test_a_break_declared_equivalent_that_shows_is_an_error():
    error = refused(question(SKIP._replace(equivalent=True), "created-axis"))

    assert 5 == error.code
    assert "as the break declares" in error.expected


def tampered(change):
    """A pool whose children's reports are changed before they are read."""
    real = pool.run

    def run(jobs, on_done, **options):
        started = []

        def noted():
            for job in jobs:
                started.extend([job] if job is not None else [])
                yield job

        def done(index, report):
            change(started[index], report)
            on_done(index, report)

        return real(noted(), on_done=done, **options)

    return run


PROVENANCE = {
    "no proof": lambda proof: proof.clear(),
    "another text": lambda proof: proof["sha256"].update({"minitorch.tensor": "0" * 64}),
    "a module less": lambda proof: proof["sha256"].pop("minitorch.optim"),
    "functions from elsewhere": lambda proof: proof["foreign"].append("Tensor.exp from /x.py"),
    "no functions": lambda proof: proof.update(functions=0),
}


@pytest.mark.parametrize("place", [0, -1], ids=["in a scenario", "in the training"])
@pytest.mark.parametrize("what", PROVENANCE)
def test_a_child_that_does_not_show_what_it_loaded_is_not_believed(monkeypatch, what, place):
    def change(job, report):
        if job["sources"] not in (clean_text(), blinded(clean_text())):
            proofs = [value for kind, value in report.frames if kind == "provenance"]
            PROVENANCE[what](proofs[place])

    monkeypatch.setattr(pool, "run", tampered(change))

    assert 5 == refused(question(SKIP, "created-axis")).code


def test_a_clean_child_that_never_came_back_is_no_control(monkeypatch):
    def change(job, report):
        report.frames.clear()
        report.end = pool.End.EXIT

    monkeypatch.setattr(pool, "run", tampered(change))

    assert 5 == refused(question(SKIP, "created-axis")).code


def test_functions_that_were_swapped_after_loading_are_foreign():
    from grader import child

    text = dict(clean_text())
    text["minitorch.tensor"] += "\nexec('def exp(self): return self')\nTensor.exp = exp\n"
    sent = []
    child.load({"sources": text}, lambda kind, value: sent.append((kind, value)))

    assert "exp from <string>" in dict(sent)["provenance"]["foreign"]


def test_the_variant_is_another_question_with_the_same_idea():
    variant = find_lab(load_labs(), "lab02.b")
    found = observe([ask(variant, SKIP)])[0]

    assert "lab02.b" == found.lab
    assert (Phase.BACKWARD, (2, 5)) == (
        found.observation("created-axis").phase,
        found.observation("created-axis").shape,
    )


EDITS = {
    "a wrong derivative": (
        "a.grad += unbroadcast(g, a.shape)",
        "a.grad += 2 * unbroadcast(g, a.shape)",
    ),
    "a text that does not load": ("class Tensor:", "1 / 0\n\n\nclass Tensor:"),
}


@pytest.mark.parametrize("what", EDITS)
def test_a_library_that_somebody_edited_is_not_called_a_fault_of_the_kit(what):
    before, after = EDITS[what]
    edited = dict(shipped_sources())
    edited["minitorch.tensor"] = edited["minitorch.tensor"].replace(before.encode(), after.encode())
    error = refused(question(SKIP, "created-axis"), sources=edited)

    assert 5 == error.code
    assert "breaks status" in error.todo
    assert "report" not in error.todo


SCENARIOS = {
    "it raises": "raise ValueError('mine')",
    "it detaches": "return lib.Tensor(a.data, requires_grad=True) + b",
}


@pytest.mark.parametrize("what", SCENARIOS)
def test_a_scenario_of_ones_own_that_is_wrong_is_to_be_mended(what):
    shipped = lab02().scenarios["created-axis"]
    source = f"def mine(lib, a, b):\n    {SCENARIOS[what]}\n"
    mine = shipped._replace(lab="mine", source=source, expression="mine", digest="0" * 64)
    asked = question(SKIP, "created-axis")._replace(lab="mine", scenarios=(mine,))
    error = refused(asked)

    assert 5 == error.code
    assert "Mend the scenario" in error.todo
    assert "report" in refused(asked._replace(scenarios=(mine._replace(lab="lab02"),))).todo
