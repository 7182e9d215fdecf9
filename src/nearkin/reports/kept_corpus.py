"""Remark about a cleaned corpus that ``nearkin regroup`` did not write."""

from __future__ import annotations

from nearkin.manifests.dedup import DedupManifest
from nearkin.paths import STDIN

_IN_MEMORY, _RESULTS = "table", "results"


def no_kept_corpus_text(told: DedupManifest) -> str:
    """Say that no cleaned corpus was written, and which command writes it; nothing if it was written.

    Examples
    --------
    >>> told = DedupManifest(parameters={"threshold": 0.9, "group": "component"})
    >>> no_kept_corpus_text(told)
    'No cleaned corpus was written. For one, repeat the command with --write-kept and --overwrite.'
    >>> from dataclasses import replace
    >>> from nearkin.manifests.inputs import InputFile
    >>> no_kept_corpus_text(replace(told, inputs=(InputFile(path="-"),)))[:66]
    'No cleaned corpus was written. For one, repeat nearkin dedup with '
    """
    if told.kept is not None:
        return ""
    said = "No cleaned corpus was written."
    if any(one.format == _RESULTS for one in told.inputs):  # their files have an unknown format
        return said
    if any(one.path == STDIN or one.format == _IN_MEMORY for one in told.inputs):  # these cannot be read again
        options = " ".join(
            f"--{name} {told.parameters[name]}" for name in ("threshold", "group") if name in told.parameters
        )
        return f"{said} For one, repeat nearkin dedup with {options} --write-kept and another --out."
    return f"{said} For one, repeat the command with --write-kept and --overwrite."
