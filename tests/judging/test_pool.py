"""A pool judges what it is told to, in order, from many threads, and can be stopped."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lcbkit import Problem, TestCase, Verdict, extract_code, iter_judge, judge_many
from lcbkit.errors import BadValueError, SandboxError
from lcbkit.judging.many import JudgeEvent
from lcbkit.judging.pool import Pool, memory_bytes
from tests.judging.trials import make_problem, wait_for

ECHO = "print(input())"


def numbers(count: int) -> Problem:
    return make_problem([(f"{i}\n", f"{i}\n") for i in range(count)])


def test_results_stand_in_the_order_of_the_tests(pool: Pool) -> None:
    report = pool.judge(ECHO, numbers(40))
    assert report.passed
    assert [result.index for result in report.results] == list(range(40))
    assert [result.actual for result in report.results] == [f"{i}\n" for i in range(40)]


def test_tests_of_both_modes_may_be_mixed(pool: Pool) -> None:
    problem = make_problem([("1", "1")], fn_name="solve")
    cases = [
        TestCase(input="5", output="5", mode="functional"),
        TestCase(input="ignored", output="loaded", mode="stdin"),
        TestCase(input="6", output="7", mode="functional"),
    ]
    report = pool.judge("print('loaded')\ndef solve(n): return n", problem, tests=cases)
    assert [result.verdict for result in report.results] == ["passed", "passed", "wrong_answer"]
    assert [result.mode for result in report.results] == [case.mode for case in cases]


def test_stopping_on_failure_leaves_out_the_rest(pool: Pool) -> None:
    report = pool.judge("n = int(input()); print(n if n != 3 else 0)", numbers(10), stop_on_failure=True)
    assert len(report.results) == 4
    assert (report.pass_count, report.total, report.passed) == (3, 10, False)
    assert report.results[-1].verdict is Verdict.WRONG_ANSWER


def test_a_worker_is_kept_when_its_program_stops_early(tier: str) -> None:
    with Pool(1, sandbox=tier) as pool:
        pool.judge("1/0", numbers(5), stop_on_failure=True)
        (before,) = pool._crew._idle
        pool.judge("1/0", numbers(5), stop_on_failure=True)
        assert pool._crew._idle == [before]


def test_all_tests_are_the_public_ones_and_the_hidden_ones(pool: Pool) -> None:
    row = numbers(2).to_row()
    row["public_test_cases"] = '[{"input": "x", "output": "x", "testtype": "stdin"}]'
    problem = Problem.from_row(row)
    assert [r.input for r in pool.judge(ECHO, problem, tests="all").results] == ["x", "0\n", "1\n"]
    assert pool.judge(ECHO, problem).total == 2
    assert pool.judge(ECHO, problem, tests=problem.public_tests).total == 1


def test_no_test_is_not_a_pass(pool: Pool) -> None:
    report = pool.judge(ECHO, numbers(1), tests=[])
    assert (report.total, report.passed) == (0, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tests": "hiden"}, "'hidden', 'all'"),
        ({"time_limit": 0}, "time_limit=0"),
        ({"time_limit": float("nan")}, "time_limit=nan"),
        ({"memory_limit": -1}, "memory_limit=-1"),
    ],
)
def test_wrong_use_is_an_error_that_names_the_value(pool: Pool, options: dict, message: str) -> None:
    with pytest.raises(BadValueError, match=message):
        pool.judge(ECHO, numbers(1), **options)


def test_an_answer_without_a_program_is_no_program_to_judge(pool: Pool) -> None:
    with pytest.raises(BadValueError, match="None, no text; extract_code"):
        pool.judge(extract_code("I do not know."), numbers(1))
    with pytest.raises(BadValueError, match="None, no text; extract_code"):
        list(pool.iter_judge([(ECHO, numbers(1)), (None, numbers(1))]))


def test_an_id_in_place_of_a_problem_is_told_how_to_get_one(pool: Pool) -> None:
    with pytest.raises(BadValueError, match=r"not 'lkc1_A'; take one out of load_problems"):
        pool.judge(ECHO, "lkc1_A")  # type: ignore[arg-type]
    with pytest.raises(BadValueError, match=r"not 'lkc1_A'; take one out of load_problems"):
        list(pool.iter_judge([(ECHO, "lkc1_A")]))  # type: ignore[list-item]


def test_functional_tests_need_a_function_name(pool: Pool) -> None:
    case = TestCase(input="1", output="1", mode="functional")
    with pytest.raises(ValueError, match="fn_name"):
        pool.judge("def f(n): return n", numbers(1), tests=[case])


def test_the_prelude_can_be_left_out(pool: Pool) -> None:
    code = "import sys\ntry: print(inf, sys.getrecursionlimit())\nexcept NameError: print('none')"
    with_it = pool.run_python(code)
    without = pool.run_python(code, prelude=False)
    assert (with_it.stdout, without.stdout) == ("inf 50000\n", "none\n")


def test_the_environment_gives_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_bytes(None) == 4 * 1024**3
    assert memory_bytes(0) == 0
    monkeypatch.setenv("LCB_FUNCTIONAL_MEMORY_BYTES", "123456")
    assert memory_bytes(None) == 123456
    monkeypatch.setenv("LCB_FUNCTIONAL_MEMORY_BYTES", "much")
    with pytest.raises(BadValueError, match=r"LCB_FUNCTIONAL_MEMORY_BYTES=much; .*bytes"):
        memory_bytes(None)
    with pytest.raises(BadValueError, match="memory_limit=-1"):
        memory_bytes(-1)


def test_a_free_run_tells_what_happened(pool: Pool) -> None:
    run = pool.run_python("import sys; print(input()); print('e', file=sys.stderr); sys.exit(3)", "ü\n")
    assert (run.stdout, run.stderr, run.exit_code, run.signal, run.timed_out) == (
        "ü\n",
        "e\n",
        3,
        None,
        False,
    )
    assert 0 < run.cpu_seconds < 5
    assert run.memory_bytes > 1_000_000


def test_a_free_run_has_a_time_limit(pool: Pool) -> None:
    run = pool.run_python("while True: pass", time_limit=0.3)
    assert run.timed_out
    assert (run.exit_code, run.signal) == (None, 9)


def test_twenty_megabytes_go_in_and_out_unharmed(pool: Pool) -> None:
    text = "0123456789 ü\n" * 1_500_000
    problem = make_problem([(text, text)])
    report = pool.judge("import sys; sys.stdout.write(sys.stdin.read())", problem)
    assert report.passed
    assert "characters are missing" in report.results[0].actual
    values = list(range(2_000_000))
    problem = make_problem([(str(values), str(values))], fn_name="f")
    assert pool.judge("def f(a): return a", problem).passed


def test_many_threads_share_a_pool(pool: Pool) -> None:
    problems = [numbers(3), make_problem([("2", "4")], fn_name="f")]
    codes = [ECHO, "def f(n): return 2 * n"]
    with ThreadPoolExecutor(8) as threads:
        reports = list(threads.map(lambda i: pool.judge(codes[i % 2], problems[i % 2]), range(40)))
    assert all(report.passed for report in reports)


def test_a_closed_pool_says_so(tier: str) -> None:
    pool = Pool(1, sandbox=tier)
    assert pool.judge(ECHO, numbers(1)).passed
    pool.close()
    pool.close()
    with pytest.raises(SandboxError, match="stopped"):
        pool.judge(ECHO, numbers(1))


def test_closing_ends_what_is_being_judged(tier: str) -> None:
    pool = Pool(1, sandbox=tier)
    start = time.monotonic()
    threading.Timer(0.5, pool.close).start()
    with pytest.raises(SandboxError, match="stopped"):
        pool.judge("import time; time.sleep(50)", numbers(1), time_limit=60)
    assert time.monotonic() - start < 30


def test_reports_come_in_input_order_and_progress_is_told() -> None:
    events: list[JudgeEvent] = []
    pairs = [("import time; time.sleep(0.3); print(0)", numbers(1)), *[(ECHO, numbers(2))] * 5]
    reports = judge_many(pairs, progress=events.append)
    assert [report.total for report in reports] == [1, 2, 2, 2, 2, 2]
    assert [event.done for event in events] == [1, 2, 3, 4, 5, 6]
    assert sorted(event.index for event in events) == [0, 1, 2, 3, 4, 5]
    assert {event.total for event in events} == {6}


def test_a_listener_can_stop_a_batch() -> None:
    pairs = [(ECHO, numbers(1)), *[("import time; time.sleep(50)", numbers(1))] * 8]
    start = time.monotonic()
    reports = judge_many(pairs, progress=lambda _: "stop", time_limit=60)
    assert [report.passed for report in reports] == [True]
    assert time.monotonic() - start < 30


def test_pairs_are_drawn_only_as_they_are_needed() -> None:
    drawn = []

    def pairs():
        for number in range(1_000_000):
            drawn.append(number)
            yield ECHO, numbers(1)

    found = iter_judge(pairs())
    assert next(found)[1].passed
    found.close()
    assert len(drawn) < 1_000


def test_an_error_in_one_pair_ends_the_batch() -> None:
    case = TestCase(input="1", output="1", mode="functional")
    with pytest.raises(ValueError, match="fn_name"):
        judge_many([("x = 1", numbers(1))] * 3, tests=[case], progress=False)


def test_a_pool_of_its_own_is_gone_after_the_batch() -> None:
    before = threading.active_count()
    assert all(report.passed for report in judge_many([(ECHO, numbers(2))] * 4, workers=2, progress=False))
    assert not wait_for(lambda: max(0, threading.active_count() - before))
