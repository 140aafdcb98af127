"""Finds entries by id in an index file: hashes in buckets, each looked at alone (ADR 9)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from hashlib import blake2b

from ..turns import Turns
from .index_file import IndexFile
from .index_writer import IndexWriter
from .stored_column import StoredColumn
from .stored_texts import StoredTexts, encode_text

_IN_A_BUCKET = 32
_BITS = 64


def _hash(encoded_id: bytes) -> int:
    return int.from_bytes(blake2b(encoded_id, digest_size=_BITS // 8).digest(), "little")


class StoredIdTable:
    """The numbers of ids. `ids`: the ids by number; a hash alone finds nothing."""

    def __init__(self, file: IndexFile, ids: StoredTexts) -> None:
        self._ids = ids
        self._starts = StoredColumn(file, "id.starts", "I")
        self._hashes = StoredColumn(file, "id.hashes", "Q")
        self._seqs = StoredColumn(file, "id.seqs", "I")
        self._shift = _BITS - (len(self._starts) - 2).bit_length()

    @property
    def last_seq(self) -> int:
        """The number of the last entry in the index."""
        return len(self._seqs)

    def get(self, entry_id: str) -> int:
        """Return the last number that an id has, 0 where it has none."""
        encoded = encode_text(entry_id)
        wanted = _hash(encoded)
        bucket = wanted >> self._shift
        start, stop = self._starts[bucket], self._starts[bucket + 1]
        found = 0
        for at, known in enumerate(self._hashes.slice(start, stop), start):
            if known == wanted:
                seq = self._seqs[at]
                if seq > found and self._ids[seq] == encoded:
                    found = seq
        return found


async def add_id_table(writer: IndexWriter, ids: Iterable[bytes], count: int) -> None:
    """Write the table of `count` ids, the first of which has the number 1. Raises `OSError`."""
    bits = max(count // _IN_A_BUCKET, 1).bit_length() - 1
    shift = _BITS - bits
    turns = Turns()
    hashes = array("Q")
    starts = array("I", bytes(4 * ((1 << bits) + 1)))
    for encoded in ids:
        wanted = _hash(encoded)
        hashes.append(wanted)
        starts[(wanted >> shift) + 1] += 1
        if turns.over:
            await turns.next()
    for bucket in range(1 << bits):
        starts[bucket + 1] += starts[bucket]
    free = array("I", starts)
    in_order, seqs = array("Q", hashes), array("I", bytes(4 * count))
    for seq, wanted in enumerate(hashes, 1):
        at = free[wanted >> shift]
        free[wanted >> shift] = at + 1
        in_order[at], seqs[at] = wanted, seq
        if turns.over:
            await turns.next()
    await writer.add_column("id.starts", "I", starts)
    await writer.add_column("id.hashes", "Q", in_order)
    await writer.add_column("id.seqs", "I", seqs)
