"""Counts of a load in progress."""

from __future__ import annotations

from dataclasses import dataclass

_N_NAMED = 5


@dataclass(slots=True)
class Figures:
    """Counts of a load so far."""

    n_new: int = 0
    n_restored: int = 0
    first_restored: tuple[str, ...] = ()
    n_new_versions: int = 0
    n_unchanged: int = 0
    n_problems: int = 0
    n_erased: int = 0
    n_repeated: int = 0
    n_same_again: int = 0
    n_earlier_texts: int = 0
    n_repaired: int = 0
    n_not_stored: int = 0
    n_listed_before: int = 0
    n_changed_places: int = 0
    first_changed_places: tuple[str, ...] = ()
    n_unlike: int = 0
    first_unlike: tuple[str, ...] = ()
    n_replaced: int = 0
    first_replaced: tuple[str, ...] = ()
    n_shared_ids: int = 0
    first_shared_id: str | None = None

    def count_unchanged(self, *, is_repeated: bool) -> None:
        """Count a document whose text is stored, also if the same load had it before."""
        self.n_unchanged += 1
        self.n_same_again += is_repeated

    def count_changed_place(self, doc_id: str) -> None:
        """Count a document that changed, and is named after its place."""
        self.n_changed_places += 1
        self.first_changed_places = (*self.first_changed_places, doc_id)[:_N_NAMED]

    def count_replaced(self, doc_id: str) -> None:
        """Count an unchanged document whose added text another wave has replaced."""
        self.n_replaced += 1
        self.first_replaced = (*self.first_replaced, doc_id)[:_N_NAMED]

    def count_unlike(self, doc_id: str) -> None:
        """Count a changed document whose text has nothing in common with the one before."""
        self.n_unlike += 1
        self.first_unlike = (*self.first_unlike, doc_id)[:_N_NAMED]

    def count_new(self, doc_id: str, *, is_restored: bool) -> None:
        """Count a document whose id was not stored, or had been removed; restored if it had the text before."""
        self.n_new += 1
        if is_restored:
            self.n_restored += 1
            self.first_restored = (*self.first_restored, doc_id)[:_N_NAMED]
