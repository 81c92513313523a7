"""usage: site.py SITE [browser | gallery]: what the pages of a site promise: every link leads to a page and a heading that are there,
nothing is fetched from another host. With `browser` the pages are opened: search finds, code has colours, two widths fit. With
`gallery` the parts of its page are counted."""
import functools
import html.parser
import http.server
import os
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.fetched, self.names = [], [], set()
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.names |= {attrs.get("id"), attrs.get("name")}
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        self.fetched += [attrs[a] for a in ("src", "href") if a in attrs and tag in ("script", "link", "img")]


def pages_of(site):
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(site) for name in names if name.endswith(".html")]
    return {os.path.normpath(path): Page(path) for path in paths if not path.endswith("404.html")}


def is_wrong(pages, path, link):
    parts = urllib.parse.urlsplit(link)
    if parts.scheme:
        return False
    target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path))) if parts.path else path
    target = os.path.join(target, "index.html") if os.path.isdir(target) else target
    if not os.path.isfile(target):
        return True
    return bool(parts.fragment) and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].names


def check_links(site):
    pages = pages_of(site)
    wrong = [f"{os.path.relpath(path, site)}: link to {link}" for path, page in pages.items() for link in page.links + page.fetched
             if is_wrong(pages, path, link)]
    wrong += [f"{os.path.relpath(path, site)}: fetches {f}" for path, page in pages.items() for f in page.fetched if "//" in f]
    print("\n".join([*wrong, f"{len(pages)} pages of a site, {sum(len(p.links) for p in pages.values())} links, {len(wrong)} wrong"]))


def look(page, url, width):
    page.open(url + "tutorials/1-first-kernel.html")
    kinds = page.value("[...document.querySelectorAll('.highlight span')].filter(s => s.className == 'k').map(s => s.textContent)")
    across = page.value("document.documentElement.scrollWidth")
    print(f"width {width}: keywords {' '.join(sorted(set(kinds)))}; {'fits' if across <= width else f'{across} wide'}")
    page.open(url + "index.html?q=ascending")
    found = page.wait("[...document.querySelectorAll('.md-search-result__link')].map(a => new URL(a.href).pathname)")
    print(f"width {width}: search of 'ascending': {' '.join(dict.fromkeys(found))}")


def check_browser(site):
    from browser import Browser
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    http.server.SimpleHTTPRequestHandler.log_message = lambda *_: None  # quiet
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with Browser() as page:
            for width in (1300, 500):
                page.size(width, 900)
                look(page, f"http://127.0.0.1:{server.server_port}/", width)
        server.shutdown()


def check_gallery(site):
    with open(os.path.join(site, "gallery.html"), encoding="utf-8") as f:
        text = f.read()
    parts = (("kernels", "<h2"), ("pictures of tiles", 'aria-label="tiles of a task"'), ("plots", 'aria-label="measured"'),
             ("texts", "<summary>The text for"), ("pages", 'href="explained/'))
    print("gallery: " + ", ".join(f"{len(text.split(mark)) - 1} {name}" for name, mark in parts))


check_links(sys.argv[1])
if "browser" in sys.argv[2:]:
    check_browser(sys.argv[1])
if "gallery" in sys.argv[2:]:
    check_gallery(sys.argv[1])
