"""`tilec lsp`: a language server on standard input and output: messages of `tilec check` while one types, its fixes, the layout
of `tilec fmt`; names: where they are made and used, their types, renaming, completion. Language Server Protocol 3.17; positions
count UTF-16 units."""
from __future__ import annotations

import json
import os
import re
import select
import sys
from typing import Any, Callable
from urllib.parse import quote, unquote, urlsplit

from tilec import _names, _shown, _tool
from tilec._declared import declaration_of, files_of, Declaration
from tilec._facts import Facts, facts_of

SEVERITY = {"error": 1, "warning": 2, "note": 3}
NO_METHOD, FAILED = -32601, -32803  # of JSON-RPC, of the protocol
FULL = 1  # changes come as the whole text
CAPABILITIES = {"textDocumentSync": FULL, "documentFormattingProvider": True, "definitionProvider": True, "hoverProvider": True,
                "codeActionProvider": {"codeActionKinds": ["quickfix"]}, "referencesProvider": True, "inlayHintProvider": True,
                "renameProvider": {"prepareProvider": True}, "completionProvider": {"triggerCharacters": ["."]}}
REQUESTS = ("initialize", "shutdown", "didOpen", "didChange", "didClose", "formatting", "codeAction", "definition", "hover",
            "references", "prepareRename", "rename", "completion", "inlayHint")
KEYWORD, FUNCTION, FIELD, VARIABLE, STRUCT, CONSTANT = 14, 3, 5, 6, 22, 21  # kinds of completions
KINDS = {"kernel": FUNCTION, "program": FUNCTION, "record": STRUCT, "format": STRUCT, "dim": CONSTANT, "mesh": CONSTANT}
TYPE_HINT = 1


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
    return unquote(urlsplit(uri).path).replace("\0", "")


