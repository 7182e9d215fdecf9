-- Objects that `nearkin sql install` adds to the tables of a collection in PostgreSQL. {schema} is its schema.

CREATE OR REPLACE FUNCTION {schema}.asked_document(asked text, asker text) RETURNS {schema}.documents
LANGUAGE plpgsql STABLE SET search_path = {schema}, pg_temp AS $function$
DECLARE
    own documents;
BEGIN
    IF asked IS NULL THEN
        RAISE EXCEPTION '% takes the id of a document. Got NULL instead.', asker
            USING ERRCODE = 'invalid_parameter_value', HINT = format('SELECT * FROM {schema}.%s(''ID'')', asker);
    END IF;
    SELECT d.* INTO own FROM documents d WHERE d.doc_id = asked AND d.is_current;
    IF NOT FOUND THEN
        IF EXISTS (SELECT FROM documents d WHERE d.doc_id = asked) THEN
            RAISE EXCEPTION 'The document % was removed.', quote_literal(asked)
                USING ERRCODE = 'no_data_found', HINT = 'Add it again to bring it back, unless it was purged.';
        END IF;
        RAISE EXCEPTION 'There is no document %.', quote_literal(asked)
            USING ERRCODE = 'no_data_found', HINT = 'The ids are those of: SELECT doc_id FROM {schema}.indexed_documents';
    END IF;
    RETURN own;
END
$function$;
COMMENT ON FUNCTION {schema}.asked_document(text, text) IS
    'The current version of a document, for the function that takes its id.';

