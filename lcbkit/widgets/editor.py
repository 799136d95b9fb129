"""An editor for one Python program, with line numbers, colours and the keys that programmers expect."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

__all__ = ["CodeEditor"]

_FOLDER = Path(__file__).parent


class CodeEditor(anywidget.AnyWidget):
    """A text field for code; put it inside a box of class `lcb`.

    Tab and Shift-Tab indent, Enter keeps the indentation, Ctrl-/ comments lines, Ctrl-Enter runs. Escape and
    then Tab leaves the field.

    Attributes:
        code: the program.
        marked_line: a line, from 1, whose number stands out; 0 for none.
        label: what a screen reader says.
        placeholder: what stands there without code.
    """

    _esm = _FOLDER / "editor.js"
    _css = _FOLDER / "editor.css"

    # Without an echo, which would take back what was typed since.
    code = traitlets.Unicode("").tag(sync=True, echo_update=False)
    marked_line = traitlets.Int(0).tag(sync=True)
    label = traitlets.Unicode("Program").tag(sync=True)
    placeholder = traitlets.Unicode("").tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._receive)

    def _receive(self, _: object, content: Any, __: object) -> None:
        if isinstance(content, dict) and content.get("kind") == "edit":
            self.set_state({"code": str(content.get("code"))})

    def on_run(self, call: Callable[[], object]) -> None:
        """Call when Ctrl-Enter is pressed; `code` is what stands there by then."""

        def receive(_: object, content: Any, __: object) -> None:
            if isinstance(content, dict) and content.get("kind") == "run":
                call()

        self.on_msg(receive)
