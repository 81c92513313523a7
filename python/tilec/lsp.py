"""`tilec lsp`: a language server on standard input and output: messages of `tilec check` while one types, its fixes, the layout
of `tilec fmt`, and declarations of names. Language Server Protocol 3.17; positions count UTF-16 units."""
from __future__ import annotations

import json
import os
import re
import select
import sys
from typing import Any, Callable
from urllib.parse import quote, unquote, urlsplit

from tilec import _tool
from tilec._declared import Declaration, declaration_of

SEVERITY = {"error": 1, "warning": 2, "note": 3}
NO_METHOD, FAILED = -32601, -32803  # of JSON-RPC, of the protocol
FULL = 1  # changes come as the whole text
CAPABILITIES = {"textDocumentSync": FULL, "documentFormattingProvider": True, "definitionProvider": True, "hoverProvider": True,
                "codeActionProvider": {"codeActionKinds": ["quickfix"]}}


class Refused(Exception):
    """The answer to a request is an error."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


class Wire:
    """Messages behind a header that says their length."""

    def __init__(self, read: int, write: int):
        self.read, self.write, self.buffer = read, write, b""

    def is_idle(self) -> bool:
        """Nothing has come that was not read."""
        return not self.buffer and not select.select([self.read], [], [], 0)[0]

    def fill(self) -> bool:
        data = os.read(self.read, 1 << 16)
        self.buffer += data
        return bool(data)

    def take(self) -> Any:
        """The next message; None at the end, and where a header or a text is none."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.fill():
                return None
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n") if b":" in line)
        try:
            length = int(fields[b"content-length"])
            while len(self.buffer) < length:
                if not self.fill():
                    return None
            text, self.buffer = self.buffer[:length], self.buffer[length:]
            return json.loads(text)
        except (KeyError, ValueError):
            return None

    def send(self, message: dict) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        data = b"Content-Length: %d\r\n\r\n%s" % (len(data), data)
        while data:
            data = data[os.write(self.write, data):]


def path_of(uri: str) -> str:
    return unquote(urlsplit(uri).path)


