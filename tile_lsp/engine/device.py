"""The architecture of the local GPU, for jobs that name no target."""

from __future__ import annotations

import asyncio
import re
import shutil


async def local_target() -> str | None:
    """`"sm_90"`, or None where there is no GPU or no driver to ask."""
    nvidia_smi = shutil.which("nvidia-smi")
    if nvidia_smi is None:
        return None
    try:
        process = await asyncio.create_subprocess_exec(
            nvidia_smi,
            "--query-gpu=compute_cap",
            "--format=csv,noheader",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        out, _ = await asyncio.wait_for(process.communicate(), 5)
    except (OSError, TimeoutError):
        return None
    found = re.match(rb"\s*(\d+)\.(\d+)", out)
    return f"sm_{int(found[1])}{int(found[2])}" if found else None