def without_halves(text: str) -> str:
    """Halves of surrogate pairs, which UTF-8 has no bytes for, become U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def position(lines: list[str], line: int, column: int) -> dict:
    """Of the command's line and column, which count from 1, columns in bytes."""
    before = (lines[line - 1] if 0 < line <= len(lines) else "").encode()[:column - 1]
    return {"line": max(line - 1, 0), "character": len(before.decode("utf-8", "ignore").encode("utf-16-le")) // 2}


def offset_of(text: str, at: dict) -> int:
    """Of a position in UTF-16 units."""
    lines = text.split("\n")
    if at["line"] >= len(lines):  # behind the end is the end
        return len(text)
    before = lines[at["line"]].encode("utf-16-le")[:2 * at["character"]].decode("utf-16-le", "ignore")
    return sum(len(other) + 1 for other in lines[:at["line"]]) + len(before)


def place_of(text: str, offset: int) -> dict:
    begin = text.rfind("\n", 0, offset) + 1
    return {"line": text.count("\n", 0, offset), "character": len(text[begin:offset].encode("utf-16-le")) // 2}


def span(text: str, token: _names.Token) -> dict:
    return {"start": place_of(text, token.at), "end": place_of(text, token.at + len(token.text))}


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
        self.known: dict[str, tuple[str, Facts]] = {}  # of a text without errors
        self.target = "host"
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

    def initialize(self, p: dict) -> dict:
        self.target = (p.get("initializationOptions") or {}).get("target", "host")
        return {"capabilities": CAPABILITIES, "serverInfo": {"name": "tilec", "version": _tool.version()}}

    def shutdown(self, _: dict) -> None:
        self.stopped = True

    def didOpen(self, p: dict) -> None:
        self.changed(p["textDocument"]["uri"], p["textDocument"]["text"])

    def didChange(self, p: dict) -> None:
        self.changed(p["textDocument"]["uri"], p["contentChanges"][-1]["text"])

    def changed(self, uri: str, text: str) -> None:
        path_of(uri)  # refuses what is none
        self.text[uri] = without_halves(text)
        self.dirty.add(uri)

    def didClose(self, p: dict) -> None:
        uri = p["textDocument"]["uri"]
        self.forget(uri)
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

    # Names.

    def place(self, p: dict) -> tuple[str, str, int]:
        """The document, its text, and the offset of a position in it."""
        uri, at = p["textDocument"]["uri"], p["position"]
        return uri, self.text[uri], offset_of(self.text[uri], at)

    def facts(self, uri: str) -> Facts:
        """Of the document as it was when it last had no errors."""
        if not any(m["kind"] == "error" for m in self.found.get(uri, [])) and self.known.get(uri, ("",))[0] != self.text[uri]:
            self.forget(uri)
            self.known[uri] = (self.text[uri], facts_of(path_of(uri), self.text[uri], self.target))
        return self.known[uri][1] if uri in self.known else Facts({}, None)

    def forget(self, uri: str) -> None:
        _, facts = self.known.pop(uri, ("", None))
        if facts and facts.said:
            facts.said.stop()

    def declared(self, uri: str, name: str) -> Declaration | None:
        return declaration_of(name, path_of(uri), self.text[uri]) if name else None

    def definition(self, p: dict) -> dict | None:
        uri, text, offset = self.place(p)
        meaning = _names.meaning_at(text, offset)
        if meaning and meaning.part:
            token = meaning.part.tokens[_names.made_in(meaning.part)[meaning.name]]
            return {"uri": uri, "range": span(text, token)}
        d = self.declared(uri, meaning.name if meaning else "")
        place = d and {"line": d.line, "character": d.column}
        return d and {"uri": "file://" + quote(d.path), "range": {"start": place, "end": place}}

    def hover(self, p: dict) -> dict | None:
        """A name's type; the head of a declaration, the comment above it, and how its kernels are computed."""
        uri, text, offset = self.place(p)
        meaning = _names.meaning_at(text, offset)
        if meaning is None:
            return None
        if meaning.part:
            shown = _shown.about_local(text, meaning, self.facts(uri))
        else:
            shown = _shown.about_global(self.declared(uri, meaning.name), self.facts(uri), meaning.name)
        return shown and {"contents": {"kind": "markdown", "value": shown}}

    def references(self, p: dict) -> list[dict]:
        uri, text, offset = self.place(p)
        meaning = _names.meaning_at(text, offset)
        if meaning is None:
            return []
        found = [{"uri": uri, "range": span(text, t)} for t in _names.uses_of(text, meaning)]
        if meaning.part is None:
            for path, other in files_of(path_of(uri), text):
                if path != path_of(uri):
                    found += [{"uri": "file://" + quote(path), "range": span(other, t)} for t in _names.uses_of(other, meaning)]
        return found

    def prepareRename(self, p: dict) -> dict | None:
        uri, text, offset = self.place(p)
        meaning = _names.meaning_at(text, offset)
        if meaning is None or (meaning.part is None and meaning.name not in _names.globals_of(text)):
            return None
        if meaning.part and meaning.part.kind in ("record", "format"):
            return None
        return next((span(text, t) for t in _names.uses_of(text, meaning) if t.at <= offset <= t.at + len(t.text)), None)

    def rename(self, p: dict) -> dict:
        """Everywhere in the document. A name that another file declares keeps its name, and so do fields of records and formats,
        whose uses need the types of what they stand behind."""
        uri, text, offset = self.place(p)
        meaning, new = _names.meaning_at(text, offset), p["newName"]
        if self.prepareRename(p) is None or meaning is None:
            raise Refused(FAILED, "this name is a field, or is not declared in this file")
        if not _names.WORD.match(new) or new in _names.words() or _names.is_taken(text, meaning, new):
            raise Refused(FAILED, f"'{new}' is no free name")
        return {"changes": {uri: [{"range": span(text, t), "newText": new} for t in _names.uses_of(text, meaning)]}}

    def completion(self, p: dict) -> list[dict]:
        """Names of the declaration around, of the file and of what it imports, the library's, and words of the language."""
        uri, text, offset = self.place(p)
        part, facts = _names.part_at(text, offset), self.facts(uri)
        if re.search(r"\.\w*\Z", text[:offset]):
            return [{"label": name, "kind": FIELD} for name in sorted(_shown.fields_of(path_of(uri), text))]
        local = [name for name in _names.made_in(part) if not _names.is_outside(text, part, name)] if part else []
        items = [{"label": name, "kind": VARIABLE, "detail": part and facts.type_of(part.kind, part.name, name)} for name in local]
        others = _shown.declared_names(path_of(uri), text)
        items += [{"label": name, "kind": KINDS[kind], "detail": kind} for name, kind in others.items() if name not in local]
        return items + [{"label": word, "kind": KEYWORD, "detail": section} for word, section in _names.words().items() if word not in local]

    def inlayHint(self, p: dict) -> list[dict]:
        """Types of values that are written without one."""
        uri = p["textDocument"]["uri"]
        text, facts, hints = self.text[uri], self.facts(uri), []
        first, last = p["range"]["start"]["line"], p["range"]["end"]["line"]
        begin, end_of = (offset_of(text, {"line": line, "character": 0}) for line in (first, last + 1))
        for part in _names.parts_of(text):
            if part.end < begin or part.begin >= end_of:
                continue
            for name, n in _names.made_in(part).items():
                found = facts.type_of(part.kind, part.name, name)
                token = part.tokens[n]
                end = place_of(text, token.at + len(token.text))
                if found and " or " not in found and _names.after(part, n) in ("=", ",") and first <= end["line"] <= last:
                    hints.append({"position": end, "label": ": " + found, "kind": TYPE_HINT})
        return hints

    # The protocol.

    def notify(self, method: str, params: dict) -> None:
        self.wire.send({"method": method, "params": params})

    def answer(self, message: dict) -> None:
        name = str(message.get("method", "")).split("/")[-1]
        method: Callable | None = getattr(self, name) if name in REQUESTS else None
        try:
            if method is None:
                raise Refused(NO_METHOD, f"{message.get('method')} is not supported")
            reply = {"result": method(message.get("params") or {})}
        except Refused as e:
            reply = {"error": {"code": e.code, "message": str(e)}}
        except (AttributeError, LookupError, TypeError, ValueError) as e:  # parameters of another shape than the protocol's
            reply = {"error": {"code": FAILED, "message": f"{message.get('method')}: {e!r}"}}
        if "id" in message and "method" in message:
            self.wire.send({"id": message["id"], **reply})

    def serve(self) -> int:
        """Until `exit` or the end of the input. Documents are checked when nothing more has come."""
        while True:
            while self.dirty and self.wire.is_idle():
                uri = self.dirty.pop()
                self.check(uri)
                if self.wire.is_idle():
                    self.facts(uri)
            message = self.wire.take()
            if message is None or (isinstance(message, dict) and message.get("method") == "exit"):
                for uri in list(self.known):
                    self.forget(uri)
                return 0 if self.stopped else 1
            if isinstance(message, dict):
                self.answer(message)


def serve() -> int:
    return Server(Wire(sys.stdin.fileno(), sys.stdout.fileno())).serve()
