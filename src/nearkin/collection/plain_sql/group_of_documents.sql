-- The stored group of each current document, at {tolerance}; a document outside of groups has a key of its own.
-- To keep one document of each group in a list, join it on doc_id, and of each group_key keep the row with is_principal,
-- or else any. The groups are those of the latest: nearkin groups COLLECTION {options}
WITH found AS (
    SELECT MAX("grouping") AS number FROM {schema}groupings WHERE tolerance = {stored}
), chosen AS (
    SELECT CASE WHEN number IS NULL THEN {missing} ELSE number END AS number FROM found
), picked AS (
    SELECT subject AS doc_id, MAX(CAST(value AS BIGINT)) AS number
    FROM {schema}decisions
    WHERE kind = 'principal'
    GROUP BY subject
), current_members AS (
    SELECT documents.doc_id, members.group_number,
           ROW_NUMBER() OVER (
               PARTITION BY members.group_number
               ORDER BY CASE
                   WHEN documents."row" = grouped.principal THEN 0
                   WHEN documents.doc_id = stored.doc_id THEN 1  -- another version of a principal that was replaced
                   ELSE 2
               END,
               COALESCE(picked.number, 0) DESC,  -- of a principal that is gone: the member that was chosen last,
               contents.n_letters + contents.n_other_letters DESC,  -- or else the longest one
               documents."row"
           ) AS place
    FROM chosen
    JOIN {schema}members ON members."grouping" = chosen.number
    JOIN {schema}"groups" AS grouped
        ON grouped."grouping" = members."grouping" AND grouped.group_number = members.group_number
    JOIN {schema}documents AS stored ON stored."row" = grouped.principal
    JOIN {schema}documents ON documents.content = members.content AND documents.is_current
    JOIN {schema}contents ON contents.content = members.content
    LEFT JOIN picked ON picked.doc_id = documents.doc_id
)
SELECT documents.doc_id,
       CASE WHEN member.group_number IS NULL THEN 'document ' || documents.doc_id
            ELSE 'group ' || member.group_number END AS group_key,
       COALESCE(principal.doc_id, documents.doc_id) AS principal_doc_id,
       COALESCE(member.place, 1) = 1 AS is_principal
FROM {schema}documents
CROSS JOIN chosen
LEFT JOIN current_members AS member ON member.doc_id = documents.doc_id
LEFT JOIN current_members AS principal ON principal.group_number = member.group_number AND principal.place = 1
WHERE documents.is_current
ORDER BY documents."row";
