"""usage: qwen_server.py EXAMPLES WORK: the server of examples/qwen with a client of Python's own, whole requests, streams, wrong
and cut ones, many at once. Prints a line for each."""
import concurrent.futures
import http.client
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time

sys.path[0] = os.path.join(sys.argv[1], "qwen")
import model
import service

WORK = sys.argv[2]
helper = importlib.util.spec_from_file_location("random_model", os.path.join(os.path.dirname(os.path.abspath(__file__)), "qwen_random.py"))
random_model = importlib.util.module_from_spec(helper)
helper.loader.exec_module(random_model)

m = model.Model(random_model.make(os.path.join(WORK, "tiny"), model_type="qwen3", norms=True, eos_token_id=None), pages=40, context=400)
serve = service.Server(("127.0.0.1", 0), m)
PORT = serve.server_address[1]
threading.Thread(target=serve.serve_forever, daemon=True).start()


def ask(path, body=None, method="POST", headers=None):
    c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    c.request(method, path, data, headers or {})
    r = c.getresponse()
    text = r.read()
    c.close()
    return r.status, text


def complete(prompt, **more):
    status, text = ask("/v1/completions", {"model": "tiny", "prompt": prompt, "temperature": 0, **more})
    return json.loads(text) if status == 200 else (status, json.loads(text)["error"]["message"])


def events(path, body):
    status, text = ask(path, {**body, "stream": True})
    lines = [x[6:] for x in text.decode().split("\n\n") if x]
    return status, [json.loads(x) for x in lines[:-1]], lines[-1]


def raw(data, wait=0.0):
    """Bytes as they are, after which the connection is closed; what came back within the wait."""
    s = socket.create_connection(("127.0.0.1", PORT), timeout=max(wait, 0.1))
    s.sendall(data)
    back = b""
    try:
        back = s.recv(4096) if wait else b""
    except OSError:
        pass
    s.close()
    return back


direct = m.tokens.decode(model.generate(m, [m.tokens.encode("hello it")], 12)[0])
one = complete("hello it", max_tokens=12)
print("models:", json.loads(ask("/v1/models", method="GET")[1])["data"][0]["id"])
print("whole:", one["choices"][0]["text"] == direct, one["choices"][0]["finish_reason"], one["usage"], one["object"])
print("tokens:", complete(m.tokens.encode("hello it"), max_tokens=12)["choices"] == one["choices"])
status, parts, end = events("/v1/completions", {"prompt": "hello it", "temperature": 0, "max_tokens": 12})
print("stream:", status, "".join(p["choices"][0]["text"] for p in parts) == direct, parts[-1]["choices"][0]["finish_reason"], end)
word = direct[4:7]
cut = complete("hello it", max_tokens=12, stop=word)
print("stop:", cut["choices"][0]["text"] == direct[:direct.index(word)], cut["choices"][0]["finish_reason"])
status, text = ask("/v1/chat/completions", {"messages": [{"role": "user", "content": "it <|im_end|>"}], "max_tokens": 5, "temperature": 0})
chat = json.loads(text)
prompt = service.chat_of(m, {"messages": [{"role": "user", "content": "it <|im_end|>"}]})
print("chat:", status, chat["choices"][0]["message"]["role"], chat["usage"]["prompt_tokens"] == len(prompt), prompt.count(m.tokens.special["<|im_end|>"]))
status, parts, end = events("/v1/chat/completions", {"messages": [{"role": "user", "content": "it"}], "max_tokens": 5, "seed": 1})
print("chat stream:", status, parts[0]["object"], end)
a, b = (complete("it", temperature=1, seed=7, max_tokens=20) for _ in range(2))
print("seed:", a["choices"] == b["choices"])

prompts = ["hello " * k + "it" for k in range(1, 25)]
alone = [complete(p, max_tokens=10)["choices"] for p in prompts]
with concurrent.futures.ThreadPoolExecutor(24) as pool:
    print("24 at once:", list(pool.map(lambda p: complete(p, max_tokens=10)["choices"], prompts)) == alone)

for what, path, body in (
        ("no JSON", "/v1/completions", b"{"), ("a list", "/v1/completions", b"[]"), ("no prompt", "/v1/completions", {}),
        ("bytes", "/v1/completions", b"\xff\xfe{}"), ("deep", "/v1/completions", b"[" * 100000),
        ("temperature", "/v1/completions", {"prompt": "a", "temperature": "hot"}), ("tokens", "/v1/completions", {"prompt": [1, 999999]}),
        ("true", "/v1/completions", {"prompt": "a", "max_tokens": True}), ("none", "/v1/completions", {"prompt": "a", "max_tokens": 0}),
        ("two", "/v1/completions", {"prompt": "a", "n": 2}), ("stops", "/v1/completions", {"prompt": "a", "stop": [""]}),
        ("empty", "/v1/completions", {"prompt": ""}), ("long", "/v1/completions", {"prompt": "it" * 500}),
        ("stream", "/v1/completions", {"prompt": "it" * 500, "stream": True}), ("messages", "/v1/chat/completions", {"messages": [{"role": 1}]}),
        ("path", "/v1/none", {})):
    status, text = ask(path, body)
    print(f"wrong, {what}:", status, json.loads(text)["error"]["message"][:70])
print("wrong, get:", ask("/", method="GET")[0], "method:", ask("/v1/models", method="DELETE")[0])

head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\n"
body = json.dumps({"prompt": "it", "max_tokens": 300, "temperature": 0}).encode()
print("no length:", raw(head + b"\r\n", 5)[:12], "huge:", raw(head + b"Content-Length: 99999999999\r\n\r\n", 5)[:12],
      "negative:", raw(head + b"Content-Length: -1\r\n\r\n", 5)[:12], "no HTTP:", raw(b"\0\1\2\r\n\r\n", 5)[:12] != b"")
for k in (5, 60, len(head) + 20, len(head) + 40):
    raw((head + b"Content-Length: %d\r\n\r\n" % len(body) + body)[:k])  # cut in the line, the head, the body
for stream in (b"false", b"true"):  # whole, but the caller does not wait
    more = body[:-1] + b', "stream": ' + stream + b"}"
    raw(head + b"Content-Length: %d\r\n\r\n" % len(more) + more, 0.3)
deadline = time.time() + 60
while (serve.engine.jobs or len(m.free) < 40) and time.time() < deadline:
    time.sleep(0.05)
print("cut ones are gone:", len(serve.engine.jobs), len(m.free))
print("still there:", complete("hello it", max_tokens=12)["choices"] == one["choices"])
for flags, words in ((["-I", "-S"], ["--help"]), ([], [os.path.join(WORK, "none")]), ([], [os.path.join(WORK, "tiny"), f"--port={PORT}"]),
                     ([], [os.path.join(WORK, "tiny"), "--port=99999"])):  # help without any package; a port in use
    done = subprocess.run([sys.executable, *flags, os.path.join(sys.path[0], "server.py"), *words], capture_output=True, text=True)
    print("command:", done.returncode, done.stderr.strip().split("\n")[-1].replace(WORK, "."))
serve.shutdown()
serve.server_close()
print("ended:", not serve.engine.is_alive())
