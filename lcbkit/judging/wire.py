"""What pool and workers say to each other over one socket: messages, and open files.

`worker.py` loads this file by its path. Standard library only.
"""

import json
import struct
from _socket import CMSG_LEN, MSG_WAITALL, SCM_RIGHTS, SOL_SOCKET, socket
from typing import Any

__all__ = ["receive", "receive_file", "send", "send_file", "send_test"]

_HEAD = struct.Struct(">II")
_FILE, _END = b"f", b"e"
_FD = struct.Struct("i")
_LONGEST = 1 << 30
_decode = json.JSONDecoder().decode


def send(sock: socket, header: dict[str, Any] | str, blob: bytes = b"") -> None:
    """Send one message: a small header, as a dictionary or its JSON, and raw bytes."""
    text = (header if isinstance(header, str) else json.dumps(header)).encode("ascii")
    head = _HEAD.pack(len(text), len(blob)) + text
    if len(blob) < 65_536:
        sock.sendall(head + blob)
    else:
        sock.sendall(head)
        sock.sendall(blob)


def receive(sock: socket) -> tuple[dict[str, Any], bytes]:
    """Receive one message.

    Raises:
        EOFError: the other side has gone.
        ValueError: what came is no message.
    """
    text_size, blob_size = _HEAD.unpack(_receive_exactly(sock, _HEAD.size))
    if text_size + blob_size > _LONGEST:
        raise ValueError("a message of absurd length")
    data = _receive_exactly(sock, text_size + blob_size)
    return _decode(str(data[:text_size], "ascii")), data[text_size:]


def send_test(sock: socket, stdin: int | None) -> None:
    """Hand over a test's input, an open file; None for no more tests of this program."""
    if stdin is None:
        sock.sendall(_END)
    else:
        send_file(sock, stdin)


def send_file(sock: socket, file: int) -> None:
    """Hand over an open file."""
    sock.sendmsg([_FILE], [(SOL_SOCKET, SCM_RIGHTS, _FD.pack(file))])


def receive_file(sock: socket) -> int | None:
    """Take an open file; None for no more tests.

    Raises:
        EOFError: the other side has gone.
    """
    said, extra, _, _ = sock.recvmsg(1, CMSG_LEN(_FD.size))
    if said == _END:
        return None
    if not said:
        raise EOFError("the other side closed the connection")
    return int(_FD.unpack(extra[0][2])[0])


def _receive_exactly(sock: socket, size: int) -> bytes:
    data = sock.recv(size, MSG_WAITALL)
    while len(data) < size:  # a signal came between, or the end
        more = sock.recv(size - len(data), MSG_WAITALL)
        if not more:
            raise EOFError("the other side closed the connection")
        data += more
    return data
