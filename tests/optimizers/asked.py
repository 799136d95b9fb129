"""What `job_spec` and `dry_run` are asked besides method and topology, where a test does not care."""

from typing import Any

__all__ = ["ASKED"]

ASKED: dict[str, Any] = {
    "reflection_model": None,
    "task_endpoints": (),
    "reflection_endpoint": None,
    "request_timeout": None,
    "team_size": 4,
    "message_format": "freeform",
    "python_exec": True,
    "rounds": None,
    "dataset": "lcb",
    "allow_any_cell": False,
}
