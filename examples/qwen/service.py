"""Answers OpenAI's requests for completions by a model of Qwen3's or Llama's shape.

GET /v1/models, POST /v1/completions, POST /v1/chat/completions (ChatML), whole or as a stream of events. Requests that come
at the same time are continued together. A caller that goes away ends its request."""
import codecs
import http.server
import json
import queue
import select
import socket
import threading
import time

import model

MOST_BODY = 4 << 20  # bytes of a request
PATIENCE = 30  # seconds for a request to arrive
WAITING = 256  # requests at most
CHAT = ("<|im_start|>", "<|im_end|>")


class Refused(Exception):
    def __init__(self, status, text, parameter=None):
        super().__init__(text)
        self.status, self.parameter = status, parameter


class Job(model.Work):
    """A request: what the engine makes arrives in `events`: a token, None at its end, or an exception."""

    def __init__(self, prompt, most, choice, stop):
        super().__init__(prompt, most, choice, stop)
        self.events, self.sent, self.cancelled = queue.Queue(), 0, False


class Engine(threading.Thread):
    """Continues all jobs, in a thread of its own, which alone touches the model."""

    def __init__(self, m):
        super().__init__(daemon=True)
        self.model, self.batch, self.jobs, self.inbox = m, model.Batch(m), [], queue.Queue()
        self.ended = False

    def submit(self, job):
        if self.ended or len(self.jobs) + self.inbox.qsize() >= WAITING:
            raise Refused(503, "too many requests are waiting")
        self.inbox.put(job)

    def end(self):
        self.ended = True
        self.inbox.put(None)
        self.join()

    def receive(self):
        """New jobs; waits where there is nothing else to do."""
        while not self.ended:
            try:
                job = self.inbox.get(block=not self.jobs)
            except queue.Empty:
                return
            if job is None:
                return
            try:
                self.batch.add(job)
                self.jobs.append(job)
            except ValueError as e:
                job.events.put(e)

    def leave(self, job, last):
        self.batch.remove(job)
        self.jobs.remove(job)
        job.events.put(last)

    def tell(self, job):
        for token in job.new[job.sent:]:
            job.events.put(token)
        job.sent = len(job.new)
        if job.reason:
            self.leave(job, None)

    def run(self):
        while not self.ended:
            self.receive()
            for job in [j for j in self.jobs if j.cancelled]:
                self.leave(job, None)
            try:
                for job in self.batch.step():
                    self.tell(job)
            except Exception as e:  # a failure of the program: all of the batch end with it
                for job in list(self.jobs):
                    self.leave(job, e)
        for job in list(self.jobs):
            self.leave(job, Refused(503, "the server ends"))


# ---- requests ----

def is_number(x, least, most=float("inf")):
    return isinstance(x, (int, float)) and not isinstance(x, bool) and least <= x <= most


def is_whole(x, least, most=float("inf")):
    return type(x) is int and least <= x <= most


def field(body, name, default, good, expected):
    x = body.get(name)
    if x is None:
        return default
    if not good(x):
        raise Refused(400, f"'{name}' is {json.dumps(x)[:40]}, expected {expected}", name)
    return x


def choice_of(body):
    return model.Choice(field(body, "temperature", 1.0, lambda x: is_number(x, 0, 2), "a number from 0 to 2"),
                        field(body, "top_k", 0, lambda x: is_whole(x, 0), "a whole number"),
                        field(body, "top_p", 1.0, lambda x: is_number(x, 1e-6, 1), "a number above 0, at most 1"),
                        field(body, "seed", None, lambda x: is_whole(x, 0), "a whole number"))


def most_of(body):
    older = field(body, "max_tokens", 16, lambda x: is_whole(x, 1), "a whole number from 1")
    return field(body, "max_completion_tokens", older, lambda x: is_whole(x, 1), "a whole number from 1")


def stop_of(body):
    stop = body.get("stop") or []
    stop = [stop] if isinstance(stop, str) else stop
    if not isinstance(stop, list) or len(stop) > 4 or not all(isinstance(w, str) and w for w in stop):
        raise Refused(400, "'stop' is a text or up to four", "stop")
    return stop


def prompt_of(m, body):
    """The tokens of a text, or tokens."""
    prompt = body.get("prompt")
    if isinstance(prompt, str):
        return m.tokens.encode(prompt)
    if isinstance(prompt, list) and prompt and all(type(i) is int for i in prompt):
        return prompt
    raise Refused(400, "'prompt' is a text, or a list of tokens", "prompt")


def chat_of(m, body):
    messages = body.get("messages")
    if not all(mark in m.tokens.special for mark in CHAT):
        raise Refused(400, "this model has no <|im_start|>: it takes /v1/completions alone")
    if not isinstance(messages, list) or not messages:
        raise Refused(400, "'messages' is a list of {role, content}", "messages")
    ids = []
    for x in messages:
        if not isinstance(x, dict) or not isinstance(x.get("role"), str) or not isinstance(x.get("content"), str):
            raise Refused(400, "a message has a role and a content, texts both", "messages")
        ids += [m.tokens.special[CHAT[0]], *m.tokens.encode(f"{x['role']}\n"), *plain(m, x["content"]), m.tokens.special[CHAT[1]], *m.tokens.encode("\n")]
    return ids + [m.tokens.special[CHAT[0]], *m.tokens.encode("assistant\n")]


def plain(m, text):
    """Tokens of a caller's text, in which marks are no marks."""
    for mark in m.tokens.special:
        text = text.replace(mark, mark[:1] + "\u200b" + mark[1:])
    return m.tokens.encode(text)


