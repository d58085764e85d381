"""A real editor: Neovim without a window, with its own client, shows the findings, makes a quick fix and all fixes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls, which is not installed")
pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="no Neovim is installed")

TRAINING = """\
import torch

net = torch.nn.Linear(4, 1)
total = 0.0
for _ in range(3):
    loss = net(torch.randn(2, 4)).mean()
    loss.backward()
    total += loss
name = '😀'; value = loss.data
"""

SESSION = """\
local said = {}

local function wait(what, holds)
  if not vim.wait(300000, holds, 20) then error('nothing came of: ' .. what) end
end

local function shown()
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, (each.lnum + 1) .. ':' .. (each.col + 1) .. ' ' .. each.user_data.lsp.code)
  end
  return found
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n') .. '\\n'
end

local function act(kind, line, column)
  vim.api.nvim_win_set_cursor(0, { line, column })
  local client = vim.lsp.get_active_clients()[1]
  local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
  params.context = { diagnostics = {}, only = { kind } }
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 300000)
  local action = answers[client.id].result[1]
  if not action.edit then
    action = client.request_sync('codeAction/resolve', action, 300000, 0).result
  end
  vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
  return action.title
end

local function run()
  vim.cmd('edit train.py')
  vim.lsp.buf_attach_client(0, vim.lsp.start_client({ name = 'torchlint', cmd = COMMAND, root_dir = vim.fn.getcwd() }))
  wait('findings', function() return #shown() == 2 end)
  said.found = shown()

  said.fix = act('quickfix', 8, 6)
  wait('one finding less', function() return #shown() == 1 end)
  said.fixed, said.left = text(), shown()

  vim.cmd('undo')
  wait('undo', function() return #shown() == 2 end)
  said.all = act('source.fixAll', 1, 0)
  wait('nothing left', function() return #shown() == 0 end)
  said.clean = text()

  vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'def f(:' })
  wait('a syntax error', function() return #shown() == 1 end)
  said.wrong = shown()
end

local ran, problem = pcall(run)
said.problem = not ran and tostring(problem) or nil
local file = io.open('said.json', 'w')
file:write(vim.fn.json_encode(said))
file:close()
vim.cmd('qall!')
"""


def test_neovim_shows_findings_and_makes_fixes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING, encoding="utf-8")
    command = ", ".join(json.dumps(each) for each in (sys.executable, "-m", "torchlint", "server", "--stdio"))
    (tmp_path / "session.lua").write_text(SESSION.replace("COMMAND", f"{{ {command} }}"))
    home = {
        each: str(tmp_path / "home")
        for each in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    }
    subprocess.run(
        ["nvim", "--headless", "--clean", "-n", "-c", "luafile session.lua"],
        cwd=tmp_path,
        env={**os.environ, **home},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=900,
        check=True,
    )
    said = json.loads((tmp_path / "said.json").read_text(encoding="utf-8"))
    one = TRAINING.replace("+= loss", "+= loss.detach()")
    assert said == {
        "found": ["8:5 TPL004", "9:24 TPL002"],  # in bytes, as Neovim has them
        "fix": "TPL004: Add `.detach()`",
        "fixed": one,
        "left": ["9:24 TPL002"],
        "all": "torchlint: make all safe fixes",
        "clean": one.replace("loss.data", "loss.detach()"),
        "wrong": ["1:7 invalid-syntax"],
    }
