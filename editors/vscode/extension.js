'use strict';
// The extension: documents go to `tilec lsp`, and what it answers to the editor. Needs nothing beside VS Code.
const vscode = require('vscode');
const {Client} = require('./client');

let client = null;

const SELECTOR = {language: 'tile'};
const at = p => new vscode.Position(p.line, p.character);
const range = r => new vscode.Range(at(r.start), at(r.end));
const location = l => new vscode.Location(vscode.Uri.parse(l.uri), range(l.range));
const edit = e => new vscode.TextEdit(range(e.range), e.newText);
const about = document => ({textDocument: {uri: document.uri.toString()}});
const placed = (document, position) => ({...about(document), position: {line: position.line, character: position.character}});

function workspaceEdit(answer) {
  const made = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(answer.changes)) made.set(vscode.Uri.parse(uri), edits.map(edit));
  return made;
}

// Severities count from 1 in the protocol, from 0 in the editor; so do kinds of completions.
function diagnostic(d) {
  const made = new vscode.Diagnostic(range(d.range), d.message, d.severity - 1);
  made.source = d.source;
  made.code = d.code;
  made.relatedInformation = (d.relatedInformation || []).map(r => new vscode.DiagnosticRelatedInformation(location(r.location), r.message));
  return made;
}

function completion(item) {
  const made = new vscode.CompletionItem(item.label, item.kind - 1);
  made.detail = item.detail;
  return made;
}

function quickFix(action) {
  const made = new vscode.CodeAction(action.title, vscode.CodeActionKind.QuickFix);
  made.edit = workspaceEdit(action.edit);
  made.diagnostics = action.diagnostics.map(diagnostic);
  return made;
}

const ask = (method, params) => client.request('textDocument/' + method, params);

const PROVIDERS = {
  Hover: {provideHover: async (d, p) => { const h = await ask('hover', placed(d, p)); return h && new vscode.Hover(new vscode.MarkdownString(h.contents.value)); }},
  Definition: {provideDefinition: async (d, p) => { const l = await ask('definition', placed(d, p)); return l && location(l); }},
  Reference: {provideReferences: async (d, p) => (await ask('references', {...placed(d, p), context: {includeDeclaration: true}})).map(location)},
  Rename: {
    prepareRename: async (d, p) => {
      const r = await ask('prepareRename', placed(d, p));
      if (!r) throw new Error('this name cannot be renamed here');
      return range(r);
    },
    provideRenameEdits: async (d, p, newName) => workspaceEdit(await ask('rename', {...placed(d, p), newName})),
  },
  DocumentFormattingEdit: {provideDocumentFormattingEdits: async d => (await ask('formatting', {...about(d), options: {tabSize: 2, insertSpaces: true}})).map(edit)},
  InlayHints: {
    provideInlayHints: async (d, r) => (await ask('inlayHint', {...about(d), range: {start: r.start, end: r.end}})).map(h => new vscode.InlayHint(at(h.position), h.label, vscode.InlayHintKind.Type)),
  },
  CodeActions: {provideCodeActions: async (d, r) => (await ask('codeAction', {...about(d), range: {start: r.start, end: r.end}, context: {diagnostics: []}})).map(quickFix)},
};

function follow(subscriptions) {
  const opened = d => d.languageId === 'tile' && client.notify('textDocument/didOpen', {textDocument: {uri: d.uri.toString(), languageId: 'tile', version: d.version, text: d.getText()}});
  const w = vscode.workspace;
  subscriptions.push(
    w.onDidOpenTextDocument(opened),
    w.onDidChangeTextDocument(e => e.document.languageId === 'tile' && client.notify('textDocument/didChange',
      {textDocument: {uri: e.document.uri.toString(), version: e.document.version}, contentChanges: [{text: e.document.getText()}]})),
    w.onDidCloseTextDocument(d => d.languageId === 'tile' && client.notify('textDocument/didClose', about(d))));
  w.textDocuments.forEach(opened);
}

async function activate(context) {
  const settings = vscode.workspace.getConfiguration('tilec'), found = vscode.languages.createDiagnosticCollection('tilec');
  const notified = (method, p) => method === 'textDocument/publishDiagnostics' && found.set(vscode.Uri.parse(p.uri), p.diagnostics.map(diagnostic));
  client = new Client(settings.get('command'), ['lsp'], notified, why => vscode.window.showErrorMessage(`tilec: ${why}. Is the Python package tilec installed (setting tilec.command)?`));
  context.subscriptions.push(found);
  await client.request('initialize', {processId: process.pid, rootUri: null, capabilities: {}, initializationOptions: {target: settings.get('target')}});
  client.notify('initialized', {});
  for (const [name, provider] of Object.entries(PROVIDERS)) context.subscriptions.push(vscode.languages[`register${name}Provider`](SELECTOR, provider));
  context.subscriptions.push(vscode.languages.registerCompletionItemProvider(SELECTOR,
    {provideCompletionItems: async (d, p) => (await ask('completion', placed(d, p))).map(completion)}, '.'));
  follow(context.subscriptions);
}

const deactivate = () => client && client.stop();

module.exports = {activate, deactivate};
