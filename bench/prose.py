"""Seeded text like an agent's: lines of prose and of code, with quotes, escapes and some non-ASCII."""

from __future__ import annotations

from functools import cache
from random import Random

_WORDS = """
the a of to and in is that it for with as on this be by from are not when which file test tree entry value
function returns because checks before after already should would session module cache buffer request
parser writer reader handler result branch message error change looks again first line path number reads
writes called every between without instead simple wrong missing build output command option default
""".split()  # noqa: SIM905
_RARE = ("naïve", "façade", "Größe", "—", "→", "“quoted”", "größer", "café", "日本語", "résumé", "≤", "😀")
_CODE = (
    "    if {0} is not None and {1}.{2}({0}) != self.{1}:",
    "        return {0}.{1}({2}, key=lambda item: item[0])",
    'logger.info("{0} {1}: %s", {2})',
    "    for {0}, {1} in enumerate({2}):",
    '\tconst {0} = await {1}("{2}\\n");',
    '{{"{0}": "{1}", "{2}": [1, 2, 3]}},',
    "def {0}_{1}(self, {2}: str | None = None) -> int:",
    "    raise ValueError(f'{0}: {{{1}}} is no {2}')",
    "+    {0} = re.compile(r'\\b{1}\\d+\\s*{2}')",
    "src/{0}/{1}.ts:42:  export function {2}(): void {{",
    "    # {0} {1} {2} {0} {1} {2} {0}",
    "",
)
_POOL = 2048
_WIDEST_TEXT = 1024


class Prose:
    """A text is a run of lines out of a pool; the pools are the same for every seed."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._prose, self._code = _pools()

    def prose(self, low: int, high: int) -> str:
        """From `low` to `high` lines of 60 to 80 characters."""
        return self._run(self._prose, low, high)

    def code(self, low: int, high: int) -> str:
        """From `low` to `high` lines of code or of a command's output, shorter ones far more often."""
        return self._run(self._code, low, low + int((high - low) * self._rng.random() ** 2))

    def word(self) -> str:
        return self._rng.choice(_WORDS)

    def _run(self, pool: list[str], low: int, high: int) -> str:
        count = low + int((high - low + 1) * self._rng.random())
        assert count <= _WIDEST_TEXT
        start = int((_POOL - count) * self._rng.random())
        return "\n".join(pool[start : start + count])


@cache
def _pools() -> tuple[list[str], list[str]]:
    rng = Random(0)
    prose = [_prose_line(rng) for _ in range(_POOL)]
    return prose, [rng.choice(_CODE).format(*rng.choices(_WORDS, k=3)) for _ in range(_POOL)]


def _prose_line(rng: Random) -> str:
    width = rng.randint(60, 80)
    line = ""
    while True:
        word = rng.choice(_WORDS) if rng.random() > 0.02 else rng.choice(_RARE)
        if rng.random() < 0.01:
            word = f'"{word}"'
        if rng.random() < 0.08:
            word += rng.choice((",", ".", ":", ";"))
        if len(line) + len(word) > width:
            return line
        line = f"{line} {word}" if line else word
