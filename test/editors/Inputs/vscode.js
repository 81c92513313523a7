// usage: vscode.js EXTENSION TILEC FOLDER: the extension of VS Code with the parts of the editor that it uses: a document is opened,
// asked about, changed to a wrong one, mended; then the server is one that does not exist.
'use strict';
const fs = require('fs'), path = require('path'), Module = require('module');
const [extension, tilec, folder] = process.argv.slice(2);

class Plain { constructor(...given) { Object.assign(this, given); } }
const providers = {}, on = {}, messages = [], found = new Map();
const hear = name => call => { on[name] = call; return {}; };
const settings = {command: tilec, target: 'host'};
const vscode = {
  Position: class { constructor(line, character) { Object.assign(this, {line, character}); } },
  Range: class { constructor(start, end) { Object.assign(this, {start, end}); } },
  Location: class { constructor(uri, range) { Object.assign(this, {uri, range}); } },
  TextEdit: class { constructor(range, text) { Object.assign(this, {range, text}); } },
  WorkspaceEdit: class { constructor() { this.all = []; } set(uri, edits) { this.all.push([uri, edits]); } },
  Diagnostic: class { constructor(range, message, severity) { Object.assign(this, {range, message, severity}); } },
  DiagnosticRelatedInformation: Plain, Hover: Plain, MarkdownString: Plain, InlayHint: Plain, CompletionItem: Plain, CodeAction: Plain,
  CodeActionKind: {QuickFix: 'quickfix'}, InlayHintKind: {Type: 1},
  Uri: {parse: text => ({toString: () => text})},
  languages: {createDiagnosticCollection: () => ({set: (uri, list) => found.set(uri.toString(), list)})},
  workspace: {getConfiguration: () => ({get: key => settings[key]}), textDocuments: [], onDidOpenTextDocument: hear('open'), onDidChangeTextDocument: hear('change'), onDidCloseTextDocument: hear('close')},
  window: {showErrorMessage: text => messages.push(text)},
};
for (const name of ['Hover', 'Definition', 'Reference', 'Rename', 'DocumentFormattingEdit', 'InlayHints', 'CodeActions', 'CompletionItem'])
  vscode.languages[`register${name}Provider`] = (selector, provider) => { providers[name] = provider; return {}; };
const load = Module._load;
Module._load = (name, ...rest) => name === 'vscode' ? vscode : load(name, ...rest);

const text = `kernel twice(x: f32[n]) -> (y: f32[n]) {
  each i: 4 of n {
    v = x[i] * 2.0;
    y[i] = v;
  }
}

program p(x: f32[8]) -> (y: f32[8]) { y = twice(x); }
`;
const document = {languageId: 'tile', version: 1, text, uri: {toString: () => 'file://' + path.join(folder, 'x.tile')}, getText() { return this.text; }};
const position = word => {
  const before = text.slice(0, text.indexOf(word)).split('\n');
  return new vscode.Position(before.length - 1, before.at(-1).length);
};
const shown = r => `${r.start.line}:${r.start.character}-${r.end.character}`;

async function heard(wanted) {
  for (let n = 0; n < 1000; n++) {
    const list = found.get(document.uri.toString());
    if (list && wanted(list)) return list;
    await new Promise(resolve => setTimeout(resolve, 10));
  }
  throw new Error('no diagnostics came');
}

async function main() {
  const {activate, deactivate} = require(extension), context = {subscriptions: []};
  vscode.workspace.textDocuments.push(document);
  await activate(context);
  console.log('messages', (await heard(() => true)).length);
  console.log('hover', (await providers.Hover.provideHover(document, position('v = x')))[0][0].split('\n')[4]);
  console.log('definition', shown((await providers.Definition.provideDefinition(document, position('twice(x);'))).range));
  console.log('uses', (await providers.Reference.provideReferences(document, position('v;'))).map(l => shown(l.range)).join(' '));
  console.log('renamed', shown(await providers.Rename.prepareRename(document, position('v;'))), (await providers.Rename.provideRenameEdits(document, position('v;'), 'w')).all[0][1].length);
  console.log('hints', (await providers.InlayHints.provideInlayHints(document, new vscode.Range(position('kernel'), position('program')))).map(h => h[1]).join(' '));
  console.log('completed', (await providers.CompletionItem.provideCompletionItems(document, position('v;'))).some(c => c[0] === 'softmax'));
  console.log('laid out', (await providers.DocumentFormattingEdit.provideDocumentFormattingEdits(document)).length);
  document.text = text.replace('twice(x);', 'twixe(x);');
  on.change({document});
  const [wrong] = await heard(list => list.length);
  console.log('wrong', shown(wrong.range), wrong.message.split('\n')[0], wrong.severity);
  const [fix] = await providers.CodeActions.provideCodeActions(document, wrong.range);
  console.log('fix', fix[0], fix.edit.all[0][1][0].text);
  on.close(document);
  await heard(list => !list.length);
  await deactivate();
  settings.command = path.join(folder, 'none');
  await activate({subscriptions: []}).catch(e => console.log('none:', e.message.split(' ')[0]));
  console.log(messages.length, messages[0].includes('tilec.command'));
}

main().catch(e => { console.error(e); process.exit(1); });
