"""usage: prose.py SOURCE: what can be checked of docs, and of comments. Prints a line for each fault:

  links       lead to a file, and to a heading where they name one
  names       of files and folders of this tree, on pages and in comments, are those of files that exist
  lines       of pages have at most 120 columns, but for tables and what commands print
  paragraphs  and points of a list have at most 80 words
  sentences   begin with their subject: not with Of, Whether, So many, What, nor with a pronoun alone; have at most 25 words,
              a span of code being one, what stands in parentheses none, and a colon an end; those at the head of a file
              and in public headers, too
  words       in bold amid a sentence, which pages define so, are in docs/reference/glossary.md; what begins a paragraph in
              bold is its title
  index       of the language has each keyword, element type, function and collective of the language's pages"""
import fnmatch
import os
import re
import sys

COLUMNS, WORDS, SENTENCE = 120, 80, 25
GLOSSARY, LANGUAGE = "docs/reference/glossary.md", ("docs/reference/language.md", "docs/reference/language-programs.md")
INDEX = "docs/reference/language-index.md"
TOP = "base|bench|cmake|codegen|docs|driver|editors|examples|frontend|ir|passes|python|runtime|target|test"
PATH = re.compile(r"(?<![\w./$%}*-])((?:" + TOP + r")/[\w./*-]+)")
BARE = re.compile(r"(?<![\w./<\"$%*-])([a-z][\w-]*[a-z0-9]\.(?:c|h|py|y|l|def))(?![\w(/])")
FOREIGN = {"llama2.c"}  # a program of others, whose checkpoints examples/stories reads
PLACEHOLDER = re.compile(r"[A-Z]{3,}")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
STRESS = re.compile(r"(?<![\w*])\*\*(?![\s*])([^*\n]+?)\*\*(?![\w*])")
ITEM = re.compile(r"\s*([*-]|\d+\.) ")
VERBS = "is|are|was|were|has|have|had|does|do|can|may|must|will|makes|takes|gives|goes|needs|says"
FALSE_STARTS = re.compile(r"(?:Of|Whether|So many|It|They|What(?! .*:$)) .{,30}|(?:This|That|These|Those|Such) (?:" + VERBS + r")\b.{,30}")
QUOTES = {  # comments of a file, by its ending
    (".c", ".h", ".y", ".l", ".def"): r"/\*.*?\*/|//[^\n]*",
    (".py",): r'""".*?"""|#[^\n]*',
    (".sh", ".cmake", ".txt", ".yml"): r"#[^\n]*",
    (".tile",): r"//(?! RUN| CHECK)[^\n]*",
}


def files_of(source):
    """Files of the rooms and of the top, without what builds and editors leave."""
    found = [f for f in os.listdir(source) if os.path.isfile(os.path.join(source, f))]
    for room in TOP.split("|"):
        for folder, _, names in os.walk(os.path.join(source, room)):
            if "__pycache__" not in folder:
                found += [os.path.relpath(os.path.join(folder, name), source) for name in names]
    return sorted(found)


def read(source, name):
    try:
        with open(os.path.join(source, name), encoding="utf-8") as f:
            return f.read()
    except UnicodeDecodeError:
        return ""


# Names and links.

def is_there(name, files):
    name = PLACEHOLDER.sub("*", name.rstrip(".,-/"))
    if "*" in name:
        return any(fnmatch.fnmatch(f, name + "*") for f in files)
    return any(f == name or f.startswith(name + "/") or f.startswith(name + ".") for f in files)


def names_wrong(text, files, bare):
    basenames = {os.path.basename(f) for f in files} | FOREIGN
    wrong = [name for name in PATH.findall(text) if not is_there(name, files)]
    if bare:
        wrong += [n for n in BARE.findall(text) if n not in basenames and len(n.split(".")[0]) > 1 and not PLACEHOLDER.search(n)]
    return wrong


def comments_of(name, text):
    for endings, quote in QUOTES.items():
        if name.endswith(endings):
            return "\n".join(re.findall(quote, text, re.S))
    return ""


