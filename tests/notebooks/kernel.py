"""Notebooks in a real kernel, each executed once: on the sample, and on real problems with a live model."""

import json
import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat
from made_once import made_once
from nbformat import NotebookNode
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from execute_notebooks import KEPT_EXECUTED, NOTEBOOKS, execute, strip

__all__ = [
    "KEPT_EXECUTED",
    "LIVE_MODEL",
    "NOTEBOOKS",
    "LiveRun",
    "data",
    "execute",
    "executed",
    "executed_live",
    "streams",
    "strip",
    "tagged",
    "text",
]

LIVE_MODEL = "scripted-7b"


@dataclass(frozen=True)
class LiveRun:
    """A notebook that ran on LiveCodeBench problems at an endpoint, and how often it asked the model."""

    notebook: NotebookNode
    n_requests: int


@cache
def executed(stem: str) -> NotebookNode:
    """The notebook as it runs without any setting: the sample, recorded answers, no network."""
    made = made_once(f"{stem}.ipynb", lambda: nbformat.writes(execute(NOTEBOOKS / f"{stem}.ipynb")))
    return nbformat.reads(made, as_version=4)


@cache
def executed_live(stem: str, shared: Path) -> LiveRun:
    """The same notebook on LiveCodeBench's first problems with a model at an address."""
    made = json.loads(made_once(f"{stem}-live.json", lambda: _execute_live(stem, shared)))
    return LiveRun(nbformat.reads(made["notebook"], as_version=4), made["n_requests"])


def _execute_live(stem: str, shared: Path) -> str:
    with ScriptedEndpoint(_model(shared)) as endpoint:
        settings = {
            "LCB_DATASET": str(shared / "data/lcb50/test.jsonl"),
            "MODEL_ID": LIVE_MODEL,
            "OPENAI_BASE_URL": endpoint.url,
        }
        with patch.dict(os.environ, settings):
            notebook = execute(NOTEBOOKS / f"{stem}.ipynb")
        return json.dumps({"notebook": nbformat.writes(notebook), "n_requests": len(endpoint.requests)})


def tagged(notebook: NotebookNode, tag: str) -> NotebookNode:
    """The only cell with that tag."""
    [cell] = [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]
    return cell


def data(cell: NotebookNode, mime: str) -> str:
    """All that a cell shows in one format."""
    return "".join(output["data"].get(mime, "") for output in cell.outputs if "data" in output)


def text(cell: NotebookNode) -> str:
    """What a cell printed."""
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def streams(notebook: NotebookNode, name: str) -> list[str]:
    """What all cells wrote to `stdout` or `stderr`."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.text for output in outputs if output.output_type == "stream" and output.name == name]


def _model(shared: Path) -> Any:
    """A model that uses its tools once, and then gives two of three problems a program that is right."""
    known = _solutions(shared)

    def answer(request: Request) -> Reply:
        cost = {"prompt_tokens": len(request.text) // 4, "completion_tokens": 60}
        calls = [name for name in request.tools if name.startswith("delegate_to_coder")] or request.tools[:1]
        if calls and not any(message["role"] == "tool" for message in request.messages):
            arguments = {"code": "print(6 * 7)", "stdin": ""}
            if calls[0] != "python_exec":
                arguments = {"instructions": "Write the program."}
            return Reply("One moment.", tool_calls=[tool_call(calls[0], **arguments)], **cost)
        if "Write no code" in request.text and "```python" not in request.system:
            return Reply("One pass over the input is enough.", **cost)
        programs = [code for start, code in known.items() if start in request.text]
        program = programs[0] if programs else "print(0)"
        return Reply(f"This should do.\n\n```python\n{program}\n```", **cost)

    return answer


def _solutions(shared: Path) -> dict[str, str]:
    """By the beginning of its statement a problem's program, wrong for every third."""
    rows = _lines(shared / "data/lcb50/test.jsonl")
    right = {
        row["question_id"]: next((known["code"] for known in row["solutions"] if known["passes"]), "print(0)")
        for row in _lines(shared / "data/lcb50/solutions.jsonl")
    }
    return {
        row["question_content"].strip()[:100]: "print(0)" if place % 3 == 2 else right[row["question_id"]]
        for place, row in enumerate(rows)
    }


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
