"""The cleaned corpus, which ``nearkin regroup`` does not write."""

from __future__ import annotations

from nearkin.manifests.dedup import DedupManifest


def no_kept_corpus_text(told: DedupManifest) -> str:
    """Say that no cleaned corpus was written, and which command writes it.

    Examples
    --------
    >>> no_kept_corpus_text(DedupManifest(parameters={"threshold": 0.9, "group": "component"}))[:66]
    'No cleaned corpus was written. For one, repeat nearkin dedup with '
    """
    options = " ".join(
        f"--{name} {told.parameters[name]}" for name in ("threshold", "group") if name in told.parameters
    )
    return (
        f"No cleaned corpus was written. For one, repeat nearkin dedup with {options} --write-kept and another --out."
    )
