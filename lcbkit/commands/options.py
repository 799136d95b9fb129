"""The options that several commands of `lcb` share."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from lcbkit.scoring.tables import GROUPINGS
from lcbkit.topologies import roles
from lcbkit.topologies.reports import MESSAGE_FORMATS

__all__ = [
    "SIZES",
    "cluster",
    "seconds",
    "with_batch",
    "with_by",
    "with_engine",
    "with_evaluation",
    "with_filters",
    "with_judge_cache",
    "with_model",
    "with_prices",
    "with_record",
    "with_rounds",
    "with_seed",
    "with_source",
    "with_stop",
    "with_team",
    "with_tests",
    "with_time_limit",
    "with_tool",
]

SIZES = tuple(map(str, roles.SIZES))  # a choice on the command line is a word


def seconds(text: str | float) -> float:
    """A number of seconds that a limit can be."""
    with contextlib.suppress(ValueError):
        if 0 < (number := float(text)) <= 86_400:
            return number
    raise click.BadParameter(f"{text} is not a number of seconds above 0 and up to a day (86400).")


def _on_off_or_folder(text: str) -> bool | Path:
    return {"on": True, "off": False}.get(text, Path(text))


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


with_source = click.option(
    "--source",
    metavar="SOURCE",
    help="Where the problems come from: `sample`, a release such as release_v6, a .jsonl or .parquet file, "
    "or a folder of such files.  [default: $LCB_DATASET, else release_latest]",
)
with_filters = _options(
    click.option(
        "--limit", type=click.IntRange(min=0), metavar="N", help="At most N problems, after --offset."
    ),
    click.option(
        "--offset", type=click.IntRange(min=0), default=0, metavar="K", help="Skip the first K problems."
    ),
    click.option(
        "--only", multiple=True, metavar="ID", help="This problem; repeatable; lifts --limit and --offset."
    ),
    click.option(
        "--difficulty", multiple=True, type=click.Choice(["easy", "medium", "hard"]), help="Repeatable."
    ),
    click.option(
        "--platform",
        multiple=True,
        type=click.Choice(["atcoder", "codeforces", "leetcode"]),
        help="Repeatable.",
    ),
    click.option("--start-date", metavar="DATE", help="Contests from this day on (YYYY-MM-DD)."),
    click.option("--end-date", metavar="DATE", help="Contests up to this day, inclusive (YYYY-MM-DD)."),
    click.option(
        "--errata",
        type=click.Choice(["keep", "drop"]),
        default="keep",
        show_default=True,
        help="What to do with the problems that LiveCodeBench lists as defective.",
    ),
)
with_model = _options(
    click.option(
        "--model",
        metavar="NAME",
        help="`recorded`, `recorded:FILE`, `qwen`, `llama`, provider:name, or any name with --base-url."
        "  [default: $MODEL_ID, else recorded]",
    ),
    click.option("--base-url", metavar="URL", help="An OpenAI-compatible endpoint that serves the model."),
    click.option("--temperature", type=float, help="Sampling temperature.  [default: 0.2]"),
    click.option("--top-p", type=float, help="Nucleus sampling.  [default: 0.9]"),
    click.option("--max-tokens", type=click.IntRange(min=1), help="Tokens of one answer.  [default: 4096]"),
    click.option(
        "--request-timeout", type=seconds, metavar="SECONDS", help="Of one model call.  [default: 600]"
    ),
)
with_record = click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Add the model's answers to this recording.",
)
with_seed = click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the first agent and sample."
)
with_rounds = click.option(
    "--rounds",
    type=click.IntRange(min=1),
    metavar="N",
    help="Rounds of the decentralized team's debate.  [default: 2]",
)
with_tool = click.option(
    "--no-python-exec", is_flag=True, help="No tool for running code: for models that cannot call tools."
)
with_team = _options(
    click.option(
        "--team-size",
        type=click.Choice(SIZES),
        default="4",
        show_default=True,
        help="How many agents; single has one.",
    ),
    click.option(
        "--message-format",
        "--communication",
        type=click.Choice(MESSAGE_FORMATS),
        default="freeform",
        show_default=True,
        help="How agents write to each other.",
    ),
    with_rounds,
    with_tool,
)
with_time_limit = click.option(
    "--time-limit",
    type=seconds,
    default=6.0,
    show_default=True,
    metavar="SECONDS",
    help="Processor time of one test.",
)
with_tests = click.option(
    "--tests",
    type=click.Choice(["hidden", "all"]),
    default="hidden",
    show_default=True,
    help="Hidden tests, or the public ones as well.",
)
with_stop = click.option(
    "--stop-on-first-failure", is_flag=True, help="Do not judge the tests after the first failed one."
)
with_judge_cache = click.option(
    "--judge-cache",
    type=_on_off_or_folder,
    default="on",
    show_default=True,
    metavar="on|off|DIR",
    help="Judge equal programs of a problem once; a folder keeps verdicts for later runs as well.",
)
with_evaluation = _options(
    click.option(
        "--samples", type=click.IntRange(min=1), default=1, show_default=True, help="Submissions per problem."
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        default=4,
        show_default=True,
        help="Model calls in flight.",
    ),
    click.option(
        "--judge-workers",
        type=click.IntRange(min=1),
        help="Programs judged at once.  [default: one per core]",
    ),
    with_judge_cache,
    with_time_limit,
    with_tests,
    with_stop,
    click.option("--overwrite", is_flag=True, help="Throw away what the folder holds and start anew."),
    click.option(
        "--retry-errors",
        is_flag=True,
        help="On resume, run the instances again that ended in an agent error.",
    ),
    click.option(
        "--max-infra-rate",
        type=click.FloatRange(0, 1),
        default=0.1,
        show_default=True,
        help="Share of instances that may end in infrastructure errors; above: exit 3.",
    ),
    click.option("--quiet", is_flag=True, help="No progress on standard error."),
)
with_engine = _options(
    click.option(
        "--engine",
        type=click.Choice(["dask"]),
        help="Let the workers of a Dask cluster do the work.  [default: this process]",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Of that cluster, as tcp://HOST:8786.  [default: $DASK_SCHEDULER_ADDRESS, else one made here]",
    ),
)


def cluster(options: dict[str, Any]) -> str | None:
    """What `evaluate` takes as `engine` for these options; takes them out.

    Raises:
        click.UsageError: a scheduler without the engine that has one.
    """
    engine: str | None = options.pop("engine")
    scheduler: str | None = options.pop("scheduler")
    if scheduler is not None and engine is None:
        raise click.UsageError("--scheduler names that of a Dask cluster: add --engine dask.")
    return scheduler or engine


with_prices = click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML or JSON: by model its `input`, `output`, `cached` price per million tokens; tells the cost.",
)
with_by = click.option(
    "--by",
    multiple=True,
    metavar="WORD[,WORD]",
    help=f"A table by one or two of {', '.join(GROUPINGS)}; repeatable.",
)
with_batch = click.option("--batch", is_flag=True, hidden=True, help="Accepted for the benchmark's habit.")
