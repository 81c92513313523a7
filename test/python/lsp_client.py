"""usage: pytest lsp_client.py: `tilec lsp` with the client of pytest-lsp."""
import sys

import pytest
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient

URI = "file:///tmp/x.tile"
TEXT = "dim N = 4;\nprogram f(x: f32[N, N]) -> (y: f32[N, N]) { y = softmx(x); }\n"


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[sys.executable, "-m", "tilec", "lsp"]))
async def client(lsp_client: LanguageClient):
    await lsp_client.initialize_session(t.InitializeParams(capabilities=pytest_lsp.client_capabilities("neovim")))
    yield
    await lsp_client.shutdown_session()


@pytest.mark.asyncio
async def test_messages_fixes_and_layout(client: LanguageClient):
    document = t.TextDocumentIdentifier(URI)
    client.text_document_did_open(t.DidOpenTextDocumentParams(t.TextDocumentItem(URI, "tile", 1, TEXT)))
    await client.wait_for_notification("textDocument/publishDiagnostics")
    found = client.diagnostics[URI]
    assert found[0].message.startswith("there is no kernel 'softmx'") and found[0].code == "undefined"
    context = t.CodeActionContext(found)
    actions = await client.text_document_code_action_async(t.CodeActionParams(document, found[0].range, context))
    assert actions[0].edit.changes[URI][0].new_text == "softmax"
    laid = await client.text_document_formatting_async(t.DocumentFormattingParams(document, t.FormattingOptions(2, True)))
    assert not laid
    hover = await client.text_document_hover_async(t.HoverParams(document, t.Position(1, 9)))
    assert hover.contents.value.startswith("```tile\nprogram f(x: f32[N, N])")
    place = t.Position(1, 44)
    uses = await client.text_document_references_async(t.ReferenceParams(t.ReferenceContext(True), document, place))
    assert [u.range.start.character for u in uses] == [28, 44]
    renamed = await client.text_document_rename_async(t.RenameParams(document, place, "z"))
    assert [e.range.start.character for e in renamed.changes[URI]] == [28, 44]
    items = await client.text_document_completion_async(t.CompletionParams(document, place))
    assert {"x", "softmax", "N"} <= {i.label for i in items}
    hints = await client.text_document_inlay_hint_async(t.InlayHintParams(document, t.Range(t.Position(0, 0), t.Position(9, 0))))
    assert not hints
