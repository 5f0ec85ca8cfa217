"""The tool as the engine runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tile_lsp.engine.launcher import Launcher
from tile_lsp.engine.own_tools import own_tool
from tile_lsp.engine.stats import Counters
from tile_lsp.engine.tools import Tool, Tools
from tile_lsp.frontends import llvm
from tile_lsp.frontends.base import ToolRun
from tile_lsp.model.outcome import Fault


class Llvm:
    """Modules of LLVM IR put to the tool."""

    def __init__(self, launcher: Launcher) -> None:
        self.counters = Counters()
        self._tools = Tools(self.counters, launcher)

    async def make(self, blob: str, text: str, target: str = "sm_90", *, optimized: bool = True) -> str | Fault:
        tool, run = own_tool(llvm.TOOL), llvm.tool_for(blob, target, optimized=optimized)
        assert isinstance(tool, Tool), tool
        assert isinstance(run, ToolRun), run
        made = await self._tools.run(tool, run, {llvm.SOURCE: text.encode()})
        return made if isinstance(made, Fault) else made[blob].decode()

    async def text(self, blob: str, text: str, target: str = "sm_90", *, optimized: bool = True) -> str:
        made = await self.make(blob, text, target, optimized=optimized)
        assert isinstance(made, str), made
        return made

    async def fault(self, blob: str, text: str, target: str = "sm_90") -> Fault:
        made = await self.make(blob, text, target)
        assert isinstance(made, Fault), made
        return made


@pytest.fixture
async def tool() -> AsyncIterator[Llvm]:
    launcher = Launcher()
    yield Llvm(launcher)
    await launcher.close()
