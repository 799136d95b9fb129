"""Calls of a single model, for reflection, probes and judges: seeded, retried, metered, never charged."""

import hashlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcbkit.chat.facts import seeded
from lcbkit.chat.failures import call_with_retries
from lcbkit.errors import LcbkitError
from lcbkit.extract import strip_reasoning
from lcbkit.optimizers.interface import ReflectionError, Step
from lcbkit.optimizers.seeds import Repeats, SeedBase, logical_seed
from lcbkit.storage import append_jsonl
from lcbkit.topologies.answer import Usage
from lcbkit.waiting import run_sync

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

__all__ = ["ChatText"]

_ATTEMPTS = 4  # the first call and three retries


class ChatText:
    """A `TextModel` on a chat model.

    Args:
        make_model: gives the chat model, when it is first asked.
        max_tokens: of one answer, where a call does not say.
        seeds: what the seeds start from.
        kind: `reflection` or `judge`; names it in the folder and keeps the seeds apart.
        folder: gets `calls.jsonl`, a line per call with prompt and answer.
        on_usage: is told what each call cost.
    """

    def __init__(
        self,
        *,
        make_model: "Callable[[], BaseChatModel]",
        max_tokens: int,
        seeds: SeedBase,
        kind: str,
        folder: Path,
        on_usage: Callable[[str, Usage], None],
    ) -> None:
        self._make_model = make_model
        self._model: BaseChatModel | None = None
        self._max_tokens, self._seeds, self._kind = max_tokens, seeds, kind
        self._folder, self._on_usage = folder, on_usage
        self._repeats = Repeats()
        self._lock = threading.Lock()
        self._answered = self._unanswered = 0

    def complaint(self, tolerated: int) -> str | None:
        """Why a search that needs this model's answers is in vain, None if it is not.

        Args:
            tolerated: so many of the last calls may have stayed without an answer.
        """
        with self._lock:
            if self._unanswered <= tolerated:
                return None
            since = "" if self._answered else ", and no other had one"
            return (
                f"the last {self._unanswered} calls of the {self._kind} model have no answer{since}; check "
                "its endpoint: optimization/calls.jsonl holds what it said"
            )

    @property
    def answered(self) -> bool:
        """Whether it ever answered."""
        return self._answered > 0

    def __call__(
        self,
        prompt: str,
        *,
        step: Step,
        role: str = "",
        system: str | None = None,
        temperature: float = 1.0,
        top_p: float = 1.0,
        max_tokens: int | None = None,
    ) -> str:
        """The model's answer, without reasoning; see `TextModel`."""
        digest = hashlib.sha256(f"{system or ''}\n{prompt}".encode("utf-8", "backslashreplace")).hexdigest()
        phase = f"{step.phase}/{self._kind}"
        key = role or self._kind
        position = self._repeats.position(phase, str(step.iteration), digest, key, step.tag)
        seed = logical_seed(
            optimizer_seed=self._seeds.optimizer_seed,
            cell_id=self._seeds.cell_id,
            phase=phase,
            iteration=step.iteration,
            row_id=digest,
            key=key,
            position=position,
        )
        sampling = {
            "temperature": temperature,
            "top_p": top_p,
            "max_tokens": min(max_tokens or self._max_tokens, self._max_tokens),
        }
        started = time.perf_counter()
        line: dict[str, Any] = {
            "kind": self._kind,
            "step": {"phase": step.phase, "iteration": step.iteration, "tag": step.tag},
            "role": role,
            "seed": seed,
            **sampling,
            "system": system,
            "prompt": prompt,
        }
        answer, usage, error = self._asked(prompt, system, seed, sampling)
        self._on_usage(self._kind, usage)
        line |= {"answer": answer, "usage": usage.to_dict(), "error": error}
        with self._lock:
            self._answered += error is None
            self._unanswered = 0 if error is None else self._unanswered + 1
            append_jsonl(self._folder / "calls.jsonl", [line | {"latency_s": time.perf_counter() - started}])
        if error is not None:
            raise ReflectionError(f"the {self._kind} model gave no answer: {error}")
        return answer

    def _asked(
        self, prompt: str, system: str | None, seed: int, sampling: dict[str, Any]
    ) -> tuple[str, Usage, str | None]:
        from langchain_core.messages import HumanMessage, SystemMessage

        messages: list[BaseMessage] = [*([SystemMessage(system)] if system else []), HumanMessage(prompt)]
        try:
            model, settings = seeded(self._chat(), seed)
            message = run_sync(
                lambda: call_with_retries(
                    lambda: model.ainvoke(messages, **settings, **sampling), attempts=_ATTEMPTS
                )
            )
        except LcbkitError:
            raise  # wrong use: no such model, no recording
        except Exception as error:  # noqa: BLE001 - a method decides what a missing answer means
            return "", Usage.of_call(None), f"{type(error).__name__}: {error}"[:1_000]
        return strip_reasoning(message.text).strip(), Usage.of_call(message.usage_metadata), None

    def _chat(self) -> "BaseChatModel":
        with self._lock:
            if self._model is None:
                self._model = self._make_model()
            return self._model
