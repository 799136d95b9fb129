"""Tables over seeds, of job folders that are sealed as real ones are."""

import json
import random
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

from lcbkit.errors import BadValueError, LcbkitError, NothingToDoError
from lcbkit.optimizers.aggregation import Aggregate, aggregate
from lcbkit.optimizers.job import JobError, JobFolder

IDS = [str(number) for number in range(10)]


def make_job(
    folder: Path,
    seed: int,
    baseline: list[float],
    deployed: list[float],
    *,
    method: str = "gepa",
    model: str = "qwen",
    valid: bool = True,
    conformant: bool = True,
    ids: list[str] = IDS,
    **asked: Any,
) -> Path:
    files = JobFolder(folder)
    cell = {
        "method": method,
        "task": "lcb",
        "topology": "single",
        "framework": "langgraph",
        "communication": "freeform",
        "team_size": 1,
        "task_model": model,
    }
    job = files.write("job", {"cell": cell, "seed": seed, **asked})
    test = {
        "example_ids": ids,
        "baseline_scores": baseline,
        "deployed_scores": deployed,
        "baseline_mean": fmean(baseline),
        "deployed_mean": fmean(deployed),
        "delta_pp": 100 * (fmean(deployed) - fmean(baseline)),
        "valid_for_aggregation": valid,
    }
    files.write("test", test)
    files.write(
        "result",
        {
            "job_sha256": job["sha256"],
            "protocol_conformant": conformant,
            "departures": [] if conformant else ["budget 60 instead of 600"],
            "cell": cell,
            "optimizer_seed": seed,
            "selection": {"fallback_reason": None if baseline != deployed else "validation_tie"},
            "test": test,
        },
    )
    return folder


def c3(root: Path, **changes: Any) -> Path:
    """The page's worked example: baseline means 0.4, and its row differences."""
    base = [0.0] * 10
    for place in (0, 2, 3, 8):
        base[place] = 1.0
    for seed, moves in enumerate(({1: 1, 4: 1}, {1: 1, 5: 1, 8: -1}, {})):
        deployed = [score + moves.get(place, 0) for place, score in enumerate(base)]
        make_job(root / f"seed{seed}", seed, base, deployed, **changes)
    return root


def test_c3_the_page_example_comes_out(tmp_path: Path) -> None:
    (cell,) = aggregate(c3(tmp_path)).cells
    assert (cell.status, cell.problems) == ("complete", ())
    assert [seed.delta_pp for seed in cell.seeds] == pytest.approx([20, 10, 0])
    assert (cell.baseline, cell.delta_pp, cell.delta_sd) == pytest.approx((0.4, 10, 10))
    assert cell.interval == pytest.approx((-10 / 3, 80 / 3))
    assert [seed.p_value for seed in cell.seeds] == [0.5, 1.0, 1.0]
    assert [seed.p_adjusted for seed in cell.seeds] == [1.0, 1.0, 1.0]
    assert [(seed.wins, seed.losses) for seed in cell.seeds] == [(2, 0), (2, 1), (0, 0)]
    assert cell.fallbacks == 1


def test_an_independent_computation_finds_the_same_table(tmp_path: Path) -> None:
    from scipy.stats import binomtest
    from statsmodels.stats.multitest import multipletests

    rng = random.Random(1)
    p_values, found = [], {}
    for method in ("gepa", "mipro"):
        deltas = []
        for seed in range(3):
            ids = [str(number) for number in range(50)]
            base = [float(rng.random() < 0.4) for _ in ids]
            better = [float(rng.random() < (0.9 if score else 0.35)) for score in base]
            make_job(tmp_path / f"{method}{seed}", seed, base, better, method=method, ids=ids)
            wins = sum(b < d for b, d in zip(base, better, strict=True))
            losses = sum(b > d for b, d in zip(base, better, strict=True))
            p_values.append(binomtest(wins, wins + losses).pvalue)
            deltas.append(2.0 * (wins - losses))
        found[method] = (fmean(deltas), stdev(deltas))
    result = aggregate(tmp_path)
    for cell in result.cells:
        assert (cell.delta_pp, cell.delta_sd) == pytest.approx(found[cell.cell.method])
    ours = [seed for cell in result.cells for seed in cell.seeds]
    assert [seed.p_value for seed in ours] == pytest.approx(p_values)
    adjusted = multipletests(p_values, method="holm")[1]
    assert [seed.p_adjusted for seed in ours] == pytest.approx(list(adjusted))


def test_families_bound_the_correction(tmp_path: Path) -> None:
    zeros, ones = [0.0] * 10, [1.0] * 10
    for number, (method, model) in enumerate([("gepa", "a"), ("gepa", "b"), ("mipro", "a")]):
        for seed in range(3):
            make_job(tmp_path / f"{number}-{seed}", seed, zeros, ones, method=method, model=model)
    p = 2 / 2**10

    def largest(family: Any) -> list[float]:
        cells = aggregate(tmp_path, family=family).cells
        return sorted({max(seed.p_adjusted or 0 for seed in cell.seeds) for cell in cells})

    assert largest("none") == pytest.approx([9 * p])
    assert largest("task") == pytest.approx([3 * p, 6 * p])
    assert largest("method") == pytest.approx([3 * p, 6 * p])


def problems_of(result: Aggregate) -> str:
    (cell,) = result.cells
    assert cell.status == "incomplete"
    assert cell.delta_pp is None
    assert all(seed.p_adjusted is None for seed in cell.seeds)
    assert "incomplete" in json.dumps(result.to_dict())
    return "; ".join(cell.problems)


