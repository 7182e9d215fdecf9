"""Documents without meaning, in families: texts of made-up words, with copies in which a few words differ."""

from __future__ import annotations

import random

_LETTERS = "eeettaaooiinnssrrhhldcumfpgwybvk"


class Prose:
    """Words, and texts of them; the same for a seed."""

    def __init__(self, seed: int, n_words: int = 600) -> None:
        self.rng = random.Random(seed)
        self.words = ["".join(self.rng.choices(_LETTERS, k=self.rng.randint(2, 9))) for _ in range(n_words)]

    def text(self, n_words: int) -> str:
        return " ".join(self.rng.choices(self.words, k=n_words)).capitalize()

    def altered(self, text: str, n_changes: int) -> str:
        words = text.split()
        for _ in range(n_changes):
            words[self.rng.randrange(len(words))] = self.rng.choice(self.words)
        return " ".join(words)

    def families(self, n_families: int) -> list[tuple[str, str]]:
        """Ids and texts: of each family an original, and up to three copies with up to three changes."""
        documents = []
        for family in range(n_families):
            original = self.text(self.rng.choice([20, 60, 150, 400]))
            documents.append((f"f{family}", original))
            for copy in range(self.rng.randint(0, 3)):
                documents.append((f"f{family}/copy-{copy}", self.altered(original, self.rng.randint(0, 3))))
        return documents
