-- tclint in Neovim 0.7 and later, without plugins: require('tclint').setup()
local M = {}

M.defaults = {
  cmd = { 'tclint', 'server' },
  root_files = { 'tclint.toml', 'pyproject.toml', '.git' },
  settings = {},
}

local function root_of(path, names)
  local folder = vim.fn.fnamemodify(path, ':p:h')
  while true do
    for _, name in ipairs(names) do
      if vim.loop.fs_stat(folder .. '/' .. name) then
        return folder
      end
    end
    local above = vim.fn.fnamemodify(folder, ':h')
    if above == folder then
      return vim.fn.fnamemodify(path, ':p:h')
    end
    folder = above
  end
end

-- One server for each project; buffers of a project share it.
local clients = {}

local function attach(buffer, options)
  local path = vim.api.nvim_buf_get_name(buffer)
  if path == '' then
    return
  end
  local root = root_of(path, options.root_files)
  local known = clients[root]
  if not (known and vim.lsp.get_client_by_id(known)) then
    clients[root] = vim.lsp.start_client({
      name = 'tclint',
      cmd = options.cmd,
      root_dir = root,
      workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
      init_options = options.settings,
      settings = { tclint = options.settings },
      on_exit = function()
        clients[root] = nil
      end,
    })
  end
  if clients[root] then
    vim.lsp.buf_attach_client(buffer, clients[root])
  end
end

local function client_of(buffer)
  for _, client in pairs(vim.lsp.buf_get_clients(buffer)) do
    if client.name == 'tclint' then
      return client
    end
  end
end

local function apply(client, action, buffer)
  local function carry_out(chosen)
    if chosen.edit then
      vim.lsp.util.apply_workspace_edit(chosen.edit, client.offset_encoding)
    end
    if chosen.command then
      client.request('workspace/executeCommand', chosen.command, nil, buffer)
    end
  end
  if action.edit or not action.data then
    return carry_out(action)
  end
  local answer = client.request_sync('codeAction/resolve', action, 10000, buffer)
  if answer and answer.result then
    return carry_out(answer.result)
  end
  vim.notify(answer and answer.err and answer.err.message or 'tclint does not answer')
end

local function actions(client, buffer, only)
  local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
  params.context = {
    diagnostics = only and {} or vim.lsp.diagnostic.get_line_diagnostics(buffer),
    only = only,
  }
  local answer = client.request_sync('textDocument/codeAction', params, 10000, buffer)
  return answer and answer.result or {}
end

-- The first fix of the line under the cursor.
function M.fix()
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  for _, action in ipairs(client and actions(client, buffer) or {}) do
    if action.isPreferred then
      return apply(client, action, buffer)
    end
  end
  vim.notify('tclint has no safe fix for this line')
end

-- All safe fixes of the buffer.
function M.fix_all()
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  for _, action in ipairs(client and actions(client, buffer, { 'source.fixAll.tclint' }) or {}) do
    return apply(client, action, buffer)
  end
  vim.notify('tclint has nothing to fix safely')
end

function M.setup(options)
  options = vim.tbl_deep_extend('force', M.defaults, options or {})
  local group = vim.api.nvim_create_augroup('tclint', {})
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = 'python',
    callback = function(event)
      attach(event.buf, options)
    end,
  })
  vim.api.nvim_create_user_command('TclintFix', M.fix, {})
  vim.api.nvim_create_user_command('TclintFixAll', M.fix_all, {})
end

return M