def anchors_of(text):
    """The anchors that headings have, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


def links_wrong(source, page, text):
    text = re.sub(r"`[^`\n]*`", "", re.sub(r"^    .*$", "", text, flags=re.M))
    for target, anchor in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        if not os.path.exists(os.path.join(source, path)):
            yield f"link to {target}"
        elif anchor and anchor not in anchors_of(read(source, path)):
            yield f"link to {target}#{anchor}, a heading that is not there"


# Lines, paragraphs and words.

def is_table(line):
    return line.lstrip().startswith("|")


def lines_wrong(text):
    """Lines that are too long; what stands below a command is what it prints."""
    printed = False
    for n, line in enumerate(text.split("\n"), 1):
        printed = line.startswith("    ") and (printed or line.startswith("    $ "))
        if len(line.removeprefix("    ")) > COLUMNS and not printed and not is_table(line) and not line.startswith("!["):
            yield f"line {n} has {len(line)} columns"


def paragraphs_of(text):
    """(number of the first line, text, is a point of a list); no code, tables, headings."""
    begin, lines = 0, []
    for n, line in enumerate(text.split("\n") + [""], 1):
        apart = not line.strip() or line.startswith(("#", "![", "<!--")) or is_table(line)
        code = line.startswith("    ") and not lines
        if lines and (apart or ITEM.match(line)):
            yield begin, " ".join(lines)
            lines = []
        if not apart and not code:
            begin = begin if lines else n
            lines.append(line.strip())


def paragraphs_wrong(text):
    for line, paragraph in paragraphs_of(text):
        words = len(paragraph.split())
        if words > WORDS:
            yield f"line {line}: a paragraph of {words} words"


def sentences_of(paragraph):
    plain = re.sub(r"`[^`]*`", "`code`", ITEM.sub("", paragraph, 1) if ITEM.match(paragraph) else paragraph)
    plain = re.sub(r"\([^()]*\)", "", re.sub(r"\]\([^)]*\)", "]", plain))
    return re.split(r"(?<=[.!?:])[*_\"]*\s+", plain)


def sentences_wrong(text):
    for line, paragraph in paragraphs_of(text):
        ended = True
        for sentence in sentences_of(paragraph):
            words = len(re.findall(r"\S*\w\S*", sentence))
            if words > SENTENCE:
                yield f"line {line}: a sentence of {words} words: '{sentence[:30]}'"
            begin = FALSE_STARTS.match(sentence)
            if begin and (ended or begin[0].startswith(("Of", "Whether", "So many"))):
                yield f"line {line}: a sentence begins '{begin[0]}'"
            ended = not sentence.endswith(":")


def comments_wrong(name, text):
    """Sentences of the comment at the head of a C file, or of all in a public header; further indented lines are a list."""
    comments = re.findall(r"/\*.*?\*/", text, re.S) if name.startswith("runtime/include/") else re.findall(r"\A/\*.*?\*/", text, re.S)
    for comment in comments:
        comment = re.sub(r"^/\* (\S+\.\w+: )?|\s*\*/$", "", comment)
        parts = re.split(r"\n(?=\s{4,}|\s*$|   \* )", comment)
        yield from (w.split(": ", 1)[1] for part in parts for w in sentences_wrong(" ".join(part.split())))


def singular(term):
    term = term.lower().strip(" .:")
    return term[:-1] if term.endswith("s") and not term.endswith("ss") else term


def stressed(text):
    """(line, word in bold)"""
    for line, paragraph in paragraphs_of(text):
        paragraph = ITEM.sub("", re.sub(r"`[^`]*`", "``", paragraph), 1)
        for found in STRESS.finditer(paragraph):
            if found.start() > 0:
                yield line, found[1]


def index_wrong(body, index):
    """Words that the pages of the language list and their index lacks."""
    keywords = re.search(r"\*Keywords\*\s+are\s+no\s+names:\s+`([^`]+)`", body)[1].split()
    rows = re.findall(r"^\| (?:floats|integers|conditions|of elements|of values|reductions|prefixes|`\w+\(x(?:, [nr])?\)` \|).*", body, re.M)
    words = [w for row in rows for code in re.findall(r"`([^`]+)`", row) for w in re.findall(r"[a-z]\w+", re.sub(r"\(.*?\)", "", code))]
    return sorted({w for w in keywords + words if f"| `{w}` |" not in index})


def main(source):
    files = files_of(source)
    pages = [f for f in files if f.endswith(".md")]
    docs = [f for f in pages if f.startswith("docs/") or f == "README.md"]
    terms = {singular(t) for title in re.findall(r"^### (.*)$", read(source, GLOSSARY), re.M) for t in title.split(",")}
    language = "\n".join(read(source, page) for page in LANGUAGE)
    wrong = [f"{INDEX}: the index lacks '{w}'" for w in index_wrong(language, read(source, INDEX))]
    for name in files:
        text = read(source, name)
        if name in pages:
            said = re.sub(r"\]\([^)]*\)", "]", text)
            wrong += [f"{name}: there is no {w}" for w in names_wrong(said, files, not name.startswith(("docs/tutorials", "docs/guides/python")))]
            wrong += [f"{name}: {w}" for w in links_wrong(source, name, text)]
        else:
            if name.endswith((".c", ".h", ".y", ".l")) and not name.startswith("test/"):
                wrong += [f"{name}: a comment: {w}" for w in comments_wrong(name, text)]
            wrong += [f"{name}: a comment names {w}" for w in names_wrong(comments_of(name, text), files, not name.startswith("test/"))]
        if name in docs:
            wrong += [f"{name}: {w}" for w in [*lines_wrong(text), *paragraphs_wrong(text), *sentences_wrong(text)]]
            wrong += [f"{name}: line {n}: '{t}' is not in the glossary" for n, t in stressed(text) if singular(t) not in terms]
    print("\n".join(wrong + [f"{len(docs)} pages, {len(terms)} words, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
