"""What this machine offers to lcbkit, for `lcb doctor`."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lcbkit.judging.sandbox import sandbox_status
from lcbkit.storage import cache_folder, shipped_folder

__all__ = ["diagnose"]

_PACKAGES = ("datasets", "langgraph", "langchain", "langchain-openai", "pandas", "matplotlib", "jupyterlab")
_SETTINGS = (
    "MODEL_ID",
    "VLLM_BASE_URL",
    "OPENAI_BASE_URL",
    "LCB_DATASET",
    "LCB_CACHE",
    "LCB_SANDBOX",
    "LCB_FUNCTIONAL_MEMORY_BYTES",
    "HF_ENDPOINT",
)
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN")


def diagnose() -> str:
    """What is installed, how programs are confined here, where data lies and what the environment sets.

    Keys are named, never printed. Nothing is fetched.
    """
    parts = {
        "lcbkit": [
            f"{version('lcbkit')} on Python {platform.python_version()}, {platform.platform(terse=True)}"
        ],
        "packages": [f"{name} {_installed(name)}" for name in _PACKAGES],
        "judge": [f"{os.cpu_count()} cores", *str(sandbox_status()).splitlines()],
        "folders": [
            f"downloaded problems: {_folder(cache_folder())}",
            f"sample: {_folder(shipped_folder('sample'))}",
            f"recordings: {_folder(shipped_folder('recordings'))}",
        ],
        "environment": [f"{name}={os.environ[name]}" for name in _SETTINGS if name in os.environ]
        + [f"{name} is set" for name in _KEYS if os.environ.get(name)]
        or ["nothing set: problems come from release_latest, answers from the recordings"],
    }
    return "\n\n".join(
        f"{title}\n" + "\n".join(f"  {line}" for line in lines) for title, lines in parts.items()
    )


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "is not installed"


def _folder(path: Path) -> str:
    if not path.exists():
        return f"{path} (made when needed)"
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    writable = "" if os.access(path, os.W_OK) else ", read-only"
    return f"{path} ({size / 1e6:,.1f} MB{writable})"
