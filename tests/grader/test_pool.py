"""Jobs: order, both ways, limits, and nothing that stays behind."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import pool
from tests.grader.kit import job, lab02, readings


def sections(report):
    """What a report says, without the times."""
    return json.dumps([report.frames, report.end, report.output, report.notes])


def jobs():
    return [job(scenario) for scenario in lab02().scenarios.values()]


def test_reports_come_in_the_order_of_the_jobs_whoever_finishes_first():
    def work(data, send):
        time.sleep(data["nap"])
        send("nap", data["nap"])

    naps = [0.3, 0.0, 0.1]
    reports = pool.run([{"nap": nap} for nap in naps], work=work, way="fork", workers=3)

    assert naps == [report.sections()["nap"] for report in reports]


def test_fork_and_spawn_one_and_two_workers_give_the_same_recordings():
    wanted = [sections(report) for report in pool.run(jobs(), way="fork", workers=1)]

    assert wanted == [sections(report) for report in pool.run(jobs(), way="fork", workers=2)]
    assert wanted == [sections(report) for report in pool.run(jobs(), way="spawn", workers=2)]


def test_another_order_gives_the_same_recordings():
    wanted = [sections(report) for report in pool.run(jobs(), way="fork")]
    backwards = pool.run(jobs()[::-1], way="fork")

    assert wanted == [sections(report) for report in backwards[::-1]]


def test_a_caller_who_prints_into_a_file_of_any_number_gets_the_reports():
    code = (
        "import os, sys; from grader import pool\n"
        "os.dup2(os.open(os.devnull, os.O_WRONLY), 3); sys.stdout = os.fdopen(3, 'w')\n"
        "[report] = pool.run([{}], work=lambda job, send: send('here', 1), way='fork')\n"
        "print(report.sections(), report.end, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "{'here': 1, 'done': True} done\n" == done.stderr


@pytest.mark.parametrize("ended", [False, True], ids=["at its end", "after another Ctrl-C"])
def test_ctrl_c_while_the_folder_is_removed_removes_it_and_is_heard(monkeypatch, ended):
    removed = []
    real = pool.shutil.rmtree

    def rmtree(path, **options):
        os.kill(os.getpid(), signal.SIGINT)
        real(path, **options)
        removed.append(path)

    def done(_index, _report):
        monkeypatch.setattr(pool.shutil, "rmtree", rmtree)
        if ended:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.run([{}], work=lambda job, send: None, way="fork", on_done=done)

    assert removed
    assert not any(os.path.exists(path) for path in removed)


def test_a_job_that_never_runs_is_not_done():
    def work(data, send):
        os._exit(0)

    [report] = pool.run([{}], work=work, way="fork")

    assert report.end is pool.End.EXIT
    assert report.frames == []


def test_done_is_said_once_for_each_job():
    seen = []
    pool.run(
        [{}] * 5, work=lambda data, send: None, way="fork", on_done=lambda i, r: seen.append(i)
    )

    assert [0, 1, 2, 3, 4] == sorted(seen)


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_a_job_may_wait_for_the_report_on_another(way):
    reports = []

    def waiting():
        first, second = jobs()[:2]
        yield first
        while not reports:
            yield None
        yield {**second, "seed": reports[0].sections()["program"]["error"] or 8}

    pool.run(waiting(), way=way, workers=2, on_done=lambda i, report: reports.append(report))

    assert 2 == len(reports)
    assert reports[1].sections()["program"] != pool.run(jobs()[1:2])[0].sections()["program"]


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_a_job_that_waits_while_none_runs_is_an_error(way):
    with pytest.raises(RuntimeError, match="waits"):
        pool.run(iter([None]), way=way)


def test_jobs_are_made_while_others_run_but_not_too_many():
    made, seen = [], []

    def making():
        for i in range(20):
            made.append(i)
            yield {"number": i}

    def done(index, report):
        seen.append((index, len(made)))

    pool.run(making(), work=lambda job, send: time.sleep(0.05), workers=2, way="fork", on_done=done)

    assert 2 < min(count for _, count in seen)
    assert all(count <= place + 1 + 2 + pool.AHEAD for place, (_, count) in enumerate(seen))


def test_no_folder_and_no_descriptor_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    pool.run([{}] * 3, work=lambda data, send: open("file", "w").close(), way="fork")

    assert list(tmp_path.iterdir()) == []
    if before:
        assert before == set(os.listdir("/proc/self/fd"))


def test_an_interrupt_ends_every_job_and_removes_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pids = []

    def work(data, send):
        if data["quick"]:
            return
        time.sleep(600)

    def interrupt(index, report):
        raise KeyboardInterrupt

    fork = os.fork

    def noting():
        pid = fork()
        pids.append(pid)
        return pid

    monkeypatch.setattr(os, "fork", noting)
    with pytest.raises(KeyboardInterrupt):
        pool.run([{"quick": False}, {"quick": True}], work=work, way="fork", on_done=interrupt)

    assert list(tmp_path.iterdir()) == []
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_jobs_die_with_a_parent_that_is_killed(tmp_path):
    if sys.platform != "linux":
        return  # elsewhere the kernel does not say
    note = tmp_path / "pid"
    program = f"""
    import os, time
    from grader import pool
    def work(data, send):
        with open({str(note)!r} + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.rename({str(note)!r} + ".new", {str(note)!r})
        time.sleep(600)
    pool.run([{{}}], work=work, way="fork", limits=pool.Limits(wall=600.0))
    """
    here = {**os.environ, "TMPDIR": str(tmp_path)}  # a killed parent leaves its folder
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], env=here)
    deadline = time.monotonic() + 30
    while not note.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    child = int(note.read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    for _ in range(100):
        if not alive(child):
            break
        time.sleep(0.05)

    assert not alive(child)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_fault_of_the_work_itself_is_reported_not_raised():
    def work(data, send):
        raise RuntimeError("no such kind")

    [report] = pool.run([{}], work=work, way="fork")

    assert report.end is pool.End.EXIT
    assert report.sections()["failed"] == "RuntimeError: no such kind"


def test_what_a_job_may_use_is_limited():
    def work(data, send):
        import resource

        names = ("RLIMIT_CPU", "RLIMIT_CORE", "RLIMIT_FSIZE")
        send("limits", [resource.getrlimit(getattr(resource, name))[0] for name in names])

    [report] = pool.run([{}], work=work, way="fork", limits=pool.Limits(cpu=7, file=4096))

    assert [7, 0, 4096] == report.sections()["limits"]


FRAMES = st.lists(st.tuples(st.text(max_size=5), st.integers() | st.text(max_size=9)), max_size=4)


@given(FRAMES, st.binary(max_size=30), st.binary(max_size=30))
def test_frames_are_read_through_any_garbage_around_them(frames, before, after):
    read, write = os.pipe()
    sender = pool.Sender(write, "0123456789abcdef")
    for kind, value in frames:
        sender(kind, value)
    os.close(write)
    data = b"".join(iter(lambda: os.read(read, 1 << 16), b""))
    os.close(read)
    found, strange = pool.read_frames(before + data + after, "0123456789abcdef")

    assert frames == found
    assert len(before) + len(after) == strange


@given(st.binary(max_size=80))
def test_a_frame_that_was_changed_is_not_read(noise):
    frames, _ = pool.read_frames(b"@00 12 0123456789abcdef\n" + noise, "00")

    assert frames == []


def test_a_recording_that_is_no_recording_is_a_crash():
    def work(data, send):
        send("program", [1, 2, 3])

    [reading] = readings({"kind": "none"}, work=work, way="fork")

    assert reading.crash("program") is not None
