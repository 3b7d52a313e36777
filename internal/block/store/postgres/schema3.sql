-- Version 3. Where the HEAD of a client is, where that is not the repository's own.

CREATE TABLE mnem.client (
  repo     integer NOT NULL,
  client   text NOT NULL,
  branch   text,  -- that it is on,
  detached bytea, -- or the commit that it is at
  PRIMARY KEY (repo, client),
  CHECK ((branch IS NULL) <> (detached IS NULL))
);
ALTER TABLE mnem.client ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON mnem.client USING (repo IN (SELECT id FROM mnem.repository));
DO $$
DECLARE g record;
BEGIN
  -- Roles that may read blocks read here as well, for where HEAD is; those that may write them write here.
  FOR g IN SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS role,
      CASE a.privilege_type WHEN 'INSERT' THEN 'SELECT, INSERT, UPDATE, DELETE' ELSE 'SELECT' END AS may
    FROM pg_class c, aclexplode(c.relacl) a
    WHERE c.oid = 'mnem.fact'::regclass AND a.privilege_type IN ('SELECT', 'INSERT') AND a.grantee <> c.relowner LOOP
    EXECUTE format('GRANT %s ON mnem.client TO %s', g.may, g.role);
  END LOOP;
END $$;