class Text:
    """Text of tokens as they come: whole characters alone, and nothing from a stop word on."""

    def __init__(self, m, stop):
        self.m, self.stop, self.text, self.shown, self.ended = m, stop, "", 0, False
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, ids, final=False):
        """What can be shown now."""
        self.text += self.decoder.decode(self.m.tokens.decode_bytes(ids), final)
        places = [p for p in (self.text.find(w) for w in self.stop) if p >= 0]
        if places:
            self.ended, end = True, min(places)
        else:  # the beginning of a stop word waits
            held = 0 if final else max((n for w in self.stop for n in range(1, len(w)) if self.text.endswith(w[:n])), default=0)
            end = len(self.text) - held
        new, self.shown = self.text[self.shown:end], max(end, self.shown)
        return new


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    server_version = "tilec-example"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status >= 400:  # what follows of the request is not read
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, e):
        self.answer(e.status, {"error": {"message": str(e), "type": "invalid_request_error" if e.status < 500 else "server_error",
                                         "param": e.parameter, "code": None}})

    def do_GET(self):
        name = self.server.engine.model.name
        if self.path == "/v1/models":
            self.answer(200, {"object": "list", "data": [{"id": name, "object": "model", "created": 0, "owned_by": "local"}]})
        else:
            self.refuse(Refused(404, f"no such path: {self.path}"))

    def body(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise Refused(411, "Content-Length is missing")
        if int(length) > MOST_BODY:
            raise Refused(413, f"a request has at most {MOST_BODY} bytes")
        data = self.rfile.read(int(length))
        if len(data) < int(length):
            raise ConnectionError("the request was cut")
        try:
            body = json.loads(data)
        except (ValueError, RecursionError) as e:
            raise Refused(400, f"the request is no JSON: {e}") from None
        if not isinstance(body, dict):
            raise Refused(400, "the request is no object")
        return body

    def complete(self):
        kinds = {"/v1/completions": (prompt_of, False), "/v1/chat/completions": (chat_of, True)}
        if self.path not in kinds:
            raise Refused(404, f"no such path: {self.path}")
        read, chat = kinds[self.path]
        body, m = self.body(), self.server.engine.model
        field(body, "n", 1, lambda x: x == 1, "1")
        stream, stop = field(body, "stream", False, lambda x: isinstance(x, bool), "true or false"), stop_of(body)
        job = Job(read(m, body), most_of(body), choice_of(body), [m.tokens.special[CHAT[1]]] if chat else [])
        self.server.engine.submit(job)
        try:
            self.reply(m, job, Text(m, stop), chat, stream)
        finally:
            job.cancelled = True

    def do_POST(self):
        try:
            self.complete()
        except Refused as e:
            self.refuse(e)
        except (ConnectionError, socket.timeout):
            self.close_connection = True

    def gone(self):
        """Has the caller closed its end?"""
        if not select.select([self.connection], [], [], 0)[0]:
            return False
        try:
            return self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def pieces(self, job, text):
        """(text, is it the last) as it comes."""
        while True:
            try:
                event = job.events.get(timeout=0.2)
            except queue.Empty:
                if self.gone():
                    raise ConnectionError("the caller is gone") from None
                continue
            if isinstance(event, Refused):
                raise event
            if isinstance(event, ValueError):
                raise Refused(400, str(event))
            if isinstance(event, Exception):
                raise Refused(500, f"{type(event).__name__}: {event}")
            new = text.add([] if event is None else [event], event is None)
            if text.ended:
                job.reason = "stop"
            yield new, event is None or text.ended
            if event is None or text.ended:
                return

    def reply(self, m, job, text, chat, stream):
        about = {"id": f"{'chatcmpl' if chat else 'cmpl'}-{time.monotonic_ns():x}", "created": int(time.time()), "model": m.name,
                 "object": ("chat.completion" if chat else "text_completion") + (".chunk" if stream and chat else "")}
        if stream:
            return self.stream(job, text, chat, about)
        whole = "".join(new for new, _ in self.pieces(job, text))
        one = {"message": {"role": "assistant", "content": whole}} if chat else {"text": whole}
        n, new = len(job.prompt), len(job.new)
        return self.answer(200, {**about, "choices": [{"index": 0, **one, "logprobs": None, "finish_reason": job.reason}],
                                 "usage": {"prompt_tokens": n, "completion_tokens": new, "total_tokens": n + new}})

    def chunk(self, data):
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def stream(self, job, text, chat, about):
        pieces = self.pieces(job, text)
        first = next(pieces)  # before the head: a wrong request has a status of its own
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for new, last in (x for part in ([first], pieces) for x in part):
                one = {"delta": {"content": new}} if chat else {"text": new}
                event = {**about, "choices": [{"index": 0, **one, "finish_reason": job.reason if last else None}]}
                self.chunk(b"data: " + json.dumps(event).encode() + b"\n\n")
            self.chunk(b"data: [DONE]\n\n")
        except Refused as e:  # the head is sent
            self.chunk(b"data: " + json.dumps({"error": {"message": str(e)}}).encode() + b"\n\n")
        self.chunk(b"")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # connections not yet accepted; of five, the default, the system resets some of two dozen at once

    def __init__(self, address, m):
        self.engine = Engine(m)
        super().__init__(address, Handler)
        self.engine.start()

    def handle_error(self, request, client_address):
        pass  # the caller is gone

    def server_close(self):
        super().server_close()
        if self.engine.is_alive():  # it has not begun where the port is in use
            self.engine.end()
