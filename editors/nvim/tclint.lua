-- tclint in Neovim (0.7 and later), without plugins.
--
-- Put this file into a folder named `lua` of your configuration, and into `init.lua`:
--
--     require('tclint').setup()
--
-- `setup({ cmd = { '/path/to/tclint', 'server' } })` names another executable, and
-- `setup({ fix_on_save = true })` applies the safe fixes before each write.

local M = {}

local defaults = {
  cmd = { 'tclint', 'server' },
  root_markers = { 'tclint.toml', 'pyproject.toml', 'setup.py', '.git' },
  fix_on_save = false,
}

local FIX_ALL = 'source.fixAll.tclint'

local clients = {} -- root folder -> client id

-- The nearest folder upwards that holds one of the markers, else the file's own.
local function root_of(file, markers)
  local folder = vim.fn.fnamemodify(file, ':p:h')
  local candidate = folder
  while true do
    for _, marker in ipairs(markers) do
      local path = candidate .. '/' .. marker
      if vim.fn.filereadable(path) == 1 or vim.fn.isdirectory(path) == 1 then
        return candidate
      end
    end
    local above = vim.fn.fnamemodify(candidate, ':h')
    if above == candidate then
      return folder
    end
    candidate = above
  end
end

-- Columns are counted in the unit that client and server agreed on, UTF-16 where nothing was said.
local function adopt_encoding(client, result)
  local capabilities = result.capabilities or {}
  client.offset_encoding = capabilities.positionEncoding or 'utf-16'
end

local function client_for(root, options)
  local id = clients[root]
  if id and vim.lsp.get_client_by_id(id) then
    return id
  end
  local start = vim.lsp.start_client or vim.lsp.start -- the older one is on its way out
  clients[root] = start({
    name = 'tclint',
    cmd = options.cmd,
    root_dir = root,
    workspace_folders = { { name = root, uri = vim.uri_from_fname(root) } },
    on_init = adopt_encoding,
    on_exit = function()
      clients[root] = nil
    end,
  })
  return clients[root]
end

local function request(client, method, params, buffer)
  local answer, problem = client.request_sync(method, params, 5000, buffer)
  local failure = problem or (answer and answer.err and answer.err.message)
  if failure then
    vim.notify('tclint: ' .. tostring(failure), vim.log.levels.WARN)
    return nil
  end
  return answer.result
end

-- Apply every safe fix to a buffer, and wait for it.
function M.fix_all(buffer)
  buffer = buffer or vim.api.nvim_get_current_buf()
  for _, id in pairs(clients) do
    local client = vim.lsp.buf_is_attached(buffer, id) and vim.lsp.get_client_by_id(id)
    if client then
      local start = { line = 0, character = 0 }
      local actions = request(client, 'textDocument/codeAction', {
        textDocument = { uri = vim.uri_from_bufnr(buffer) },
        range = { start = start, ['end'] = start },
        context = { diagnostics = {}, only = { FIX_ALL } },
      }, buffer)
      for _, action in ipairs(actions or {}) do
        local resolved = action.edit and action
          or request(client, 'codeAction/resolve', action, buffer)
        if resolved and resolved.edit then
          vim.lsp.util.apply_workspace_edit(resolved.edit, client.offset_encoding or 'utf-16')
        end
      end
    end
  end
end

function M.setup(options)
  options = vim.tbl_extend('force', defaults, options or {})
  local group = vim.api.nvim_create_augroup('tclint', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = 'python',
    callback = function(event)
      local root = root_of(vim.api.nvim_buf_get_name(event.buf), options.root_markers)
      local id = client_for(root, options)
      if id then
        vim.lsp.buf_attach_client(event.buf, id)
      end
    end,
  })
  if options.fix_on_save then
    vim.api.nvim_create_autocmd('BufWritePre', {
      group = group,
      pattern = '*.py',
      callback = function(event)
        M.fix_all(event.buf)
      end,
    })
  end
end

return M
