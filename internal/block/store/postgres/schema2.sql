-- Version 2. What a repository has and how often it changed today, for quotas; and the tokens of its servers.

-- Each statement that adds or removes blocks appends a row, so that writers do not wait for one another. The sum
-- of a repository's rows is what it has; now and then a commit replaces them by their sum.
-- What writers of version 1 do meanwhile is counted once: they wait until the triggers are there.
LOCK TABLE mnem.fact, mnem.derived IN SHARE ROW EXCLUSIVE MODE;

CREATE TABLE mnem.size (
  repo   integer NOT NULL,
  blocks bigint NOT NULL,
  bytes  bigint NOT NULL
);
CREATE INDEX size_repo ON mnem.size (repo);
CREATE TABLE mnem.day (
  repo    integer NOT NULL,
  day     date NOT NULL, -- in UTC
  commits bigint NOT NULL,
  PRIMARY KEY (repo, day)
);
CREATE TABLE mnem.token (
  repo integer NOT NULL,
  id   text NOT NULL,
  name text NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (repo, id),
  UNIQUE (repo, name)
);

DO $$
DECLARE
  t text;
  g text;
BEGIN
  FOREACH t IN ARRAY ARRAY['size', 'day', 'token'] LOOP
    EXECUTE format('ALTER TABLE mnem.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own ON mnem.%I USING (repo IN (SELECT id FROM mnem.repository))', t);
    -- Roles that may write blocks write here as well.
    FOR g IN SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
      FROM pg_class c, aclexplode(c.relacl) a
      WHERE c.oid = 'mnem.fact'::regclass AND a.privilege_type = 'INSERT' AND a.grantee <> c.relowner LOOP
      EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON mnem.%I TO %s', t, g);
    END LOOP;
  END LOOP;
END $$;

INSERT INTO mnem.size
  SELECT b.repo, count(*), sum(octet_length(b.data))
  FROM (SELECT repo, data FROM mnem.fact UNION ALL SELECT repo, data FROM mnem.derived) b GROUP BY b.repo;

CREATE FUNCTION mnem.grew() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO mnem.size SELECT repo, count(*), sum(octet_length(data)) FROM changed GROUP BY repo;
  RETURN NULL;
END $$;
CREATE FUNCTION mnem.shrank() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO mnem.size SELECT repo, -count(*), -sum(octet_length(data)) FROM changed GROUP BY repo;
  RETURN NULL;
END $$;
CREATE TRIGGER grew AFTER INSERT ON mnem.fact REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION mnem.grew();
CREATE TRIGGER shrank AFTER DELETE ON mnem.fact REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION mnem.shrank();
CREATE TRIGGER grew AFTER INSERT ON mnem.derived REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION mnem.grew();
CREATE TRIGGER shrank AFTER DELETE ON mnem.derived REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION mnem.shrank();

-- Runs within a commit, whose lock on the repository keeps others from doing the same.
CREATE FUNCTION mnem.counted(r integer, new_seq bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE today date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
  INSERT INTO mnem.day AS d VALUES (r, today, 1) ON CONFLICT (repo, day) DO UPDATE SET commits = d.commits + 1;
  IF new_seq % 256 = 0 THEN
    DELETE FROM mnem.day WHERE repo = r AND day < today - 1;
    WITH gone AS (DELETE FROM mnem.size WHERE repo = r RETURNING blocks, bytes)
      INSERT INTO mnem.size SELECT r, sum(blocks), sum(bytes) FROM gone HAVING count(*) > 0;
  END IF;
END $$;

CREATE FUNCTION mnem.usage(n text, OUT blocks bigint, OUT bytes bigint, OUT commits bigint) LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT sum(s.blocks) FROM mnem.size s WHERE s.repo = r.id), 0)::bigint,
    coalesce((SELECT sum(s.bytes) FROM mnem.size s WHERE s.repo = r.id), 0)::bigint,
    coalesce((SELECT d.commits FROM mnem.day d WHERE d.repo = r.id AND d.day = (now() AT TIME ZONE 'UTC')::date), 0)
  FROM mnem.repository r WHERE r.name = n
$$;

CREATE OR REPLACE FUNCTION mnem.commit(
  r integer, old_seq bigint, old_operation bytea, new_seq bigint, new_operation bytea, noted bigint,
  try text, durable text, keys bytea[], datas bytea[]
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE h mnem.repository%ROWTYPE;
BEGIN
  SELECT * INTO h FROM mnem.repository WHERE id = r FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN 3;
  ELSIF EXISTS (SELECT FROM mnem.attempt a WHERE a.repo = r AND a.seq = new_seq AND a.attempt = try) THEN
    RETURN 0;
  ELSIF h.seq <> old_seq OR h.operation IS DISTINCT FROM old_operation THEN
    RETURN 1;
  ELSIF noted >= 0 AND h.epoch <> noted THEN
    RETURN 2;
  END IF;
  PERFORM set_config('synchronous_commit', durable, true);
  IF cardinality(keys) > 0 THEN
    PERFORM mnem.put(r, false, keys, datas);
  END IF;
  UPDATE mnem.repository SET seq = new_seq, operation = new_operation WHERE id = r;
  INSERT INTO mnem.attempt VALUES (r, new_seq, try) ON CONFLICT (repo, seq) DO UPDATE SET attempt = try;
  DELETE FROM mnem.attempt WHERE repo = r AND seq = new_seq - 10000;
  PERFORM mnem.counted(r, new_seq);
  PERFORM pg_notify('mnem_' || r, new_seq::text);
  RETURN 0;
END $$;
