-- The syntax file, and Neovim's own client with the language server.
vim.opt.runtimepath:append(vim.env.EDITORS .. '/vim')
vim.cmd('filetype plugin on | syntax on | edit ' .. vim.env.FILE)
local function say(...) io.stdout:write(table.concat(vim.tbl_map(tostring, {...}), ' '), '\n') end
say(vim.bo.filetype, vim.fn.synIDattr(vim.fn.synID(1, 1, 1), 'name'))
local id = vim.lsp.start_client({ name = 'tilec', cmd = { vim.env.SERVER, 'lsp' }, root_dir = '/' })
vim.lsp.buf_attach_client(0, id)
vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 20)
for _, d in ipairs(vim.diagnostic.get(0)) do say(d.lnum, d.col, d.end_col, (d.message:gsub('\n', '; '))) end
local asked = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 0, character = 4 } }
for _, x in pairs(vim.lsp.buf_request_sync(0, 'textDocument/definition', asked, 10000)) do say('made at', x.result.range.start.line, x.result.range.start.character) end
vim.cmd('qa!')
