-- Version 1. Repositories are apart by their number in all tables; keys are the codec byte and the digest of a
-- CID, so that they sort as CIDs do.

CREATE TABLE mnem.repository (
  id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name      text NOT NULL UNIQUE,
  owner     name NOT NULL DEFAULT current_user, -- members of this role see it
  seq       bigint NOT NULL DEFAULT 0,
  operation bytea,
  epoch     bigint NOT NULL DEFAULT 0,          -- collections that removed something so far
  erased    bigint NOT NULL DEFAULT 0,          -- changes of redactions so far
  lease     interval NOT NULL DEFAULT '1 hour', -- how long readers rely on what they read
  note      bytea
);
CREATE TABLE mnem.fact (
  repo integer NOT NULL,
  cid  bytea NOT NULL,
  data bytea NOT NULL,
  at   timestamptz NOT NULL DEFAULT now(), -- when it was put last, or some of a lease before that
  PRIMARY KEY (repo, cid)
);
CREATE TABLE mnem.derived (
  repo integer NOT NULL,
  cid  bytea NOT NULL,
  data bytea NOT NULL,
  at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (repo, cid)
);
-- Hashes and vectors do not compress.
ALTER TABLE mnem.fact ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE mnem.derived ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE mnem.cell (
  repo  integer NOT NULL,
  key   bytea NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (repo, key)
);
CREATE TABLE mnem.redaction (
  repo integer NOT NULL,
  cid  bytea NOT NULL,
  stub bytea NOT NULL,
  open boolean NOT NULL,
  PRIMARY KEY (repo, cid)
);
CREATE TABLE mnem.attempt (
  repo    integer NOT NULL,
  seq     bigint NOT NULL,
  attempt text NOT NULL,
  PRIMARY KEY (repo, seq)
);
CREATE TABLE mnem.lease (
  repo   integer NOT NULL,
  client text NOT NULL,
  root   bytea NOT NULL,
  until  timestamptz NOT NULL,
  PRIMARY KEY (repo, client, root)
);

ALTER TABLE mnem.repository ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON mnem.repository USING (pg_has_role(owner, 'MEMBER'));
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['fact', 'derived', 'cell', 'redaction', 'attempt', 'lease'] LOOP
    EXECUTE format('ALTER TABLE mnem.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own ON mnem.%I USING (repo IN (SELECT id FROM mnem.repository))', t);
  END LOOP;
END $$;

-- Locks are taken in this order: the row of the repository, then lock 28014 of it, which those that put share
-- and those that remove have alone.

CREATE FUNCTION mnem.put(r integer, aside boolean, keys bytea[], datas bytea[]) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  fresh timestamptz;
  gone integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(28014, r);
  SELECT now() - lease / 4 INTO fresh FROM mnem.repository WHERE id = r;
  IF aside THEN
    INSERT INTO mnem.derived AS b (repo, cid, data)
      SELECT r, u.k, u.d FROM unnest(keys, datas) AS u(k, d)
      WHERE NOT EXISTS (SELECT FROM mnem.redaction x WHERE x.repo = r AND x.cid = u.k AND NOT x.open)
      ON CONFLICT (repo, cid) DO UPDATE SET at = now() WHERE b.at < fresh;
    RETURN 0;
  END IF;
  INSERT INTO mnem.fact AS b (repo, cid, data)
    SELECT r, u.k, u.d FROM unnest(keys, datas) AS u(k, d)
    WHERE NOT EXISTS (SELECT FROM mnem.redaction x WHERE x.repo = r AND x.cid = u.k AND NOT x.open)
    ON CONFLICT (repo, cid) DO UPDATE SET at = now() WHERE b.at < fresh;
  IF EXISTS (SELECT FROM mnem.redaction x WHERE x.repo = r AND x.open) THEN
    DELETE FROM mnem.redaction x WHERE x.repo = r AND x.open AND x.cid = ANY (keys);
    GET DIAGNOSTICS gone = ROW_COUNT;
    IF gone > 0 THEN
      UPDATE mnem.repository SET erased = erased + 1 WHERE id = r;
    END IF;
  END IF;
  RETURN gone;
