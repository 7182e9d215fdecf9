-- The table of look-alikes, and the function that fills it; `--flag-look-alikes` adds the trigger that calls it.

CREATE TABLE IF NOT EXISTS {schema}.look_alikes (
    "row" bigint NOT NULL REFERENCES {schema}.documents ("row"),
    doc_id text NOT NULL,
    similar_doc_id text NOT NULL,
    distance double precision,
    relative_distance double precision,
    flagged_at timestamptz NOT NULL DEFAULT now(),
    jaccard double precision,
    is_letters_only boolean,
    measure text,
    threshold numeric
);
CREATE INDEX IF NOT EXISTS look_alikes_of_document ON {schema}.look_alikes (doc_id);
COMMENT ON COLUMN {schema}.look_alikes.measure IS
    'Measure by which the row was flagged, words or letters; empty if an earlier Nearkin flagged it.';
COMMENT ON COLUMN {schema}.look_alikes.threshold IS
    'Limit by which the row was flagged: a Jaccard similarity for words, a gamma for letters.';
COMMENT ON TABLE {schema}.look_alikes IS
    'What was similar to a document when it was added; filled by: nearkin sql install --flag-look-alikes THRESHOLD';

CREATE OR REPLACE FUNCTION {schema}.flag_look_alikes() RETURNS trigger
LANGUAGE plpgsql SET search_path = {schema}, pg_temp AS $function$
DECLARE
    threshold numeric := (SELECT value::numeric FROM facts WHERE name = 'look_alikes_threshold');
    gamma numeric := (SELECT value::numeric FROM facts WHERE name = 'look_alikes_gamma');
    n_flagged bigint;
BEGIN
    IF threshold IS NOT NULL THEN
        INSERT INTO look_alikes (
            "row", doc_id, similar_doc_id, measure, threshold, distance, relative_distance, jaccard, is_letters_only
        )
        SELECT one.row, one.doc_id, other.doc_id, 'words', threshold, letter_distance(one.content, near.content),
               relative_distance(one.content, near.content), near.jaccard, false
        FROM added AS one
        CROSS JOIN LATERAL near_contents_by_words(one.content, threshold) AS near
        JOIN documents AS other ON other.content = near.content AND other.is_current AND other.row <> one.row
        WHERE one.is_current
        ORDER BY one.row, near.jaccard DESC, near.content, other.row;
    ELSE
        INSERT INTO look_alikes (
            "row", doc_id, similar_doc_id, measure, threshold, distance, relative_distance, jaccard, is_letters_only
        )
        SELECT one.row, one.doc_id, other.doc_id, 'letters', gamma, sqrt(near.squared_distance::double precision),
               sqrt(near.squared_distance::double precision) / sqrt(profiles.squared_length::double precision),
               jaccard(ours.hashes, theirs.hashes), jaccard(ours.hashes, theirs.hashes) < 0.5
        FROM added AS one
        JOIN profiles ON profiles.content = one.content
        CROSS JOIN LATERAL near_contents(one.content, gamma) AS near
        JOIN documents AS other ON other.content = near.content AND other.is_current AND other.row <> one.row
        LEFT JOIN shingles AS ours ON ours.content = one.content
        LEFT JOIN shingles AS theirs ON theirs.content = near.content
        WHERE one.is_current
        ORDER BY one.row, near.squared_distance, near.content, other.row;
    END IF;
    GET DIAGNOSTICS n_flagged = ROW_COUNT;
    IF n_flagged > 0 THEN  -- equal notices of one transaction are sent once
        PERFORM pg_notify('nearkin_look_alike', '{schema}');
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION {schema}.flag_look_alikes() IS 'Stores what is similar to each document that is added.';
