"""usage: explain_html.py PAGE: reads the data of a page of `tilec explain --html` as a browser would, and tells of it."""
import html.parser
import json
import sys


class Data(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.inside, self.text = False, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.inside = ("id", "data") in attrs

    def handle_data(self, text):
        self.text += text if self.inside else ""


def names(program, list_of):
    return " ".join(program["tensors"][t]["name"] for t in list_of)


with open(sys.argv[1], encoding="utf-8") as page:
    data = json.loads(Data(page.read()).text)
first = data["sources"][0]["text"]
whole = first.startswith("// </script><!-- data --> ? tab\there\n") and first.endswith("}\n")
print(f"{data['file'].split('/')[-1]} for {data['target']}: programs {' '.join(p['name'] for p in data['programs'])}; "
      f"{len(data['sources'])} sources, the first is {'whole' if whole else 'changed'}; {len(data['remarks'])} remarks")
for p in data["programs"]:
    t = p["tensors"][0]
    print(f"{p['name']}: {t['name']}: {t['elem']}[{', '.join(t['dim'])}] of {t['bytes']:.0f} bytes, {t['role']}")
    for n in p["nodes"]:
        print(f"{n['name']} reads {names(p, n['reads'])} writes {names(p, n['writes'])}; {n['plan']}; {n['tasks']:.0f} tasks")
    print(f"taxes: {p['before']['barriers']} barriers, then {p['after']['barriers']}")
    print("emitted: " + " ".join(e["path"] for e in p["emitted"]))