def position(lines: list[str], line: int, column: int) -> dict:
    """Of the command's line and column, which count from 1, columns in bytes."""
    before = (lines[line - 1] if 0 < line <= len(lines) else "").encode()[:column - 1]
    return {"line": max(line - 1, 0), "character": len(before.decode("utf-8", "ignore").encode("utf-16-le")) // 2}


def word_at(line: str, character: int) -> str:
    """The name at a place that counts UTF-16 units."""
    at = len(line.encode("utf-16-le")[:2 * character].decode("utf-16-le", "ignore"))
    return next((m[0] for m in re.finditer(r"[A-Za-z_]\w*", line) if m.start() <= at <= m.end()), "")


def range_of(lines: list[str], m: dict) -> dict:
    begin = position(lines, m.get("line", 1), m.get("column", 1))
    return {"start": begin, "end": position(lines, m.get("endLine", m.get("line", 1)), m.get("endColumn", m.get("column", 1)))}


class Server:
    """Documents, and what was found in them."""

    def __init__(self, wire: Wire):
        self.wire = wire
        self.text: dict[str, str] = {}
        self.found: dict[str, list[dict]] = {}  # messages of the command, by document
        self.dirty: set[str] = set()
        self.stopped = False

    # The command.

    def check(self, uri: str) -> None:
        """Publishes a document's messages. Those of files that it imports stand at its first line."""
        done = _tool.call(["check", "-", "-I", os.path.dirname(path_of(uri)) or "/", "--diagnostics=json"], self.text[uri])
        try:
            messages = json.loads(done.stdout or done.stderr or "[]")
        except ValueError:  # no message of a source: the command failed
            messages = [{"kind": "error", "message": (done.stderr or done.stdout).strip()[:500], "line": 1, "column": 1}]
        self.found[uri] = messages
        lines = self.text[uri].split("\n")
        self.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": [self.diagnostic(uri, lines, m) for m in messages]})

    def diagnostic(self, uri: str, lines: list[str], m: dict) -> dict:
        here = m.get("file", "/dev/stdin") == "/dev/stdin"
        notes = [n for n in m.get("notes", []) if n.get("file", "/dev/stdin") == "/dev/stdin"]
        text = m["message"] if here else f"{m['file']}:{m.get('line')}: {m['message']}"
        text += "".join(f"\n{n['message']}" for n in m.get("notes", []))
        return {"range": range_of(lines, m if here else {}), "severity": SEVERITY.get(m["kind"], 1), "source": "tilec",
                "code": m.get("id", ""), "message": text,
                "relatedInformation": [{"location": {"uri": uri, "range": range_of(lines, n)}, "message": n["message"]} for n in notes]}

    # Requests and notifications: the last part of the method's name.

    def initialize(self, _: dict) -> dict:
        return {"capabilities": CAPABILITIES, "serverInfo": {"name": "tilec", "version": _tool.version()}}

    def shutdown(self, _: dict) -> None:
        self.stopped = True

    def didOpen(self, p: dict) -> None:
        self.changed(p["textDocument"]["uri"], p["textDocument"]["text"])

    def didChange(self, p: dict) -> None:
        self.changed(p["textDocument"]["uri"], p["contentChanges"][-1]["text"])

    def changed(self, uri: str, text: str) -> None:
        self.text[uri] = text
        self.dirty.add(uri)

    def didClose(self, p: dict) -> None:
        uri = p["textDocument"]["uri"]
        for kept in (self.text, self.found):
            kept.pop(uri, None)
        self.dirty.discard(uri)
        self.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": []})

    def formatting(self, p: dict) -> list[dict]:
        """The whole text anew, if it is laid out otherwise."""
        text = self.text[p["textDocument"]["uri"]]
        done = _tool.call(["fmt", "-"], text)
        if done.returncode:
            raise Refused(FAILED, done.stderr.strip())
        end = {"line": text.count("\n") + 1, "character": 0}
        return [] if done.stdout == text else [{"range": {"start": {"line": 0, "character": 0}, "end": end}, "newText": done.stdout}]

    def codeAction(self, p: dict) -> list[dict]:
        """Fixes of messages on the lines that are asked for."""
        uri = p["textDocument"]["uri"]
        lines, actions = self.text[uri].split("\n"), []
        first, last = p["range"]["start"]["line"], p["range"]["end"]["line"]
        for m in self.found.get(uri, []):
            for part in (m, *m.get("notes", [])):
                fix = part.get("fix")
                if fix and part.get("file") == "/dev/stdin" and first <= m["line"] - 1 <= last:
                    edit = {"range": range_of(lines, fix), "newText": fix["text"]}
                    actions.append({"title": f"{fix['text'].strip() or 'remove'}: {part['message']}", "kind": "quickfix",
                                    "diagnostics": [self.diagnostic(uri, lines, m)], "edit": {"changes": {uri: [edit]}}})
        return actions

    def declared(self, p: dict) -> Declaration | None:
        uri, at = p["textDocument"]["uri"], p["position"]
        name = word_at(self.text[uri].split("\n")[at["line"]], at["character"])
        return declaration_of(name, path_of(uri), self.text[uri]) if name else None

    def definition(self, p: dict) -> dict | None:
        d = self.declared(p)
        place = d and {"line": d.line, "character": d.column}
        return d and {"uri": "file://" + quote(d.path), "range": {"start": place, "end": place}}

    def hover(self, p: dict) -> dict | None:
        """The head of a declaration and the comment above it."""
        d = self.declared(p)
        text = d and f"```tile\n{d.text}\n```" + (f"\n\n{d.comment}" if d.comment else "")
        return d and {"contents": {"kind": "markdown", "value": text}}

    # The protocol.

    def notify(self, method: str, params: dict) -> None:
        self.wire.send({"method": method, "params": params})

    def answer(self, message: dict) -> None:
        name = message.get("method", "").split("/")[-1]
        known = name in ("initialize", "shutdown", "didOpen", "didChange", "didClose", "formatting", "codeAction", "definition",
                         "hover")
        method: Callable | None = getattr(self, name) if known else None
        try:
            if method is None:
                raise Refused(NO_METHOD, f"{message.get('method')} is not supported")
            reply = {"result": method(message.get("params") or {})}
        except Refused as e:
            reply = {"error": {"code": e.code, "message": str(e)}}
        except (KeyError, IndexError, TypeError) as e:
            reply = {"error": {"code": FAILED, "message": f"{message.get('method')}: {e!r}"}}
        if "id" in message and "method" in message:
            self.wire.send({"id": message["id"], **reply})

    def serve(self) -> int:
        """Until `exit` or the end of the input. Documents are checked when nothing more has come."""
        while True:
            while self.dirty and self.wire.is_idle():
                self.check(self.dirty.pop())
            message = self.wire.take()
            if message is None or message.get("method") == "exit":
                return 0 if self.stopped else 1
            self.answer(message)


def serve() -> int:
    return Server(Wire(sys.stdin.fileno(), sys.stdout.fileno())).serve()
