-- Objects that `nearkin sql install` adds to the tables of a collection in PostgreSQL. {schema} is its schema.

DO $migration$  -- objects of earlier versions, whose columns had other names
BEGIN
    IF EXISTS (
        SELECT FROM pg_proc
        WHERE pronamespace = '{schema}'::regnamespace AND proname = 'similar_by_index' AND 'doc_id' = ANY (proargnames)
    ) THEN
        DROP FUNCTION {schema}.similar_by_index(bigint, numeric, text);
    END IF;
    IF EXISTS (
        SELECT FROM pg_proc
        WHERE pronamespace = '{schema}'::regnamespace AND proname IN ('similar_documents', 'near_duplicates')
          AND 'is_letters_only' <> ALL (coalesce(proargnames, ARRAY['']))
    ) THEN
        DROP FUNCTION IF EXISTS {schema}.similar_documents(text, numeric);
        DROP FUNCTION IF EXISTS {schema}.near_duplicates(text, text, numeric);
    END IF;
    IF EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = to_regclass('{schema}.near_duplicate_pairs') AND attname = 'distance'
    ) THEN
        DROP VIEW {schema}.near_duplicate_pairs;
    END IF;
    IF EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = to_regclass('{schema}.look_alikes') AND attname = 'other_doc_id' AND NOT attisdropped
    ) THEN
        ALTER TABLE {schema}.look_alikes RENAME COLUMN other_doc_id TO similar_doc_id;
        ALTER TABLE {schema}.look_alikes ADD COLUMN jaccard double precision;
    END IF;
    IF to_regclass('{schema}.look_alikes') IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = to_regclass('{schema}.look_alikes') AND attname = 'is_letters_only' AND NOT attisdropped
    ) THEN
        ALTER TABLE {schema}.look_alikes ADD COLUMN is_letters_only boolean;
    END IF;
    IF to_regclass('{schema}.look_alikes') IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = to_regclass('{schema}.look_alikes') AND attname = 'measure' AND NOT attisdropped
    ) THEN
        ALTER TABLE {schema}.look_alikes ADD COLUMN measure text, ADD COLUMN threshold numeric;
    END IF;
END
$migration$;

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
    SELECT array_agg(
        get_byte(counts, 4 * place) + 256 * get_byte(counts, 4 * place + 1)
            + 65536 * get_byte(counts, 4 * place + 2) + 16777216 * get_byte(counts, 4 * place + 3)
        ORDER BY place
    )
    FROM generate_series(0, octet_length(counts) / 4 - 1) AS place
$function$;
COMMENT ON FUNCTION {schema}.letter_counts(bytea) IS 'The letter counts of contents.counts, as numbers.';

CREATE OR REPLACE FUNCTION {schema}.squared_distance(a bytea, b bytea) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog AS $function$
DECLARE
    gap bigint;
    total bigint := 0;
BEGIN
    IF octet_length(a) <> octet_length(b) THEN
        RAISE EXCEPTION 'Letter counts of % and % bytes cannot be compared.', octet_length(a), octet_length(b)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Both must be of one collection: contents.counts';
    END IF;
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

CREATE OR REPLACE FUNCTION {schema}.refuse_gamma(gamma numeric, asker text, asked text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $function$
BEGIN
    IF gamma IS NULL OR gamma < 0 OR gamma >= 1 THEN  -- NaN is above all numbers
        RAISE EXCEPTION 'The ''gamma'' parameter of % must be {rule of range}. Got % instead.',
            asker, coalesce(gamma::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('0.025 finds copies with small edits, 0.05 also texts of which many have other wording: SELECT * FROM {schema}.%s(%s, 0.05)', asker, asked);
    END IF;
END
$function$;
COMMENT ON FUNCTION {schema}.refuse_gamma(numeric, text, text) IS
    'Raises an error if a gamma is outside its limits, for the function that takes it.';

CREATE OR REPLACE FUNCTION {schema}.near_contents(asked bigint, gamma numeric)
RETURNS TABLE (content bigint, squared_distance bigint)
LANGUAGE plpgsql STABLE ROWS 10 PARALLEL SAFE SET search_path = {schema}, pg_temp AS $function$
#variable_conflict use_column
DECLARE
    own record;
    most numeric;
    reach bigint;
BEGIN
    PERFORM refuse_gamma(gamma, 'near_contents', 'CONTENT');
    SELECT p.*, c.counts INTO own FROM profiles p JOIN contents c ON c.content = p.content WHERE p.content = asked;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF own.length IS NULL THEN  -- too few letters: like its equals only
        RETURN QUERY SELECT asked, NULL::bigint;
        RETURN;
    END IF;
    most := floor(gamma * gamma * own.squared_length);
    reach := least(ceil(gamma * (own.length + 1)), 2147483648);
    RETURN QUERY
        SELECT found.content, found.square
        FROM (
            SELECT p.content, squared_distance(c.counts, own.counts) AS square
            FROM profiles p
            JOIN contents c ON c.content = p.content
            WHERE p.length BETWEEN own.length - reach - 1 AND own.length + reach + 1
              {conditions}
            OFFSET 0  -- the distance is worked out once
        ) AS found
        WHERE found.square <= most;
END
$function$;
COMMENT ON FUNCTION {schema}.near_contents(bigint, numeric) IS
    'The contents within gamma of a content, itself among them, with the squares of their distances.';

CREATE OR REPLACE FUNCTION {schema}.similar_documents(asked text, gamma numeric DEFAULT 0.025)
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
    PERFORM refuse_gamma(gamma, 'similar_documents', '''ID''');
    own := asked_document(asked, 'similar_documents');
    SELECT p.squared_length INTO own_square FROM profiles p WHERE p.content = own.content;
    IF own_square IS NULL THEN
        RAISE NOTICE 'The document % has too few letters to be compared: only identical texts are listed.',
            quote_literal(asked);
    END IF;
    RETURN QUERY
        SELECT d.doc_id, d.version, w.name, sqrt(n.squared_distance::double precision),
               sqrt(n.squared_distance::double precision) / sqrt(own_square::double precision),
               n.content = own.content, words.jaccard, words.jaccard < 0.5
        FROM near_contents(own.content, gamma) n
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
COMMENT ON FUNCTION {schema}.similar_documents(text, numeric) IS
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
                  HINT = 'A text with too few words has none; similar_documents(ID, 0.05) compares letters instead.';
    END IF;
    IF tolerance IS NULL OR tolerance::text = 'NaN' OR tolerance <= 0 OR tolerance > {max_tolerance} THEN
        RAISE EXCEPTION
            'The ''tolerance'' parameter of similar_by_index must be {rule of si}. Got % instead.',
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
    SELECT letter_distance(a, b) / sqrt(squared_length::double precision) FROM profiles WHERE content = a
$function$;
COMMENT ON FUNCTION {schema}.relative_distance(bigint, bigint) IS
    'The same as a share of the length of the first.';
