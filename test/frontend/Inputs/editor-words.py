"""editor-words.py LEXER ELEMENTS GRAMMAR..: every word of the language stands in every grammar."""
import re
import sys

lexer, elements, *grammars = [open(name).read() for name in sys.argv[1:]]
words = re.findall(r'^"([a-z]+)" ', lexer, re.M) + re.findall(r'^ELEM\(\w+, "(\w+)"', elements, re.M)
assert len(words) > 30, words
missing = [w for w in words for g in grammars if not re.search(r"\b%s\b" % w, g)]
sys.exit("missing: %s" % missing if missing else 0)
