"""A leaf on a session: where appends go, how it moves, and the context it sees (T-10..T-44, C-01..C-03)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypedDict, Unpack

from msgspec import UNSET, UnsetType

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import SessionEntry
from ..eventstore.errors import ConcurrencyError, EntryNotFoundError, InvalidEntryError
from ..projections.context import SessionContext, build_context, context_window
from ..projections.tree import ROOT
from . import drafts
from .append_queue import PendingAppend
from .drafts import Draft
from .session_log import SessionLog


class AppendOptions(TypedDict, total=False):
    """What every append takes.

    `expected_leaf`: `ConcurrencyError` when the leaf is another one. `entry_id`: the caller's own; the same id
    with the same content is answered, not written twice, with other content it is an `EntryConflictError`.
    """

    expected_leaf: str | None
    entry_id: str | None


class Cursor:
    """A leaf of its own on a session that others may write too.

    Every append is a child of the leaf and becomes the leaf; parent and leaf are decided when the call begins,
    so concurrent appends make a chain in call order. Each takes `AppendOptions` and returns the new entry's id.

    Appends raise `InvalidEntryError`, `AppendError`, `SessionLockedError`, `SessionRewrittenError`,
    `UnsupportedVersionError`, `ReadOnlySessionError` and `SessionClosedError`.
    """

    leaf_id: str | None
    """The current position; None stands above all roots. Set it by `branch` and `reset_leaf`."""

    _session: Cursor | None = None
    # The session that the cursor was made by: who holds a cursor holds it too, and a service keeps it open.

    def __init__(self, log: SessionLog, leaf_id: str | None) -> None:
        self._log = log
        self.leaf_id = leaf_id
        log.add_leaf(self)

    async def append_message(self, message: Mapping[str, Any], **options: Unpack[AppendOptions]) -> str:
        """Append a message in the file's own form (F-40)."""
        return await self._append(drafts.message(message), **options)

    async def append_many(
        self, messages: Iterable[Mapping[str, Any]], *, expected_leaf: str | UnsetType | None = UNSET
    ) -> list[str]:
        """Append messages as one batch: order kept, all or nothing of it acknowledged."""
        self._check_append(expected_leaf)
        wanted = [drafts.message(message) for message in messages]
        if not wanted:
            return []
        append = self._submit(wanted, self.leaf_id)
        await self._log.wait(append)
        return [entry.entry_id for entry in append.entries]

    async def append_thinking_level_change(
        self,
        level: str | None,
        configured: str | None = None,
        **options: Unpack[AppendOptions],
    ) -> str:
        """Append a change of the thinking level (F-41)."""
        return await self._append(drafts.thinking_level_change(level, configured), **options)

    async def append_model_change(
        self,
        model: str,
        role: str | None = None,
        **options: Unpack[AppendOptions],
    ) -> str:
        """Append a change of model, `provider/model`, for a role (F-42)."""
        return await self._append(drafts.model_change(model, role), **options)

    async def append_mode_change(
        self,
        mode: str,
        data: Mapping[str, Any] | None = None,
        **options: Unpack[AppendOptions],
    ) -> str:
        """Append a change of mode; `"none"` leaves it (F-50)."""
        return await self._append(drafts.mode_change(mode, data), **options)

    async def append_ttsr_injection(self, rules: Sequence[str], **options: Unpack[AppendOptions]) -> str:
        """Append the names of injected rules (F-49)."""
        return await self._append(drafts.ttsr_injection(rules), **options)

    async def append_service_tier_change(
        self,
        tier: Mapping[str, str] | str | None,
        **options: Unpack[AppendOptions],
    ) -> str:
        """Append a change of service tier (F-43)."""
        return await self._append(drafts.service_tier_change(tier), **options)

    async def append_custom_entry(
        self,
        custom_type: str,
        data: Any = None,
        **options: Unpack[AppendOptions],
    ) -> str:
        """Append data of an extension, never part of the context (F-46)."""
        return await self._append(drafts.custom_entry(custom_type, data), **options)

    async def append_custom_message_entry(
        self,
        custom_type: str,
        content: str | list[Any],
        display: bool,
        details: Any = None,
        **options: Unpack[AppendOptions],
    ) -> str:
        """Append a message of an extension, part of the context (F-47)."""
        draft = drafts.custom_message_entry(custom_type, content, display, details)
        return await self._append(draft, **options)

    async def append_compaction(
        self,
        summary: str,
        first_kept_entry_id: str,
        tokens_before: int | float,
        details: Any = None,
        from_extension: bool | None = None,
        short_summary: str | None = None,
        preserve_data: Mapping[str, Any] | None = None,
        **options: Unpack[AppendOptions],
    ) -> str:
        """Append a compaction: its summary, then the entries from the first kept one, make the context (F-44)."""
        draft = drafts.compaction(
            summary, first_kept_entry_id, tokens_before, details, from_extension, short_summary, preserve_data
        )
        return await self._append(draft, **options)

    async def append_label_change(
        self,
        target_id: str,
        label: str | None = None,
        **options: Unpack[AppendOptions],
    ) -> str:
        """Set or, without text, clear the label of an entry (T-51). Raises `EntryNotFoundError`."""
        self._log.check_writable()
        if not self._log.knows(target_id):
            raise EntryNotFoundError(target_id)
        return await self._append(drafts.label(target_id, label), **options)

    async def set_session_name(self, name: str, **options: Unpack[AppendOptions]) -> str:
        """Name the session, by a `session_info` entry at the leaf (F-55): pi shows it, oh-my-pi does not."""
        return await self._append(drafts.session_info(name), **options)

    async def branch_with_summary(
        self,
        from_id: str | None,
        summary: str,
        details: Any = None,
        from_extension: bool | None = None,
        *,
        expected_leaf: str | UnsetType | None = UNSET,
    ) -> str:
        """Move the leaf to an entry, or above all roots, and append a branch summary there (T-42).

        Raises `EntryNotFoundError`, with the leaf unchanged.
        """
        self._check_append(expected_leaf)
        if from_id is not None and not self._log.knows(from_id):
            raise EntryNotFoundError(from_id)
        draft = drafts.branch_summary(from_id, summary, details, from_extension)
        append = self._submit([draft], from_id)
        await self._log.wait(append)
        return append.entries[0].entry_id

    def branch(self, entry_id: str) -> None:
        """Move the leaf to an entry; nothing is written (T-40). Raises `EntryNotFoundError`, the leaf unchanged."""
        self._log.check_usable()
        if not isinstance(entry_id, str) or not self._log.knows(entry_id):
            raise EntryNotFoundError(entry_id)
        self._move_to(entry_id)

    def reset_leaf(self) -> None:
        """Move the leaf above all roots: the next append makes a new root; nothing is written (T-41)."""
        self._log.check_usable()
        self._move_to(None)

    def _move_to(self, leaf_id: str | None) -> None:
        self.leaf_id = leaf_id

    def path_ids(self, from_id: str | None = None, *, limit: int | None = None) -> list[str]:
        """Return the ids from the root to an entry, by default the leaf; empty for an unknown one (T-22).

        `limit`: at most so many, the nearest to the entry. Of a leaf that is on its way: the recorded part.
        """
        tree = self._log.projector.tree
        start = tree.find(from_id) if from_id is not None else self._log.nearest_recorded(self.leaf_id)
        if limit is None:
            return [tree.ids[seq] for seq in tree.path(start)]
        nearest = [tree.ids[seq] for seq in islice(tree.ancestors(start), limit)]
        nearest.reverse()
        return nearest

    def last_model_change_role(self) -> str | None:
        """Return the role of the newest model change on the current path, None where there is none (T-32)."""
        return self._log.projector.states.last_model_change_role(self._log.nearest_recorded(self.leaf_id))

    async def get_branch(self, from_id: str | None = None, *, signal: AbortSignal | None = None) -> list[SessionEntry]:
        """Return the entries from the root to an entry, by default the leaf; empty for an unknown one (T-22)."""

        async def read() -> list[SessionEntry]:
            start = await self._recorded(from_id if from_id is not None else UNSET)
            tree = self._log.projector.tree
            return await self._log.entries(tree.path(tree.find(start) if start is not None else ROOT), signal)

        return await self._log.reading(read)

    async def build_session_context(
        self,
        leaf_id: str | UnsetType | None = UNSET,
        *,
        keep_failed_turns: bool = False,
        signal: AbortSignal | None = None,
    ) -> SessionContext:
        """Return the context of a leaf, by default the current one; of None the empty context (C-01..C-42).

        Raises `EntryNotFoundError` for an unknown leaf.
        """

        async def read() -> SessionContext:
            leaf = await self._recorded(leaf_id)
            projector = self._log.projector
            window = context_window(projector.tree, projector.states, self._log.leaf_seq(leaf))
            bodies = await self._log.reader.read(window.needed, signal=signal)
            return build_context(window, bodies, keep_failed_turns=keep_failed_turns)

        return await self._log.reading(read)

    async def recorded_leaf(self) -> str | None:
        """Return the leaf; one that is on its way is waited for, and one that is never recorded falls back."""
        return await self._recorded(UNSET)

    async def _recorded(self, position: str | UnsetType | None) -> str | None:
        """Return the position that is meant, by default the leaf as it is now; one on its way is waited for.

        A leaf that is never recorded stands for the one that it fell back to.
        """
        while True:
            entry_id = self.leaf_id if position is UNSET else position
            if entry_id is None or not self._log.knows(entry_id):
                return entry_id
            try:
                await self._log.recorded_seq(entry_id)
            except EntryNotFoundError:
                continue
            return entry_id

    def _check_append(self, expected_leaf: str | UnsetType | None) -> None:
        self._log.check_writable()
        if expected_leaf is not UNSET and expected_leaf != self.leaf_id:
            raise ConcurrencyError(expected_leaf, self.leaf_id)

    async def _append(
        self, draft: Draft, *, expected_leaf: str | UnsetType | None = UNSET, entry_id: str | None = None
    ) -> str:
        if entry_id is not None:
            self._log.check_writable()
            if not isinstance(entry_id, str) or not entry_id:
                raise InvalidEntryError("entry_id must be a string, and not empty")
            if await self._log.find_same(draft, entry_id):
                return entry_id
        self._check_append(expected_leaf)
        append = self._submit([draft], self.leaf_id, entry_id)
        await self._log.wait(append)
        return append.entries[0].entry_id

    def _submit(
        self,
        wanted: Sequence[Draft],
        parent_id: str | None,
        entry_id: str | None = None,
    ) -> PendingAppend:
        """Hand over drafts, and move the leaf on them; when they are never recorded it goes back to where it is."""
        append = self._log.submit(wanted, parent_id, self.leaf_id, entry_id)
        self.leaf_id = append.entries[-1].entry_id
        return append
