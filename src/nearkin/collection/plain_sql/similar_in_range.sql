-- All documents whose letter counts are within gamma {gamma} of those of one document, nearest first.
-- Letters only: the wording is not compared, and can differ. Without --gamma and --measure letters, it is compared.
-- The conditions on profiles lose nothing, as counts and lengths differ by at most the distance; the distance is
-- then computed exactly from the counts, which are little-endian 32-bit numbers.
WITH RECURSIVE places(place) AS (
    {places}
), asked AS MATERIALIZED (
    SELECT contents.content, contents.is_counted, {digits} AS digits,
           {most} AS most,
           {reach} AS reach,
           profiles.squared_length,
           {columns}
    FROM {schema}documents
    JOIN {schema}contents ON contents.content = documents.content
    JOIN {schema}profiles ON profiles.content = documents.content
    WHERE documents.doc_id = {doc_id} AND documents.is_current
), asked_counts AS MATERIALIZED (
    SELECT place, {asked_count} AS n
    FROM asked CROSS JOIN places
    WHERE {has_place}
), candidates AS MATERIALIZED (
    SELECT found.content, {digits} AS digits
    FROM asked
    {join} {schema}profiles AS found
        ON found.length BETWEEN asked.length - asked.reach - 1 AND asked.length + asked.reach + 1
        {conditions}
    JOIN {schema}contents ON contents.content = found.content
), gaps AS MATERIALIZED (
    SELECT candidates.content, {candidate_count} - asked_counts.n AS gap
    FROM candidates CROSS JOIN asked_counts
), near AS MATERIALIZED (
    SELECT measured.content, measured.squared_distance
    FROM (SELECT content, SUM(gap * gap) AS squared_distance FROM gaps GROUP BY content) AS measured
    JOIN asked ON measured.squared_distance <= asked.most
    UNION ALL  -- a text with too few letters matches only equal texts
    SELECT content, NULL FROM asked WHERE NOT is_counted
)
SELECT documents.doc_id AS similar_doc_id, documents.version, waves.name AS wave,
       SQRT(CAST(near.squared_distance AS DOUBLE PRECISION)) AS distance,
       SQRT(CAST(near.squared_distance AS DOUBLE PRECISION)) / SQRT(CAST(asked.squared_length AS DOUBLE PRECISION))
           AS relative_distance,
       near.content = asked.content AS is_same_text
FROM near
CROSS JOIN asked
{join} {schema}documents ON documents.content = near.content AND documents.is_current
{join} {schema}loads ON loads.load = documents.load
{join} {schema}waves ON waves.wave = loads.wave
WHERE documents.doc_id <> {doc_id}
ORDER BY near.squared_distance, near.content, documents."row";