CREATE OR REPLACE FUNCTION {schema}.letter_counts(counts bytea) RETURNS integer[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog AS $function$
    SELECT coalesce(array_agg(
        get_byte(counts, 4 * place) + 256 * get_byte(counts, 4 * place + 1)
            + 65536 * get_byte(counts, 4 * place + 2) + 16777216 * get_byte(counts, 4 * place + 3)
        ORDER BY place
    ), '{}')
    FROM generate_series(0, octet_length(counts) / 4 - 1) AS place
$function$;
COMMENT ON FUNCTION {schema}.letter_counts(bytea) IS 'The letter counts of contents.counts, as numbers.';

CREATE OR REPLACE FUNCTION {schema}.squared_distance(a bytea, b bytea) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog AS $function$
DECLARE
    gap bigint;
    total bigint := 0;
BEGIN
    a := a || decode(repeat('00', octet_length(b) - octet_length(a)), 'hex');
    b := b || decode(repeat('00', octet_length(a) - octet_length(b)), 'hex');
    FOR byte IN 0 .. octet_length(a) - 4 BY 4 LOOP
        CONTINUE WHEN substr(a, byte + 1, 4) = substr(b, byte + 1, 4);
        gap := get_byte(a, byte) - get_byte(b, byte)
            + 256 * (get_byte(a, byte + 1) - get_byte(b, byte + 1))
            + 65536 * (get_byte(a, byte + 2) - get_byte(b, byte + 2))
            + 16777216 * (get_byte(a, byte + 3) - get_byte(b, byte + 3))::bigint;
        total := total + gap * gap;
    END LOOP;
    RETURN total;
END
$function$;
COMMENT ON FUNCTION {schema}.squared_distance(bytea, bytea) IS
    'The square of the Euclidean distance between two contents.counts, exact.';

CREATE OR REPLACE FUNCTION {schema}.letter_count(counts bytea, place integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $function$
    SELECT CASE WHEN octet_length(counts) <= 4 * place THEN 0
        ELSE get_byte(counts, 4 * place) + 256 * get_byte(counts, 4 * place + 1)
            + 65536 * get_byte(counts, 4 * place + 2) + 16777216 * get_byte(counts, 4 * place + 3)::bigint
        END
$function$;
COMMENT ON FUNCTION {schema}.letter_count(bytea, integer) IS 'One number of contents.counts.';

CREATE OR REPLACE FUNCTION {schema}.letters_length(counts bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog AS $function$
    SELECT coalesce(floor(sqrt(sum((get_byte(counts, byte) + 256 * get_byte(counts, byte + 1)
        + 65536 * get_byte(counts, byte + 2) + 16777216 * get_byte(counts, byte + 3)::bigint)::double precision ^ 2))), 0)
    FROM generate_series(0, octet_length(counts) - 4, 4) AS byte
$function$;
COMMENT ON FUNCTION {schema}.letters_length(bytea) IS 'The length of the vector of contents.counts, rounded down.';

CREATE INDEX IF NOT EXISTS contents_by_letters ON {schema}.contents
    ({schema}.letters_length(counts), {letter_counts}) WHERE is_counted;

CREATE OR REPLACE FUNCTION {schema}.refuse_gamma(gamma numeric, asker text, asked text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $function$
BEGIN
    IF gamma IS NULL OR gamma < 0 OR gamma >= 1 THEN  -- NaN is above all numbers
        RAISE EXCEPTION 'The ''gamma'' parameter of % must be {rule of letters}. Got % instead.',
            asker, coalesce(gamma::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('0.025 finds copies with small edits, 0.05 also texts of which many have other wording: SELECT * FROM {schema}.%s(%s, 0.05)', asker, asked);
    END IF;
END
$function$;
COMMENT ON FUNCTION {schema}.refuse_gamma(numeric, text, text) IS
    'Raises an error if a gamma is outside its limits, for the function that takes it.';

CREATE OR REPLACE FUNCTION {schema}.near_contents_by_letters(asked bigint, gamma numeric)
RETURNS TABLE (content bigint, squared_distance bigint)
LANGUAGE plpgsql STABLE ROWS 10 PARALLEL SAFE SET search_path = {schema}, pg_temp AS $function$
#variable_conflict use_column
DECLARE
    own record;
    most numeric;
    reach bigint;
BEGIN
    PERFORM refuse_gamma(gamma, 'near_contents_by_letters', 'CONTENT');
    SELECT c.counts, c.is_counted, letters_length(c.counts) AS length INTO own FROM contents c WHERE c.content = asked;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF NOT own.is_counted THEN  -- too few letters: like its equals only
        RETURN QUERY SELECT asked, NULL::bigint;
        RETURN;
    END IF;
    most := floor(gamma * gamma * squared_distance(own.counts, ''));
    reach := least(ceil(gamma * (own.length + 1)), 2147483648);
    RETURN QUERY
        SELECT found.content, found.square
        FROM (
            SELECT c.content, squared_distance(c.counts, own.counts) AS square
            FROM contents c
            WHERE c.is_counted
              AND letters_length(c.counts) BETWEEN own.length - reach - 1 AND own.length + reach + 1
              {conditions}
            OFFSET 0  -- the distance is worked out once
        ) AS found
        WHERE found.square <= most;
END
$function$;
COMMENT ON FUNCTION {schema}.near_contents_by_letters(bigint, numeric) IS
    'The contents within gamma of a content, itself among them, with the squares of their distances.';

CREATE OR REPLACE FUNCTION {schema}.similar_by_letters(asked text, gamma numeric DEFAULT 0.025)
RETURNS TABLE (
    similar_doc_id text, version integer, wave text, distance double precision, relative_distance double precision,
    is_same_text boolean, jaccard double precision, is_letters_only boolean
)
LANGUAGE plpgsql STABLE ROWS 10 SET search_path = {schema}, pg_temp AS $function$
#variable_conflict use_column
DECLARE
    own documents;
    own_square bigint;
BEGIN
    PERFORM refuse_gamma(gamma, 'similar_by_letters', '''ID''');
    own := asked_document(asked, 'similar_by_letters');
    SELECT squared_distance(c.counts, '') INTO own_square FROM contents c WHERE c.content = own.content AND c.is_counted;
    IF own_square IS NULL THEN
        RAISE NOTICE 'The document % has too few letters to be compared: only identical texts are listed.',
            quote_literal(asked);
    END IF;
    RETURN QUERY
        SELECT d.doc_id, d.version, w.name, sqrt(n.squared_distance::double precision),
               sqrt(n.squared_distance::double precision) / sqrt(own_square::double precision),
               n.content = own.content, words.jaccard, words.jaccard < 0.5
        FROM near_contents_by_letters(own.content, gamma) n
        JOIN documents d ON d.content = n.content AND d.is_current AND d.row <> own.row
        JOIN loads l ON l.load = d.load
        JOIN waves w ON w.wave = l.wave
        LEFT JOIN LATERAL (
            SELECT CASE WHEN n.content = own.content THEN 1 ELSE jaccard(mine.hashes, theirs.hashes) END AS jaccard
            FROM shingles mine, shingles theirs
            WHERE mine.content = own.content AND theirs.content = n.content
        ) AS words ON true
        ORDER BY n.squared_distance, n.content, d.row;
END
$function$;
COMMENT ON FUNCTION {schema}.similar_by_letters(text, numeric) IS
    'Current documents within gamma of one by letter counts, the nearest first: what nearkin similar ID --gamma lists. '
    'is_letters_only: the wording does not match (Jaccard similarity below 0.5).';

CREATE OR REPLACE FUNCTION {schema}.similar_by_index(
    si bigint, tolerance numeric DEFAULT 0.3, made_by text DEFAULT NULL
)
RETURNS TABLE (similar_doc_id text, version integer, wave text, similarity_index bigint)
LANGUAGE plpgsql STABLE SET search_path = {schema}, pg_temp AS $function$
#variable_conflict use_column
DECLARE
    own text[] := ARRAY(SELECT value FROM facts WHERE name IN ('index', 'similarity_index') ORDER BY name);
    low bigint;
    high bigint;
BEGIN
    IF si IS NULL THEN
        RAISE EXCEPTION 'similar_by_index takes a similarity index. Got NULL instead.'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'A text with too few words has none; similar_by_letters(ID, 0.05) compares letters instead.';
    END IF;
    IF tolerance IS NULL OR tolerance::text = 'NaN' OR tolerance <= 0 OR tolerance > {max_tolerance} THEN
        RAISE EXCEPTION
            'The ''tolerance'' parameter of similar_by_index must be {rule of index}. Got % instead.',
            coalesce(tolerance::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'The paper''s is 0.3.';
    END IF;
    IF made_by IS NOT NULL AND made_by <> ALL (own || split_part(own[1], ',', 1)) THEN
        RAISE EXCEPTION 'The similarity indexes of this collection are made by % (%), not by %.',
            own[1], own[2], made_by
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Numbers of two methods say nothing about one another; make the number by the same method.';
    END IF;
    low := greatest(floor(si - abs(tolerance * si)) + 1, -9223372036854775808);
    high := least(ceil(si + abs(tolerance * si)) - 1, 9223372036854775807);
    RETURN QUERY
        SELECT d.doc_id, d.version, d.wave, d.similarity_index
        FROM indexed_documents d
        WHERE d.similarity_index BETWEEN low AND high
        ORDER BY abs(d.similarity_index::numeric - si), d.content, d.row;
END
$function$;
COMMENT ON FUNCTION {schema}.similar_by_index(bigint, numeric, text) IS
    'The current documents whose similarity index is near a number, the nearest first; neither complete nor exact.';

CREATE OR REPLACE FUNCTION {schema}.letter_distance(a bigint, b bigint) RETURNS double precision
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = {schema}, pg_temp AS $function$
    SELECT sqrt(squared_distance(one.counts, other.counts)::double precision)
    FROM contents one, contents other
    WHERE one.content = a AND other.content = b AND one.is_counted AND other.is_counted
$function$;
COMMENT ON FUNCTION {schema}.letter_distance(bigint, bigint) IS
    'The distance of the letter counts of two contents; null if either has too few letters.';

CREATE OR REPLACE FUNCTION {schema}.relative_distance(a bigint, b bigint) RETURNS double precision
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = {schema}, pg_temp AS $function$
    SELECT letter_distance(a, b) / sqrt(squared_distance(counts, '')::double precision) FROM contents WHERE content = a
$function$;
COMMENT ON FUNCTION {schema}.relative_distance(bigint, bigint) IS
    'The same as a share of the length of the first.';

-- By wording: the exact Jaccard similarity of word 5-grams, from the stored sets of their hashes.

CREATE OR REPLACE FUNCTION {schema}.n_common(a bytea, b bytea) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog
SET enable_mergejoin = off AS $function$  -- it would sort the hashes
DECLARE
    one bytea := a || ''::bytea;  -- read from its own table once, not for each hash
    other bytea := b || ''::bytea;
BEGIN
    IF octet_length(one) % 8 <> 0 OR octet_length(other) % 8 <> 0 THEN
        RAISE EXCEPTION 'Sets of % and % bytes cannot be compared: a hash has 8 bytes.',
            octet_length(one), octet_length(other)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Both must be of one collection: shingles.hashes';
    END IF;
    RETURN (
        SELECT count(*)
        FROM (SELECT substr(one, 8 * place + 1, 8) FROM generate_series(0, octet_length(one) / 8 - 1) AS place)
            AS ours (hash)
        JOIN (SELECT substr(other, 8 * place + 1, 8) FROM generate_series(0, octet_length(other) / 8 - 1) AS place)
            AS theirs (hash) USING (hash)
    );
END
$function$;
COMMENT ON FUNCTION {schema}.n_common(bytea, bytea) IS 'The number of hashes that two shingles.hashes share.';

CREATE OR REPLACE FUNCTION {schema}.jaccard(a bytea, b bytea) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = {schema}, pg_temp AS $function$
DECLARE
    n_both bigint := n_common(a, b);
    n_all bigint := octet_length(a) / 8 + octet_length(b) / 8 - n_both;
BEGIN
    RETURN CASE WHEN n_all = 0 THEN 1 ELSE n_both::double precision / n_all END;
END
$function$;
COMMENT ON FUNCTION {schema}.jaccard(bytea, bytea) IS
    'The exact Jaccard similarity of two shingles.hashes; 1 if both are empty.';

CREATE OR REPLACE FUNCTION {schema}.refuse_missing_words() RETURNS void
LANGUAGE plpgsql STABLE SET search_path = {schema}, pg_temp AS $function$
DECLARE
    n_missing bigint := (SELECT max(content) + 1 FROM contents)
        - coalesce((SELECT value::bigint FROM facts WHERE name = 'shingles_end'), 0);
BEGIN
    IF n_missing > 0 THEN
        RAISE EXCEPTION 'The word 5-grams of % texts are not stored yet, so similar documents would be missed.',
            n_missing
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'An earlier Nearkin added them. Run: nearkin sql install COLLECTION';
    END IF;
END
$function$;
COMMENT ON FUNCTION {schema}.refuse_missing_words() IS 'Raises an error if a text has no row in shingles yet.';

CREATE OR REPLACE FUNCTION {schema}.refuse_threshold(threshold numeric, asker text, asked text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $function$
BEGIN
    IF threshold IS NULL OR threshold <= 0 OR threshold > 1 THEN  -- NaN is above all numbers
        RAISE EXCEPTION 'The ''threshold'' parameter of % must be {rule of jaccard}. Got % instead.',
            asker, coalesce(threshold::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('It is a Jaccard similarity: SELECT * FROM {schema}.%s(%s, 0.5)', asker, asked);
    END IF;
END
$function$;
COMMENT ON FUNCTION {schema}.refuse_threshold(numeric, text, text) IS
    'Raises an error if a Jaccard similarity is outside its limits, for the function that takes it.';

CREATE OR REPLACE FUNCTION {schema}.near_contents_by_jaccard(asked bigint, threshold numeric)
RETURNS TABLE (content bigint, jaccard double precision)
LANGUAGE plpgsql STABLE ROWS 10 SET search_path = {schema}, pg_temp
SET enable_mergejoin = off AS $function$  -- it would sort the hashes of all candidates
#variable_conflict use_column
DECLARE
    own bytea;
    n_own integer;
    own_hashes bytea[];
BEGIN
    PERFORM refuse_threshold(threshold, 'near_contents_by_jaccard', 'CONTENT');
    PERFORM refuse_missing_words();
    SELECT s.hashes || ''::bytea INTO own FROM shingles s WHERE s.content = asked;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    n_own := octet_length(own) / 8;
    RETURN QUERY SELECT asked, 1::double precision;
    IF n_own = 0 THEN  -- no words: like its equals only
        RETURN;
    END IF;
    own_hashes := ARRAY(
        SELECT substr(own, place, 8) FROM generate_series(1, octet_length(own), 8) AS place ORDER BY place
    );
    RETURN QUERY
        WITH candidates AS MATERIALIZED (
            SELECT s.content, n_theirs, n_needed,
                   -- without shared hashes, least(…) - n_needed would be enough to rule a candidate out
                   least(n_theirs, greatest(0, ceil(
                       1.1 * (least(n_own, n_theirs) - n_needed) * greatest(1, n_theirs::double precision / n_own)
                       + 2 * sqrt(n_theirs)
                   )))::integer AS n_read
            FROM (
                SELECT DISTINCT theirs.content
                FROM check_keys mine
                JOIN check_keys theirs ON theirs.key = mine.key
                WHERE mine.content = asked AND theirs.content <> asked
            ) AS sharing
            JOIN shingles s ON s.content = sharing.content
            CROSS JOIN LATERAL (SELECT octet_length(s.hashes) / 8 AS n_theirs) AS sizes
            CROSS JOIN LATERAL (
                SELECT (threshold / (1 + threshold))::double precision * (n_own + n_theirs) AS n_needed
            ) AS limits
            WHERE n_theirs + 1 >= threshold * n_own  -- other lengths cannot reach the threshold
              AND (n_theirs - 1) * threshold <= n_own
        ), first_parts AS (  -- OFFSET 0: each is read from the table once, not for each hash
            SELECT c.content, substr(s.hashes, 1, 8 * n_read) AS part
            FROM candidates c JOIN shingles s ON s.content = c.content OFFSET 0
        ), first_hashes AS (
            SELECT content, substr(part, generate_series(1, octet_length(part), 8), 8) AS hash FROM first_parts
        ), first_shared AS (
            SELECT content, count(*) AS n_shared
            FROM first_hashes JOIN unnest(own_hashes) AS ours (hash) USING (hash)
            GROUP BY content
        ), remaining AS MATERIALIZED (
            SELECT c.content, n_theirs, n_read, coalesce(n_shared, 0) AS n_shared
            FROM candidates c
            JOIN shingles s ON s.content = c.content
            LEFT JOIN first_shared f ON f.content = c.content
            -- both sets are sorted: what else is shared is greater than the last hash that was read
            WHERE coalesce(n_shared, 0) + 1 + least(
                n_theirs - n_read,
                n_own - width_bucket(substr(s.hashes, 8 * n_read - 7, 8), own_hashes)
            ) >= n_needed
        ), last_parts AS (
            SELECT r.content, substr(s.hashes, 8 * n_read + 1) AS part
            FROM remaining r JOIN shingles s ON s.content = r.content OFFSET 0
        ), last_hashes AS (
            SELECT content, substr(part, generate_series(1, octet_length(part), 8), 8) AS hash FROM last_parts
        ), last_shared AS (
            SELECT content, count(*) AS n_shared
            FROM last_hashes JOIN unnest(own_hashes) AS ours (hash) USING (hash)
            GROUP BY content
        )
        SELECT r.content, n_both / (n_own + n_theirs - n_both)
        FROM remaining r
        LEFT JOIN last_shared l ON l.content = r.content
        CROSS JOIN LATERAL (SELECT (r.n_shared + coalesce(l.n_shared, 0))::double precision AS n_both) AS totals
        WHERE n_both / (n_own + n_theirs - n_both) >= threshold::double precision;
END
$function$;
COMMENT ON FUNCTION {schema}.near_contents_by_jaccard(bigint, numeric) IS
    'Contents that share keys with a content, itself among them, and have at least this Jaccard similarity, exactly.';

CREATE OR REPLACE FUNCTION {schema}.similar_by_jaccard(asked text, threshold numeric DEFAULT 0.5)
RETURNS TABLE (
    similar_doc_id text, version integer, wave text, jaccard double precision, relative_distance double precision,
    is_same_text boolean
)
LANGUAGE plpgsql STABLE ROWS 10 SET search_path = {schema}, pg_temp AS $function$
#variable_conflict use_column
DECLARE
    own documents;
    n_bytes bigint;
BEGIN
    PERFORM refuse_threshold(threshold, 'similar_by_jaccard', '''ID''');
    own := asked_document(asked, 'similar_by_jaccard');
    SELECT octet_length(s.hashes) INTO n_bytes FROM shingles s WHERE s.content = own.content;
    IF NOT FOUND THEN
        PERFORM refuse_missing_words();
        RAISE EXCEPTION 'The stored text of the document % is damaged.', quote_literal(asked)
            USING ERRCODE = 'data_corrupted', HINT = 'Run: nearkin fsck COLLECTION';
    END IF;
    IF n_bytes = 0 THEN
        RAISE NOTICE 'The document % has no words to be compared: only identical texts are listed.',
            quote_literal(asked);
    END IF;
    RETURN QUERY
        SELECT d.doc_id, d.version, w.name, n.jaccard, relative_distance(own.content, n.content),
               n.content = own.content
        FROM near_contents_by_jaccard(own.content, threshold) n
        JOIN documents d ON d.content = n.content AND d.is_current AND d.row <> own.row
        JOIN loads l ON l.load = d.load
        JOIN waves w ON w.wave = l.wave
        ORDER BY n.jaccard DESC, n.content, d.row;
END
$function$;
COMMENT ON FUNCTION {schema}.similar_by_jaccard(text, numeric) IS
    'Current documents that share keys with one and have at least this Jaccard similarity, the most similar first.';

CREATE OR REPLACE FUNCTION {schema}.near_duplicates(
    asked text, measure text DEFAULT 'jaccard', threshold numeric DEFAULT NULL
)
RETURNS TABLE (
    similar_doc_id text, version integer, wave text, jaccard double precision, relative_distance double precision,
    is_same_text boolean, is_letters_only boolean
)
LANGUAGE plpgsql STABLE ROWS 10 SET search_path = {schema}, pg_temp AS $function$
#variable_conflict use_column
BEGIN
    IF measure = 'jaccard' THEN
        RETURN QUERY SELECT *, false FROM similar_by_jaccard(asked, coalesce(threshold, 0.5));
    ELSIF measure = 'letters' THEN
        PERFORM asked_document(asked, 'near_duplicates');
        PERFORM refuse_missing_words();
        RETURN QUERY
            SELECT n.similar_doc_id, n.version, n.wave, n.jaccard, n.relative_distance, n.is_same_text,
                   n.is_letters_only
            FROM similar_by_letters(asked, coalesce(threshold, 0.05)) n
            JOIN documents d ON d.doc_id = n.similar_doc_id AND d.is_current
            ORDER BY n.distance, d.content, d.row;
    ELSE
        RAISE EXCEPTION 'The ''measure'' parameter of near_duplicates must be ''jaccard'' or ''letters''. Got % instead.',
            coalesce(quote_literal(measure), 'NULL')
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'SELECT * FROM {schema}.near_duplicates(''ID'', ''letters'', 0.05)';
    END IF;
END
$function$;
COMMENT ON FUNCTION {schema}.near_duplicates(text, text, numeric) IS
    'similar_by_jaccard with a Jaccard similarity, or similar_by_letters with a gamma, in the same columns.';

CREATE OR REPLACE VIEW {schema}.near_duplicate_pairs AS
SELECT one.doc_id, other.doc_id AS similar_doc_id, near.jaccard,
       {schema}.relative_distance(one.content, near.content) AS relative_distance
FROM {schema}.documents AS one
CROSS JOIN LATERAL {schema}.near_contents_by_jaccard(one.content, 0.5) AS near
JOIN {schema}.documents AS other ON other.content = near.content AND other.is_current AND other.row <> one.row
WHERE one.is_current;
COMMENT ON VIEW {schema}.near_duplicate_pairs IS
    'Pairs with a Jaccard similarity of at least 0.5, from the side of each document. Quick with: WHERE doc_id = ''ID''';

CREATE OR REPLACE FUNCTION {schema}.grouping_by_jaccard(threshold numeric DEFAULT 0.5) RETURNS integer
LANGUAGE plpgsql STABLE SET search_path = {schema}, pg_temp AS $function$
DECLARE
    chosen record;
    n_new bigint;
BEGIN
    SELECT g.grouping AS number, g.seen_row INTO chosen
    FROM groupings g
    WHERE CASE WHEN g.tolerance LIKE 'jaccard %' THEN substr(g.tolerance, 9)::numeric = threshold END
    ORDER BY g.call DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There are no stored groups by Jaccard similarity with a threshold of %.', coalesce(threshold::text, 'NULL')
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = format('Run: nearkin groups COLLECTION --threshold %s', coalesce(threshold, 0.5));
    END IF;
    SELECT count(*) INTO n_new FROM documents d WHERE d.row >= chosen.seen_row AND d.is_current;
    IF n_new > 0 THEN
        RAISE NOTICE 'Documents added since the groups were last computed: %. Run: nearkin groups COLLECTION', n_new;
    END IF;
    RETURN chosen.number;
END
$function$;
COMMENT ON FUNCTION {schema}.grouping_by_jaccard(numeric) IS
    'The number of the stored groups by Jaccard similarity, with a notice if documents were added since they were computed.';

CREATE OR REPLACE VIEW {schema}.group_of_documents AS
WITH chosen AS MATERIALIZED (SELECT {schema}.grouping_by_jaccard(0.5) AS number),  -- called once, with one notice
stored_members AS MATERIALIZED (  -- the texts in groups
    SELECT own.content, m.group_number, max(m.row) FILTER (WHERE m.is_principal) AS principal
    FROM {schema}.members AS m JOIN chosen ON m.grouping = chosen.number JOIN {schema}.documents AS own ON own.row = m.row
    WHERE m.until IS NULL
    GROUP BY own.content, m.group_number
),
principals AS MATERIALIZED (  -- the member chosen last, the stored one, another version of it, the longest
    SELECT DISTINCT ON (m.group_number) m.group_number, member.doc_id
    FROM stored_members AS m
    JOIN {schema}.documents AS member ON member.content = m.content AND member.is_current
    JOIN {schema}.contents AS c ON c.content = m.content
    LEFT JOIN stored_members AS g ON g.group_number = m.group_number AND g.principal IS NOT NULL
    LEFT JOIN {schema}.documents AS stored ON stored.row = g.principal
    LEFT JOIN {schema}.changes AS made ON made.is_current AND made.kind = 'principal' AND made.subject = member.doc_id
    ORDER BY m.group_number, made.now::bigint DESC NULLS LAST, member.row IS DISTINCT FROM stored.row,
        member.doc_id IS DISTINCT FROM stored.doc_id, c.n_letters + c.n_other_letters DESC, member.row
)
SELECT d.doc_id,
       CASE WHEN m.group_number IS NULL THEN 'document ' || d.doc_id ELSE 'group ' || m.group_number END AS group_key,
       coalesce(principal.doc_id, d.doc_id) AS principal_doc_id,
       coalesce(principal.doc_id = d.doc_id, true) AS is_principal
FROM {schema}.documents AS d
LEFT JOIN stored_members AS m ON m.content = d.content
LEFT JOIN principals AS principal ON principal.group_number = m.group_number
WHERE d.is_current;
COMMENT ON VIEW {schema}.group_of_documents IS
    'The group by Jaccard similarity of each current document, as nearkin groups last stored it; without a group, a key of its own.';