END $$;

-- 0: done, by this call or one before with the same attempt; 1: the head is elsewhere; 2: a collection came
-- between; 3: there is no such repository.
CREATE FUNCTION mnem.commit(
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
  PERFORM pg_notify('mnem_' || r, new_seq::text);
  RETURN 0;
END $$;

CREATE FUNCTION mnem.redact(r integer, durable text, keys bytea[], stubs bytea[], opens boolean[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM mnem.repository WHERE id = r FOR NO KEY UPDATE;
  PERFORM pg_advisory_xact_lock(28014, r);
  PERFORM set_config('synchronous_commit', durable, true);
  INSERT INTO mnem.redaction AS x (repo, cid, stub, open)
    SELECT r, u.k, u.s, u.o FROM unnest(keys, stubs, opens) AS u(k, s, o)
    WHERE NOT u.o OR NOT EXISTS (SELECT FROM mnem.fact f WHERE f.repo = r AND f.cid = u.k)
    ON CONFLICT (repo, cid) DO UPDATE SET stub = excluded.stub, open = false WHERE NOT excluded.open;
  DELETE FROM mnem.fact f USING mnem.redaction x
    WHERE f.repo = r AND f.cid = ANY (keys) AND x.repo = r AND x.cid = f.cid;
  DELETE FROM mnem.derived f USING mnem.redaction x
    WHERE f.repo = r AND f.cid = ANY (keys) AND x.repo = r AND x.cid = f.cid;
  UPDATE mnem.repository SET erased = erased + 1 WHERE id = r;
  PERFORM pg_notify('mnem_' || r, 'erased');
END $$;

-- Removes what was not put for a lease, where the head is the one that was looked at; -1 where it is not.
CREATE FUNCTION mnem.sweep(
  r integer, aside boolean, at_seq bigint, at_operation bytea, keys bytea[], OUT blocks bigint, OUT bytes bigint
) LANGUAGE plpgsql AS $$
DECLARE h mnem.repository%ROWTYPE;
BEGIN
  SELECT * INTO h FROM mnem.repository WHERE id = r FOR NO KEY UPDATE;
  IF h.seq <> at_seq OR h.operation IS DISTINCT FROM at_operation THEN
    blocks := -1;
    bytes := 0;
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(28014, r);
  IF aside THEN
    WITH gone AS (DELETE FROM mnem.derived f
      WHERE f.repo = r AND f.cid = ANY (keys) AND f.at < now() - h.lease RETURNING octet_length(f.data) AS n)
    SELECT count(*), coalesce(sum(n), 0) INTO blocks, bytes FROM gone;
    RETURN;
  END IF;
  WITH gone AS (DELETE FROM mnem.fact f
    WHERE f.repo = r AND f.cid = ANY (keys) AND f.at < now() - h.lease RETURNING octet_length(f.data) AS n)
  SELECT count(*), coalesce(sum(n), 0) INTO blocks, bytes FROM gone;
  IF blocks > 0 THEN
    UPDATE mnem.repository SET epoch = epoch + 1 WHERE id = r;
  END IF;
END $$;

-- Replaces the roots that a client reads, and forgets what other clients did not renew.
CREATE FUNCTION mnem.renew(r integer, who text, roots bytea[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE till timestamptz;
BEGIN
  SELECT now() + lease INTO till FROM mnem.repository WHERE id = r;
  DELETE FROM mnem.lease WHERE repo = r AND (client = who AND root <> ALL (roots) OR until < now());
  INSERT INTO mnem.lease SELECT r, who, k, till FROM unnest(roots) AS u(k)
    ON CONFLICT (repo, client, root) DO UPDATE SET until = till;
END $$;