def test_a_cell_needs_each_seed_once(tmp_path: Path) -> None:
    c3(tmp_path)
    make_job(tmp_path / "again", 1, [0.0] * 10, [0.0] * 10)
    (tmp_path / "seed2/job.json").unlink()
    assert problems_of(aggregate(tmp_path)) == "seed 1 is there 2 times; seed 2 is missing"


def test_a_cell_needs_valid_seeds_on_the_same_problems(tmp_path: Path) -> None:
    c3(tmp_path)
    make_job(tmp_path / "seed0", 0, [0.0] * 10, [1.0] * 10, valid=False)
    make_job(tmp_path / "seed1", 1, [0.0] * 10, [1.0] * 10, ids=[*IDS[1:], "x"])
    said = problems_of(aggregate(tmp_path))
    assert "seed 0 has test problems without an observation" in said
    assert "tested on different problems" in said


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("budget", (60, 60, 30), "the seeds differ in their budget"),
        ("settings", ({"a": 1}, {"a": 2}, {"a": 1}), "the seeds differ in the method's settings"),
        ("reflection_model", ("a", "a", "b"), "the seeds differ in the reflection model"),
        ("decodings", ({}, {}, {"search": 1}), "the seeds differ in sampling values"),
        ("condition_id", ("x", "y", "z"), "the seeds differ in team, seed prompts"),
    ],
)
def test_jobs_that_were_asked_for_something_else_are_no_repetitions(
    tmp_path: Path, name: str, values: tuple[Any, ...], words: str
) -> None:
    for seed, value in enumerate(values):
        make_job(tmp_path / str(seed), seed, [0.0] * 10, [1.0] * 10, **{name: value})
    assert words in problems_of(aggregate(tmp_path))


@pytest.mark.parametrize(
    "text", ['{"schema": "somebody/else"}', "[]", "no JSON", "", '{"schema": "lcbkit/job/9"}']
)
def test_a_job_json_of_another_program_is_left_out_and_named(tmp_path: Path, text: str) -> None:
    c3(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/job.json").write_text(text)
    result = aggregate(tmp_path)
    assert result.cells[0].status == "complete"
    assert list(result.left_out) == [str(tmp_path / "other")]


def test_a_models_name_cannot_break_the_table(tmp_path: Path) -> None:
    c3(tmp_path / "jobs", model="a|b")
    aggregate(tmp_path / "jobs", out=tmp_path / "table")
    heads, _, line = (tmp_path / "table/table.md").read_text().splitlines()
    assert line.replace("\\|", "").count("|") == heads.count("|")


def test_what_departs_from_the_protocol_must_be_wished_for(tmp_path: Path) -> None:
    c3(tmp_path, conformant=False)
    with pytest.raises(NothingToDoError, match=r"3 jobs do not count.*--include-nonconformant") as nothing:
        aggregate(tmp_path)
    assert nothing.value.exit_code == 1
    assert aggregate(tmp_path, include_nonconformant=True).cells[0].status == "complete"


def test_unfinished_jobs_are_named(tmp_path: Path) -> None:
    c3(tmp_path)
    JobFolder(tmp_path / "open").write("job", {"cell": {}})
    result = aggregate(tmp_path)
    assert result.left_out == {str(tmp_path / "open"): "not finished"}
    assert "not finished" in str(result)


@pytest.mark.parametrize("name", ["job", "test", "result"])
def test_a_changed_file_is_refused(tmp_path: Path, name: str) -> None:
    path = c3(tmp_path) / "seed1" / f"{name}.json"
    value = json.loads(path.read_text())
    path.write_text(json.dumps({**value, "more": 1}))
    with pytest.raises(JobError, match="changed after it was sealed"):
        aggregate(tmp_path)


def test_a_result_must_go_with_its_test(tmp_path: Path) -> None:
    c3(tmp_path)
    (tmp_path / "seed0/result.json").write_bytes((tmp_path / "seed1/result.json").read_bytes())
    with pytest.raises(JobError, match="does not go with"):
        aggregate(tmp_path)


def test_the_table_is_written_and_shown(tmp_path: Path) -> None:
    result = aggregate(c3(tmp_path / "jobs"), out=tmp_path / "table")
    assert {path.name for path in (tmp_path / "table").iterdir()} == {
        "aggregate.json",
        "table.csv",
        "table.md",
    }
    for text in (str(result), result._repr_html_(), (tmp_path / "table/table.md").read_text()):
        assert "+10.0" in text
        assert "-3.3 to +26.7" in text
    frame = result.to_frame()
    assert list(frame["delta_pp"].round(6)) == [20, 10, 0]
    assert repr(result) == "<Aggregate: 1 cells, 1 complete>"


def test_a_table_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    jobs = c3(tmp_path / "jobs")
    (tmp_path / "file").touch()
    with pytest.raises(LcbkitError, match=r"cannot write to .*file: .*; name another folder"):
        aggregate(jobs, out=tmp_path / "file")


@pytest.mark.parametrize("changes", [{"bootstrap": 99}, {"family": "topology"}])
def test_bad_arguments_are_told(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(BadValueError):
        aggregate(c3(tmp_path), **changes)


def test_nothing_at_all_is_told(tmp_path: Path) -> None:
    with pytest.raises(NothingToDoError, match="no result to aggregate"):
        aggregate(tmp_path)
