"""What a job is, from what was asked for: checked, and costed before anything is run."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lcbkit.errors import BadValueError
from lcbkit.known_ids import splits as known_splits
from lcbkit.optimizers.costs import estimate, least_budget
from lcbkit.optimizers.endpoints import Models
from lcbkit.optimizers.methods import METHODS, make_optimizer
from lcbkit.optimizers.protocol import REFLECTION_MODEL, Cell, cells
from lcbkit.optimizers.seeds import OFFSETS
from lcbkit.optimizers.specification import JobSpec, Splits
from lcbkit.optimizers.wiring import TeamShape
from lcbkit.topologies.roles import SIZELESS, plan_team

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["DATASETS", "dry_run", "job_spec", "listed_cells", "splits_of"]

DATASETS = ("lcb", "sample", "toy")
_SIZED = re.compile(r"(\w+?)_r(\d+)")


def job_spec(
    method: str,
    topology: str,
    *,
    model: "str | BaseChatModel",
    reflection_model: "str | BaseChatModel | None",
    task_endpoints: str | Sequence[str],
    reflection_endpoint: str | None,
    request_timeout: float | None,
    team_size: int,
    message_format: str,
    python_exec: bool,
    rounds: int | None,
    dataset: str,
    allow_any_cell: bool,
    eval_rows: int | None = None,
    **asked: Any,
) -> JobSpec:
    """A job as it was asked for; see `optimize`.

    Raises:
        BadValueError: an argument outside of its range, or a cell that the protocol does not have.
    """
    if method not in METHODS:
        raise BadValueError(f"no method {method!r}; there is: {', '.join(sorted(METHODS))}")
    if sized := _SIZED.fullmatch(topology):
        if team_size not in (4, int(sized[2])):
            raise BadValueError(
                f"team_size is {team_size}, and {topology} has {sized[2]} agents; say one of them"
            )
        topology, team_size = sized[1], int(sized[2])
    plan = plan_team(topology, None if topology in SIZELESS else team_size, rounds)
    if dataset not in DATASETS:
        raise BadValueError(f"no dataset {dataset!r} to optimize on; there is: {', '.join(DATASETS)}")
    if isinstance(task_endpoints, str):
        task_endpoints = [part.strip() for part in task_endpoints.split(",") if part.strip()]
    spec = JobSpec(
        method=method,
        eval_rows=_shortened(eval_rows, dataset),
        shape=TeamShape(
            topology=topology,
            team_size=len(plan.roles),
            message_format=message_format,
            python_exec=python_exec,
            rounds=rounds,
        ),
        dataset=dataset,
        models=Models(
            task=model,
            reflection=reflection_model or (model if model == "toy" else REFLECTION_MODEL),
            task_endpoints=tuple(task_endpoints),
            reflection_endpoint=reflection_endpoint,
            request_timeout=request_timeout,
        ),
        **asked,
    )
    if not spec.cell.in_grid and not allow_any_cell:
        raise BadValueError(
            f"the protocol has no cell {method} on {topology} with {spec.shape.team_size} agents and "
            f"{message_format} messages; allow_any_cell=True (--allow-any-cell) runs it all the same"
        )
    return spec


def dry_run(method: str, topology: str, **asked: Any) -> dict[str, Any]:
    """What a job is and costs, without asking a model or reading a problem.

    Args:
        method: as in `optimize`.
        topology: as in `optimize`.
        **asked: what `job_spec` takes.

    Raises:
        BadValueError: as `job_spec`, and for a setting that the method does not have.
    """
    spec = job_spec(method, topology, **asked)
    make_optimizer(method, spec.settings)
    rows = {name: len(ids) for name, ids in splits_of(spec).items()}
    least = least_budget(spec, train=rows["train"], validation=rows["validation"])
    return {
        "cell": asdict(spec.cell),
        "cell_id": spec.cell.id,
        "grid_cell": spec.cell.in_grid,
        "optimizer_seed": spec.seed,
        "budget": spec.budget,
        "least_budget": least,
        "rows": rows,
        "protocol_conformant": not spec.departures(),
        "departures": spec.departures(),
        "cost": estimate(spec, **rows).to_dict(),
    }


def listed_cells(
    dataset: str, *, method: str | None = None, topology: str | None = None, model: str | None = None
) -> list[dict[str, Any]]:
    """The cells that the protocol runs, each with its seeds and what a job of one seed costs.

    Args:
        dataset: whose splits.
        method: only its cells; None: those of all.
        topology: only cells on this team; None: on all.
        model: only cells of this task model, by its name or its short name; None: those of both.

    Raises:
        BadValueError: nothing is left.
    """
    found = [
        cell
        for cell in cells(dataset)
        if method in (None, cell.method)
        and topology in (None, cell.topology)
        and (model is None or Models(task=model, reflection=model).task_name == cell.task_model)
    ]
    if not found:
        asked = ", ".join(name for name in (method, topology, model) if name)
        raise BadValueError(
            f"the protocol has no cell of {asked}; lcb optimize --list-cells names those it has"
        )
    return [
        {"cell_id": cell.id, **asdict(cell), "seeds": list(OFFSETS), "cost": _cost(cell)} for cell in found
    ]


def _cost(cell: Cell) -> dict[str, Any]:
    spec = JobSpec(
        method=cell.method,
        shape=TeamShape(topology=cell.topology, team_size=cell.team_size),
        dataset=cell.task,
        models=Models(task=cell.task_model, reflection=REFLECTION_MODEL),
    )
    return estimate(spec, **{name: len(ids) for name, ids in splits_of(spec).items()}).to_dict()


def splits_of(spec: JobSpec) -> Splits:
    """The ordered ids of a job's splits; validation and test shortened where the job asks for it."""
    return {
        name: ids if name == "train" else ids[: spec.eval_rows] for name, ids in _known(spec.dataset).items()
    }


def _known(dataset: str) -> Splits:
    if dataset == "toy":
        from lcbkit.optimizers.toy import toy_splits

        return toy_splits()
    return known_splits(dataset)


def _shortened(eval_rows: int | None, dataset: str) -> int | None:
    """None where all rows stay: such a job is the same as one that does not ask."""
    if eval_rows is None or eval_rows < 1:
        return eval_rows
    return (
        eval_rows if any(eval_rows < len(_known(dataset)[name]) for name in ("validation", "test")) else None
    )
