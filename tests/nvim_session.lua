-- Drives a headless Neovim: argv are the server's python, the file, and the file for the answers.
local python, path, out = unpack(vim.fn.split(vim.env.TCLINT_TEST, '\n'))
local told = {}

local function wait(what, condition)
  if not vim.wait(60000, condition, 20) then
    error('waited in vain for ' .. what)
  end
end

local function codes()
  local found = {}
  for _, item in ipairs(vim.diagnostic.get(0)) do
    local code = item.code or (item.user_data and item.user_data.lsp and item.user_data.lsp.code)
    table.insert(found, { code = code, row = item.lnum, from = item.col, to = item.end_col })
  end
  return found
end

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

local function play()
  require('tclint').setup({ cmd = { python, '-m', 'tclint', 'server' } })
  vim.cmd('edit ' .. vim.fn.fnameescape(path))
  vim.cmd('setfiletype python')
  wait('diagnostics', function() return #codes() > 0 end)
  told.opened, told.before = codes(), lines()

  local count = #told.opened
  for _, item in ipairs(told.opened) do
    if item.code == 'TCL120' then
      vim.api.nvim_win_set_cursor(0, { item.row + 1, 0 })
      break
    end
  end
  require('tclint').fix()
  wait('the quick fix', function() return #codes() == count - 1 end)
  told.fixed, told.after_fix = codes(), lines()

  vim.cmd('silent undo')
  wait('undo', function() return #codes() == count end)
  told.undone = lines()

  require('tclint').fix_all()
  -- The edits may reach the server one by one.
  wait('fix all', function() return #codes() == count - 2 end)
  told.after_fix_all, told.left = lines(), codes()

  vim.cmd('silent undo')
  wait('undo of fix all', function() return #codes() == count end)
  told.undone_again = lines()

  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'x = 1' })
  wait('clear', function() return #codes() == 0 end)
  told.cleared = true
end

local good, problem = pcall(play)
told.problem = not good and tostring(problem) or nil
local file = io.open(out, 'w')
file:write(vim.json and vim.json.encode(told) or vim.fn.json_encode(told))
file:close()
vim.cmd(good and 'qall!' or 'cquit!')
