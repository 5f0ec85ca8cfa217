-- tile-lsp in Neovim 0.11 or newer. Views open as read-only files; nvim-documents.lua shows them as buffers of their own.

vim.lsp.config("tile-lsp", {
  cmd = { "tile-lsp", "--stdio" },
  filetypes = { "python", "cuda" },
  root_markers = { "tile-lsp.toml", "pyproject.toml", "compile_commands.json", ".git" },
  -- settings = { ["tile-lsp"] = { targets = { "sm_90", "sm_100" } } },
})
vim.lsp.enable("tile-lsp")

local group = vim.api.nvim_create_augroup("tile-lsp", {})

vim.api.nvim_create_autocmd("LspAttach", {
  group = group,
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == "tile-lsp" then
      vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
    end
  end,
})

-- Neovim asks for lenses only when told to.
vim.api.nvim_create_autocmd({ "BufEnter", "CursorHold", "InsertLeave" }, {
  group = group,
  callback = function(event)
    if #vim.lsp.get_clients({ bufnr = event.buf, name = "tile-lsp" }) > 0 then
      vim.lsp.codelens.refresh({ bufnr = event.buf })
    end
  end,
})

-- A view is rewritten when its kernel changes: look whether an open one was.
vim.api.nvim_create_autocmd({ "CursorHold", "FocusGained" }, {
  group = vim.api.nvim_create_augroup("tile-lsp-views", {}),
  callback = function()
    if vim.fn.getcmdwintype() == "" then
      vim.cmd.checktime()
    end
  end,
})
