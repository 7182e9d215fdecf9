-- Documents whose similarity index is near that of one document, the nearest first, at tolerance {tolerance}.
-- The rule is M. Scott Roth's; it is neither complete nor exact: one number is weak evidence.
WITH asked AS (
    SELECT content, similarity_index, {reach} AS reach
    FROM {schema}indexed_documents
    WHERE doc_id = {doc_id}
), near AS (
    SELECT found.doc_id, found.version, found.wave, found.content, found.similarity_index, found."row",
           asked.similarity_index AS asked_index
    FROM asked
    {join} {schema}indexed_documents AS found
        ON found.similarity_index BETWEEN {low} AND {high}
        AND asked.reach >= 0
    UNION  -- a text without an index, or with index 0, matches only equal texts
    SELECT found.doc_id, found.version, found.wave, found.content, found.similarity_index, found."row",
           asked.similarity_index
    FROM asked
    {join} {schema}indexed_documents AS found ON found.content = asked.content
)
SELECT doc_id AS similar_doc_id, version, wave, similarity_index
FROM near
WHERE doc_id <> {doc_id}
ORDER BY {difference}, content, "row";
