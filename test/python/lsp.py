"""usage: lsp.py WORK MODEL: talks to `tilec lsp` as an editor does. Prints what it answers."""
import json
import os
import subprocess
import sys
import time

WORK = sys.argv[1]
URI = "file://" + WORK.replace(" ", "%20") + "/a%20folder/x.tile"
os.makedirs(os.path.join(WORK, "a folder"), exist_ok=True)
with open(os.path.join(WORK, "a folder", "part.tile"), "w") as part:
    part.write("kernel twice(x: f32[n]) -> (y: f32[n]) { each i: 4 of n { y[i] = x[i] * 2; } }\n")


class Editor:
    def __init__(self):
        self.server = subprocess.Popen([sys.executable, "-m", "tilec", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next = 0

    def send(self, method, params, **more):
        data = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\nContent-Type: x\r\n\r\n" % len(data) + data)
        self.server.stdin.flush()

    def read(self):
        fields = {}
        for line in iter(self.server.stdout.readline, b"\r\n"):
            name, value = line.split(b":")
            fields[name] = value
        return json.loads(self.server.stdout.read(int(fields[b"Content-Length"])))

    def ask(self, method, params):
        self.next += 1
        self.send(method, params, id=self.next)
        reply = self.read()
        assert reply["id"] == self.next, reply
        return reply.get("result", reply.get("error"))

    def change(self, text):
        """A document's messages after a change."""
        self.send("textDocument/didChange", {"textDocument": {"uri": URI}, "contentChanges": [{"text": text}]})
        return self.messages()

    def messages(self):
        params = self.read()["params"]
        assert params["uri"] == URI
        return params["diagnostics"]


def show(messages):
    for m in messages:
        r = m["range"]
        print(f"{r['start']['line']}:{r['start']['character']}-{r['end']['character']} {m['severity']} {m['code']}: {m['message']!r}")


GOOD = 'import "part.tile";\ndim N = 4; /* \U0001F600 */ program f(x: f32[N]) -> (y: f32[N]) { y = twice(x); }\n'
e = Editor()
print(sorted(e.ask("initialize", {"capabilities": {}})["capabilities"]))
e.send("initialized", {})
e.send("textDocument/didOpen", {"textDocument": {"uri": URI, "languageId": "tile", "version": 1, "text": GOOD}})
show(e.messages())
show(e.change(GOOD.replace("twice(x)", "twixe(x)")))
actions = e.ask("textDocument/codeAction", {"textDocument": {"uri": URI}, "context": {"diagnostics": []},
                                            "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 9}}})
edit = actions[0]["edit"]["changes"][URI][0]
print(actions[0]["title"], edit["range"]["start"]["character"], edit["range"]["end"]["character"], edit["newText"])
laid = e.ask("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {}})
print(repr(laid[0]["newText"]))
show(e.change(laid[0]["newText"].replace("twixe", "twice")))
print(e.ask("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {}}))
show(e.change("kernel {"))
print(e.ask("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {}})["code"])
print(e.ask("textDocument/moniker", {}))
e.change(GOOD)
e.ask("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 4}})  # what is known of a text without errors stays
TEXT = GOOD.replace("twice(x)", "softmax(view(twice(x), [N, 1]))")
e.change(TEXT)
for word in ("twice", "softmax", "N])", "view"):
    at = {"line": 1, "character": TEXT.split("\n")[1].index(word) + 1}  # the emoji before counts two
    place = {"textDocument": {"uri": URI}, "position": at}
    found, told = e.ask("textDocument/definition", place), e.ask("textDocument/hover", place)
    print(word.strip("])"), found and (found["uri"].split("/")[-1], found["range"]["start"]), told and repr(told["contents"]["value"][:90]))
KERNEL = """import "part.tile";
record pair { a: f32[4, 8], b: f32[8] }
// Rows by their largest.
kernel rows(x: T[n, d], w: pair) -> (y: T[n, d]) {
  each i: 2 of n, c: * of d {
    v = f32(x[i, c]);
    top = max(v, c);
    y[i, c] = v / top * w.b[c];
  }
}
program f(x: f32[4, 8], w: pair) -> (y: f32[4, 8]) { z = rows(x, w); y = rows(z, w); }
"""
show(e.change(KERNEL))


def at(line, word, more=0):
    return {"textDocument": {"uri": URI}, "position": {"line": line, "character": KERNEL.split("\n")[line].index(word) + more}}


def places(found):
    return " ".join(f"{r['uri'].split('/')[-1]}:{r['range']['start']['line']}:{r['range']['start']['character']}" for r in found)


for line, word in ((6, "v, c"), (5, "x["), (10, "rows"), (4, "i:"), (10, "z ="), (7, "b[c]")):
    told = e.ask("textDocument/hover", at(line, word))
    print("hover", word, told and repr(told["contents"]["value"]))
    print("uses", places(e.ask("textDocument/references", at(line, word))))
print(e.ask("textDocument/definition", at(7, "top")))
edits = e.ask("textDocument/rename", {**at(6, "top"), "newName": "most"})["changes"][URI]
print("rename", [(r["range"]["start"]["line"], r["range"]["start"]["character"], r["newText"]) for r in edits])
for line, word, new in ((6, "top", "v"), (6, "top", "each"), (6, "top", "1a"), (6, "max", "most"), (5, "f32", "x"),
                        (6, "top", "rows"), (3, "rows", "z"), (1, "a:", "c")):
    print("rename", word, new, e.ask("textDocument/rename", {**at(line, word), "newName": new})["message"])
print(e.ask("textDocument/prepareRename", at(10, "rows")), e.ask("textDocument/prepareRename", at(6, "max")))
items = {i["label"]: i for i in e.ask("textDocument/completion", at(6, "top"))}
print([(w, items[w]["kind"], items[w].get("detail")) for w in ("v", "c", "softmax", "twice", "pair", "rsqrt", "each")], "top" in items)
print([i["label"] for i in e.ask("textDocument/completion", at(7, "b[c]"))])
hints = e.ask("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}})
print([(h["position"]["line"], h["position"]["character"], h["label"]) for h in hints])
print(e.ask("textDocument/formatting", {"textDocument": {"uri": "file:///none"}})["message"])
LOOP = "kernel sums(x: f32[n, d]) -> (y: f32[n]) {\n  each i: 4 of n {\n    s: f32[i] = 0;\n    for p in 0..d { s = s + x[i, p]; }\n    y[i] = s;\n  }\n}\n"
show(e.change(LOOP))
print("d", places(e.ask("textDocument/references", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 22}})))
NAMES, SPAN = ("hover", "definition", "references", "prepareRename", "completion"), ("inlayHint", "codeAction")


def trouble():
    """Answers that are errors, at places in the document and behind its end."""
    document = {"textDocument": {"uri": URI}}
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    asked = [(name, {**document, "position": {"line": line, "character": column}}) for name in NAMES for line, column in ((0, 0), (3, 9), (3, 999), (99, 0))]
    asked += [(name, {**document, "range": span}) for name in SPAN]
    return [found["message"] for name, p in asked for found in [e.ask("textDocument/" + name, p)] if isinstance(found, dict) and "message" in found]


odd = ["", "\0", "/* none", 'import "none', "kernel k(x: f32[n]) -> \ud83d", "}", "kernel sums(x", "dim", "record r {", "mesh ;", "kernel k(merge (a, b"]
bad = [trouble() for text in [*odd, *(LOOP[:n] for n in range(3, len(LOOP), 13))] for _ in [e.change(text)]]
print(len(bad), "texts", [found for found in bad if found])
for uri in ("file:///a%00b.tile", "http://[", 7):
    e.send("textDocument/didOpen", {"textDocument": {"uri": uri, "text": "dim"}})
print(e.read()["params"]["uri"], e.ask("initialize", [1])["code"])
e.server.stdin.write(b"Content-Length: 4\r\n\r\n[{}]")
print(e.ask(7, None))
for _ in range(20):  # typed faster than it is checked: the last text counts
    e.send("textDocument/didChange", {"textDocument": {"uri": URI}, "contentChanges": [{"text": "dim"}]})
e.send("textDocument/didChange", {"textDocument": {"uri": URI}, "contentChanges": [{"text": GOOD}]})
while e.messages():
    pass
print("typed")
big = "dim N = 64;\n" + "".join(f"kernel k{i}(x: f32[n]) -> (y: f32[n]) {{\n  each i: 8 of n {{ y[i] = x[i]; }}\n}}\n\n" for i in range(500))
begin = time.monotonic()
e.change(big + "program p(x: f32[N]) -> (y: f32[N]) { y = k3(z); }\n")
print("2,000 lines", time.monotonic() - begin < 2)
place = {"textDocument": {"uri": URI}, "position": {"line": 1500, "character": 8}}
for ask in ("hover", "definition", "references", "completion"):
    took = []
    for _ in range(5):  # the first one waits for the document's check, and the machine may be busy
        begin = time.monotonic()
        e.ask("textDocument/" + ask, place)
        took.append(time.monotonic() - begin)
    took = min(took)
    print(ask, "within 0.05 s" if took < 0.05 else f"{took:.3f} s")
with open(sys.argv[2], encoding="utf-8") as model:  # of 36 layers, which explain takes half a minute for
    e.change(model.read())
begin = time.monotonic()
told = e.ask("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 20, "character": 12}})
print("model", told is not None, time.monotonic() - begin < 8)
e.ask("shutdown", None)
e.send("exit", None)
print("ends", e.server.wait(10))
cut = subprocess.run([sys.executable, "-m", "tilec", "lsp"], input=b"Content-Length: 9\r\n\r\n{", stdout=subprocess.PIPE)
print("cut", cut.returncode, cut.stdout)
