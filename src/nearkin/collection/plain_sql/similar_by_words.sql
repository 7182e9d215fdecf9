-- Documents whose wording is like that of one document, the most similar first: Jaccard similarity of word 5-grams of at
-- least {threshold}, computed exactly. Candidates share keys with the document, so a few similar ones may be missing.
-- The tables shingles and check_keys are filled by: nearkin sql install COLLECTION
WITH RECURSIVE asked AS MATERIALIZED (
    SELECT documents.content, {hashes} AS hashes, {n_hashes} AS n_hashes
    FROM {schema}documents
    LEFT JOIN {schema}shingles ON shingles.content = documents.content
    WHERE documents.doc_id = {doc_id} AND documents.is_current
      AND CASE
          WHEN (SELECT MAX(content) + 1 FROM {schema}contents) > COALESCE(
              (SELECT CAST(value AS BIGINT) FROM {schema}facts WHERE name = 'shingles_end'), 0
          ) THEN {incomplete}
          WHEN shingles.content IS NULL THEN {damaged}
          ELSE TRUE
      END
), candidates AS MATERIALIZED (
    SELECT shingles.content, {hashes} AS hashes, {n_hashes} AS n_hashes
    FROM (
        SELECT DISTINCT found.content, asked.n_hashes
        FROM asked
        {join} {schema}check_keys AS own ON own.content = asked.content
        {join} {schema}check_keys AS found ON found."key" = own."key"
    ) AS sharing
    {join} {schema}shingles ON shingles.content = sharing.content
    WHERE {n_hashes} + 1 >= {threshold} * sharing.n_hashes  -- other lengths cannot reach the threshold
      AND ({n_hashes} - 1) * {threshold} <= sharing.n_hashes
), {places}ours AS MATERIALIZED (
    {of_asked}
), shared AS MATERIALIZED (
    {shared}
), near AS MATERIALIZED (
    SELECT shared.content,
           CAST(shared.n_both AS DOUBLE PRECISION)
               / NULLIF(asked.n_hashes + shared.n_hashes - shared.n_both, 0) AS jaccard
    FROM shared CROSS JOIN asked
    UNION ALL  -- a text without words matches only equal texts
    SELECT content, CAST(1 AS DOUBLE PRECISION) FROM asked WHERE n_hashes = 0
)
SELECT documents.doc_id AS similar_doc_id, documents.version, waves.name AS wave, near.jaccard,
       near.content = asked.content AS is_same_text
FROM near
CROSS JOIN asked
{join} {schema}documents ON documents.content = near.content AND documents.is_current
{join} {schema}loads ON loads.load = documents.load
{join} {schema}waves ON waves.wave = loads.wave
WHERE near.jaccard >= {threshold} AND documents.doc_id <> {doc_id}
ORDER BY near.jaccard DESC, near.content, documents."row";
