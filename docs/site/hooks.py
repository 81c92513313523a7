"""What MkDocs needs to be told about docs/: the front page is README.md, whose section "Going on" is the table of contents;
links to files beside docs/ lead to pages that show those files; blocks of the tile language are coloured as in editors/."""
import os
import re
import shutil
import sys

from mkdocs.structure.files import File

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import gallery  # noqa: E402 (beside this file)
import highlight  # noqa: E402

SOURCE = os.path.dirname(os.path.dirname(HERE))
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
LANGUAGES = {".c": "c", ".h": "c", ".hip": "cpp", ".py": "python", ".md": None, ".tile": "tile", ".json": "json"}


def inside_docs(path):
    """The page of the site that stands for a file of the source, named from its root."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/") and os.path.isfile(os.path.join(SOURCE, path)):
        return path[len("docs/"):]
    if path.endswith(".md"):
        return path
    return f"source/{path}.md" if os.path.isfile(os.path.join(SOURCE, path)) else f"source/{path}/index.md"


def source_of(page):
    """The file of the source that a page of the site is."""
    if page == "index.md":
        return "README.md"
    return "docs/" + page if os.path.isfile(os.path.join(SOURCE, "docs", page)) else page


def links_of(path):
    """The files of the source that a page of Markdown links to."""
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        targets = [target for target, _ in LINK.findall(f.read())]
    return [os.path.normpath(os.path.join(os.path.dirname(path), t)) for t in targets if t and "://" not in t]


# ---- which pages there are ----

def page_text(path):
    """The text of a page that shows a file, or lists a folder."""
    whole = os.path.join(SOURCE, path)
    if path.endswith(".md"):
        return open(whole, encoding="utf-8").read()
    if os.path.isdir(whole):
        return f"# {path}\n\n" + "".join(f"* `{name}`\n" for name in sorted(os.listdir(whole)))
    language = LANGUAGES.get(os.path.splitext(path)[1]) or "text"
    with open(whole, encoding="utf-8") as f:
        return f"# {path}\n\n" + "".join("    " + line for line in [f":::{language}\n", *f.readlines()])


def folder_of(config):
    """Where the texts of these pages are until the site is built."""
    return config["site_dir"] + ".pages"


def shown(page, path, config):
    place = os.path.join(folder_of(config), page)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as f:
        f.write(page_text(path))
    return File(page, folder_of(config), config["site_dir"], config["use_directory_urls"])


def on_files(files, config):
    """Takes this folder and the scripts out, adds the front page and what pages link to beside docs/."""
    for file in list(files):
        if file.src_path.endswith(".py") or (file.src_path.startswith("site/") and not file.src_path.endswith(".css")):
            files.remove(file)
    todo, done = ["README.md"] + [source_of(f.src_path) for f in files if f.src_path.endswith(".md")], set()
    while todo:
        path = todo.pop()
        for target in [path] + (links_of(path) if path.endswith(".md") else []):
            page = inside_docs(target)
            if target in done or target.startswith(".."):
                continue
            done.add(target)
            if not files.get_file_from_path(page):
                files.append(shown(page, target, config))
                todo.append(target)
    return files


# ---- what stands in the margin ----

def chapters():
    """(name, pages) of the front page's section "Going on": a paragraph that ends in a list, or has links itself."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as f:
        text = f.read().split("\n## Going on\n")[1]
    found = []
    for paragraph in text.strip().split("\n\n"):
        pages = [inside_docs(target) for target, _ in LINK.findall(paragraph.replace("\n", " "))]
        if paragraph[:1].isalpha() and (":" in paragraph or "," in paragraph):
            found.append((re.split("[,:]", paragraph)[0], []))
        if found:
            found[-1][1].extend(pages)
    return [(name, pages) for name, pages in found if pages]


def pages_of_passes():
    with open(os.path.join(SOURCE, "docs/passes.md"), encoding="utf-8") as f:
        return list(dict.fromkeys(target for target, _ in LINK.findall(f.read()) if target.startswith("passes/")))


def on_config(config):
    highlight.register(os.path.join(SOURCE, "editors/vscode/tile.tmLanguage.json"))
    config["nav"] = [{"tilec": "index.md"}, *({name: pages} for name, pages in chapters()), {"Passes": pages_of_passes()}]
    return config


# ---- what a page says ----

def moved_link(found, page):
    target, anchor = found[1], found[2] or ""
    if not target or "://" in target:
        return found[0]
    path = os.path.normpath(os.path.join(os.path.dirname(source_of(page)), target))
    return f"]({os.path.relpath(inside_docs(path), os.path.dirname(page))}{anchor})"


def on_page_markdown(markdown, page, config, files):
    if page.file.src_path.startswith("source/"):
        return markdown
    moved = LINK.sub(lambda found: moved_link(found, page.file.src_path), markdown)
    named = highlight.name_languages(moved)
    return gallery.expand_all(named, SOURCE) if page.file.src_path == "gallery.md" else named


def on_page_content(html, page, config, files):
    return gallery.expand_texts(html, SOURCE)


def on_post_build(config):
    shutil.rmtree(folder_of(config), ignore_errors=True)
    gallery.write_pages(SOURCE, config["site_dir"])
