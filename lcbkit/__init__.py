"""Experiments with teams of LLM agents on LiveCodeBench, from a notebook.

Every public name is loaded when it is first used, so `import lcbkit` costs almost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcbkit import plots
    from lcbkit.dataset import eval_ids, load_problems, splits
    from lcbkit.errors import LcbkitError
    from lcbkit.evaluation import aevaluate, evaluate
    from lcbkit.extract import extract_code
    from lcbkit.judging.many import iter_judge, judge_many
    from lcbkit.judging.pool import judge, run_python
    from lcbkit.judging.report import Execution, Report, TestResult, Verdict
    from lcbkit.judging.sandbox import sandbox_status
    from lcbkit.magic import load_ipython_extension
    from lcbkit.models import get_model
    from lcbkit.notebook import notebook_setup
    from lcbkit.optimizers.aggregation import aggregate
    from lcbkit.optimizers.running import optimize
    from lcbkit.plots import save_figure
    from lcbkit.problems import Problem, ProblemSet, TestCase
    from lcbkit.prompts import build_prompt
    from lcbkit.results import Run, compare, load_run, pass_at_k
    from lcbkit.topologies.team import Team, TeamAnswer, build_team
    from lcbkit.widgets import browse

__version__ = "0.1.0"

_HOME = {
    "Execution": "judging.report",
    "LcbkitError": "errors",
    "Problem": "problems",
    "ProblemSet": "problems",
    "Report": "judging.report",
    "Run": "results",
    "Team": "topologies.team",
    "TeamAnswer": "topologies.team",
    "TestCase": "problems",
    "TestResult": "judging.report",
    "Verdict": "judging.report",
    "aevaluate": "evaluation",
    "aggregate": "optimizers.aggregation",
    "browse": "widgets",
    "build_prompt": "prompts",
    "build_team": "topologies.team",
    "compare": "results",
    "eval_ids": "dataset",
    "evaluate": "evaluation",
    "extract_code": "extract",
    "get_model": "models",
    "iter_judge": "judging.many",
    "judge": "judging.pool",
    "judge_many": "judging.many",
    "load_ipython_extension": "magic",
    "load_problems": "dataset",
    "load_run": "results",
    "notebook_setup": "notebook",
    "optimize": "optimizers.running",
    "pass_at_k": "results",
    "plots": "plots",
    "run_python": "judging.pool",
    "sandbox_status": "judging.sandbox",
    "save_figure": "plots",
    "splits": "dataset",
}

__all__ = [
    "Execution",
    "LcbkitError",
    "Problem",
    "ProblemSet",
    "Report",
    "Run",
    "Team",
    "TeamAnswer",
    "TestCase",
    "TestResult",
    "Verdict",
    "aevaluate",
    "aggregate",
    "browse",
    "build_prompt",
    "build_team",
    "compare",
    "eval_ids",
    "evaluate",
    "extract_code",
    "get_model",
    "iter_judge",
    "judge",
    "judge_many",
    "load_ipython_extension",
    "load_problems",
    "load_run",
    "notebook_setup",
    "optimize",
    "pass_at_k",
    "plots",
    "run_python",
    "sandbox_status",
    "save_figure",
    "splits",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lcbkit' has no attribute {name!r}")
    home = import_module(f"lcbkit.{_HOME[name]}")
    value = home if _HOME[name] == name else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
