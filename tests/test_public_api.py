"""The public names, and what importing the package costs and hides."""

import subprocess
import sys
from importlib.util import find_spec
from types import ModuleType

import pytest

import lcbkit

PUBLIC = {
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
}
HEAVY = {
    "anywidget",
    "datasets",
    "ipywidgets",
    "langchain",
    "langchain_core",
    "langchain_openai",
    "langgraph",
    "matplotlib",
    "numpy",
    "pandas",
    "pyarrow",
}


def test_public_names_are_exactly_these() -> None:
    assert set(lcbkit.__all__) == PUBLIC
    assert list(lcbkit.__all__) == sorted(lcbkit.__all__)


def test_every_public_name_resolves_and_is_documented() -> None:
    for name in PUBLIC:
        value = getattr(lcbkit, name)
        assert isinstance(value, ModuleType) or value.__doc__, name
        assert name in dir(lcbkit)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(lcbkit, "no_such_name")


def test_no_public_function_shares_its_name_with_a_module() -> None:
    for name in PUBLIC:
        if not isinstance(getattr(lcbkit, name), ModuleType):
            assert find_spec(f"lcbkit.{name}") is None, f"lcbkit.{name} is both a value and a module"


@pytest.mark.parametrize("first_use", ["lcbkit", "lcbkit.judge", "lcbkit.Problem", "lcbkit.extract_code"])
def test_loads_nothing_heavy(first_use: str) -> None:
    script = f"import sys, lcbkit; {first_use}; print(*sorted({{n.partition('.')[0] for n in sys.modules}}))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not HEAVY & set(loaded.stdout.split())
