// usage: tree-sitter.js GRAMMAR LEXER QUERY..: evaluates grammar.js as tree-sitter does. Every rule that is named is there and is used, every
// word of the scanner is a word of the grammar, and every node, field and text of a query can be in a tree.
'use strict';
const fs = require('fs');
const [grammarPath, lexerPath, ...queries] = process.argv.slice(2);
const used = new Set(), fields = new Set(), words = new Set(), named = new Set();

const node = rule => { if (typeof rule === 'string') words.add(rule); return rule; };
const all = (...rules) => rules.forEach(node), inner = (...given) => node(given.at(-1));
Object.assign(globalThis, {
  seq: all, choice: all, repeat: node, repeat1: node, optional: node, token: node,
  prec: Object.assign(inner, {left: inner, right: inner}),
  alias: (rule, as) => { node(rule); named.add(as); }, field: (name, rule) => { fields.add(name); node(rule); },
  grammar: g => g,
});
const $ = new Proxy({}, {get: (_, name) => { used.add(name); return {name}; }});
const g = require(grammarPath);
g.word($), g.extras($), g.conflicts($);
const made = Object.keys(g.rules), wrong = [];
for (const name of made) node(g.rules[name]($));

for (const name of used) if (!made.includes(name)) wrong.push(`no rule ${name}`);
for (const name of made.slice(1)) if (!used.has(name)) wrong.push(`${name} is not used`);
for (const [, word] of fs.readFileSync(lexerPath, 'latin1').matchAll(/^"([a-z]+)" /gm)) if (!words.has(word)) wrong.push(`no word ${word}`);
for (const path of queries) {
  const text = fs.readFileSync(path, 'utf8').replace(/;.*/g, line => line.includes('"') ? line : '');
  for (const [, name] of text.matchAll(/\((\w+)/g)) if (!made.includes(name) || name.startsWith('_')) wrong.push(`no node ${name}`);
  for (const [, name] of text.matchAll(/(\w+): \(/g)) if (!fields.has(name)) wrong.push(`no field ${name}`);
  for (const [, word] of text.matchAll(/"([^"]+)"/g)) if (!words.has(word)) wrong.push(`no text ${word}`);
}
console.log(wrong.join('\n') || `${made.length} rules, ${words.size} words, ${fields.size} fields`);
