"""Functions that read the table of documents: a new one compares rows with their checksums, or says here why not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import nearkin

PACKAGE = Path(nearkin.__file__).parent
MAY_READ = re.compile(r"documents\s*\.\s*(?:c|join|outerjoin)\b|schema|FROM|JOIN|UPDATE")
"""What the source of a module contains if one of its functions reads the table; the others need no parsing."""
IN_SQL = re.compile(r"\b(?:FROM|JOIN|UPDATE) documents\b")
COMPARES = {
    "contents_of_current", "current_contents_among_known", "current_documents", "current_ids",
    "current_ids_among_known", "current_rows", "document_rows", "refuse_changed_documents", "refuse_hidden",
    "refuse_omitted_documents", "rows_where", "with_documents",
}  # fmt: skip
WITHOUT = {
    "makes conditions or columns of queries whose rows are compared, or whose numbers only fsck checks": {
        "collection/check_in/shared_keys.py": "_is_current",
        "collection/decisions/purging.py": "_erase _origins_of",
        "collection/listing/conditions.py": "_has_tag _is_copy condition _is_in_group",
        "collection/listing/lists.py": "_with_groups _with_copies _sorted",
        "collection/stored/document_rows.py": "_hidden _is_hidden _rows",
        "collection/stored/documents.py": "is_newest with_documents",
        "collection/word_search/searching.py": "_of_wave",
    },
    "chooses texts, or groups, whose documents are read and compared afterwards": {
        "collection/check_in/candidates.py": "_sizes_of_current _nearest",
        "collection/decisions/principals.py": "propose_anew",
        "collection/listing/details.py": "_group_of",
        "collection/word_search/searching.py": "_with_document",
    },
    "called after all rows were compared, or the rows that it reads": {
        "collection/decisions/for_groups.py": "_former _decided_since",
        "collection/groups/changes.py": "_arrived _departed _gone_members ids_of_missing",
        "collection/groups/current.py": "make_principal _rows_of _waves_since",
        "collection/groups/replaced.py": "replaced_members",
        "collection/groups/returned_principals.py": "returned_principals",
        "collection/groups/since.py": "_refuse_other_groups",
        "collection/stored/group_state.py": "n_rows live_contents new_contents",
        "workflows/auditing/collection.py": "_named",
        "workflows/reading/collection_documents.py": "is_without_text _current",
    },
    "compares, repairs or sets aside the rows itself": {
        "collection/decisions/purging.py": "_planned_in_damage",
        "collection/decisions/purging_damaged.py": "_changed_rows _without_document end_changed_rows raw_rows",
        "collection/loads/loading.py": "begin _remove_gone _record_stored",
        "collection/loads/writing.py": "write",
        "collection/stored/document_rows.py": (
            "refuse_changed_documents refuse_hidden refuse_omitted_documents rows_where"
        ),
        "collection/stored/documents.py": "refuse_changed refuse_changed_waves_of refuse_missing_documents",
        "collection/stored/newest.py": "newest_of _set_current",
        "collection/stored/removed_rows.py": "remove_current",
        "store/load_waves.py": "waves_of_loads",
        "store/integrity.py": "check wrong_current _rows dangling _without_text",
        "store/mending.py": "mend_current mend_document",
        "store/sealing.py": "seal_everything _seal_documents",
    },
    "reads what its own transaction wrote": {"collection/check_in/storing.py": "_stored"},
    "counts rows, or finds the last one": {
        "collection/groups/listed.py": "_n_not_grouped _count",
        "collection/groups/since.py": "_n_not_grouped _n_new_versions",
        "collection/info.py": "_counted documents_by_extractor",
        "collection/listing/lists.py": "n_listed n_not_grouped",
        "collection/stored/group_history.py": "last_load_before",
        "store/creation.py": "is_empty _is_removable",
        "store/store.py": "_has_tables",
        "web/current.py": "_counted stored",
        "workflows/families/of_collection.py": "_counts",
    },
    "names documents in a message or an example": {
        "collection/plain_sql.py": "_example",
        "collection/stored/contents.py": "_damaged_text_of",
        "collection/stored/documents.py": "_refuse_damaged is_removed _unknown",
        "collection/loads/shared_ids.py": "place_of",
        "collection/stored/origins.py": "refuse_missing_origins",
        "collection/stored/purged.py": "faults_of_purges",
        "collection/stored_texts.py": "documents_with",
    },
    "its callers compare the rows that it finds": {"collection/stored/inside.py": "documents_inside"},
    "only fsck detects such a row, as the guide says": {
        "collection/listing/exceptions.py": "_files_without_exception _of_origins",
        "collection/listing/family.py": "family_of",
    },
    "chooses whether decisions are read": {
        "collection/decisions/contradictions.py": "contradiction_of_version",
    },
}


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions and methods of a module; functions inside of them belong to them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        else:
            yield from _functions(node)


def _is_table(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "documents"


def _reads(function: ast.AST) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and node.attr == "documents" and ast.unparse(node.value) == "schema":
            return True
        if isinstance(node, ast.Attribute) and node.attr in {"c", "join", "outerjoin"} and _is_table(node.value):
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and IN_SQL.search(node.value):
            return True
    return False


def _compares(function: ast.AST) -> bool:
    called = {ast.unparse(node.func).split(".")[-1] for node in ast.walk(function) if isinstance(node, ast.Call)}
    return bool(called & COMPARES)


def test_every_function_that_reads_documents_compares_rows_or_is_known() -> None:
    without = {
        f"{path.relative_to(PACKAGE)}:{function.name}"
        for path in PACKAGE.rglob("*.py")
        if MAY_READ.search(text := path.read_text(encoding="utf-8"))
        for function in _functions(ast.parse(text))
        if _reads(function) and not _compares(function)
    }
    known = {f"{file}:{name}" for files in WITHOUT.values() for file, names in files.items() for name in names.split()}
    assert without <= known, sorted(without - known)
    assert known <= without, sorted(known - without)


def test_a_query_without_comparison_is_noticed_beside_a_function_that_compares() -> None:
    module = ast.parse(
        "def one(connection):\n    document_rows(connection, documents.c.row, [1])\n"
        "def other(connection):\n    connection.execute(select(documents.c.row))\n"
    )
    assert [one.name for one in _functions(module) if _reads(one) and not _compares(one)] == ["other"]
