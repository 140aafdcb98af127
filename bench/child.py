"""The fresh process: `python -m bench.child MODULE:FUNCTION JSON-PARAMETERS` prints figures as JSON.

Only what the function needs is imported here, since all of it counts in the process's peak memory.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys

from bench.root import leave_root


def main() -> None:
    leave_root()
    module_name, _, function_name = sys.argv[1].partition(":")
    function = getattr(importlib.import_module(module_name), function_name)
    figures = function(**json.loads(sys.argv[2]))
    if inspect.iscoroutine(figures):
        import asyncio

        figures = asyncio.run(figures)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
