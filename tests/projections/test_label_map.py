"""The label map: global, folded line by line, the last one wins (T-50..T-53)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Factory = Callable[..., Any]
USER = {"type": "message", "message": {"role": "user", "content": "q"}}


def label(target: Any, text: Any = "x") -> dict[str, Any]:
    return {"type": "label", "targetId": target, "label": text}


def labels(fed: Any) -> list[tuple[str, str]]:
    """In the order of the map."""
    return list(fed.projector.labels.by_target.items())


def test_a_label_is_set_and_the_last_one_wins(fed_log: Factory, chain: Factory) -> None:
    """T-50, X-31, X-33."""
    fed = fed_log(chain(USER, label("e1", "one"), label("e1", "two"))).feed()
    assert labels(fed) == [("e1", "two")]


def test_no_text_clears_a_label_and_clearing_none_is_no_fault(fed_log: Factory, chain: Factory) -> None:
    """T-50, X-32: absent, null and empty alike."""
    clears = [{"type": "label", "targetId": "e1"}, label("e1", None), label("e1", "")]
    for clear in clears:
        fed = fed_log(chain(USER, label("e1"), clear, clear)).feed()
        assert labels(fed) == []
        assert fed.projector.report().faults == []


def test_labels_count_whatever_branch_they_stand_on(fed_log: Factory, chain: Factory) -> None:
    """T-50: global to the file, in its order."""
    side = chain(label("e1", "side"), first=4, parent="e1")
    fed = fed_log([*chain(USER, USER, label("e1", "trunk")), *side]).feed()
    assert labels(fed) == [("e1", "side")]


def test_the_map_has_the_order_of_first_setting_and_clearing_starts_anew(fed_log: Factory, chain: Factory) -> None:
    """T-62: setting again keeps the place, deleting and setting again moves to the end."""
    fed = fed_log(chain(USER, USER, USER, label("e1"), label("e2"), label("e3"), label("e1", "again"))).feed()
    assert labels(fed) == [("e1", "again"), ("e2", "x"), ("e3", "x")]
    fed.add(*chain(label("e2", ""), label("e2", "back"), first=8, parent="e7"))
    assert labels(fed) == [("e1", "again"), ("e3", "x"), ("e2", "back")]


def test_labels_may_target_any_entry_and_are_not_trimmed(fed_log: Factory, chain: Factory) -> None:
    """T-52, T-53: other labels and themselves too."""
    fed = fed_log(chain(USER, label("e1", " x "), label("e2", " "), label("e4"))).feed()
    assert labels(fed) == [("e1", " x "), ("e2", " "), ("e4", "x")]
    assert fed.projector.report().faults == []


def test_labels_are_no_part_of_the_context(fed_log: Factory, chain: Factory) -> None:
    """T-52, C-24, X-37."""
    fed = fed_log(chain(USER, label("e1"), USER, label("e3", None))).feed()
    assert [message["role"] for message in fed.context("e4").messages] == ["user", "user"]


def test_a_label_without_a_known_target_is_kept_and_reported(fed_log: Factory, chain: Factory) -> None:
    """T-50 as settled: no effect on the tree; the target may still come."""
    fed = fed_log(chain(USER, label("ghost"), {"type": "label", "label": "x"}, label("late"), USER)).feed()
    assert labels(fed) == [("ghost", "x"), ("late", "x")]
    report = fed.projector.report()
    assert [(fault.line, fault.kind, fault.id) for fault in report.faults] == [
        (3, "label-target", "e2"),
        (4, "label-target", "e3"),
        (5, "label-target", "e4"),
    ]
    assert [fault.detail for fault in report.faults] == [
        "its target ghost is not in the file",
        "names no target",
        "its target late is not in the file",
    ]
    fed.add({**USER, "id": "late", "parentId": "e5", "timestamp": "2026-01-05T10:00:09.000Z"})
    assert [fault.id for fault in fed.projector.report().faults] == ["e2", "e3"]


def test_labels_fold_line_by_line_where_an_id_stands_again(fed_log: Factory, chain: Factory) -> None:
    """F-87 as settled: a label line that was replaced was set all the same."""
    entries = chain(USER, USER, label("e1", "first"), USER)
    fed = fed_log([*entries, {**entries[2], "targetId": "e2", "label": "second"}]).feed()
    assert labels(fed) == [("e1", "first"), ("e2", "second")]


def test_a_label_of_the_wrong_kind_sets_nothing(fed_log: Factory, chain: Factory) -> None:
    """F-48, F-56 as settled."""
    fed = fed_log(chain(USER, label("e1"), label("e1", 5), label(5, "y"), label("e1", ["y"]))).feed()
    assert labels(fed) == [("e1", "x")]
