package postgres

import (
	"context"
	_ "embed" // for the schema
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/internal/block/store"
)

//go:embed schema.sql
var version1 string

//go:embed schema2.sql
var version2 string

//go:embed schema3.sql
var version3 string

// migrations holds the script from each version of the tables to the next, starting with none.
var migrations = []string{version1, version2, version3}

const (
	minServer = 140_000
	// schemaLock is the lock under which tables are created.
	schemaLock = 28013
	// DefaultRepository is the repository of a URL that names none.
	DefaultRepository = "main"
	maxName           = 200
)

// ErrVersion is returned if the tables have a version that this program does not know.
var ErrVersion = fmt.Errorf("%w by this version of mnem", errFormat)

var errFormat = fmt.Errorf("the tables in the database cannot be read")

// IsURL reports whether a text is the URL of a database.
func IsURL(s string) bool {
	return strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://")
}

// Parse parses the URL of a repository: the URL of a database, as PostgreSQL's own programs take it, with the
// parameter repository to select one of several. As with these programs, PG variables, the password file and the
// service file supply what the URL omits.
func Parse(at string) (*pgconn.Config, string, error) {
	if !IsURL(at) {
		return nil, "", fmt.Errorf("not the URL of a database: want postgres://HOST/DATABASE")
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, "", fmt.Errorf("the URL of the database cannot be read") // the error would show its password
	}
	q := u.Query()
	name := DefaultRepository
	if q.Has("repository") {
		name = q.Get("repository")
	}
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, "", fmt.Errorf("the URL of the database: the name of the repository has 1 to %d bytes, in one line", maxName)
	}
	q.Del("repository")
	u.RawQuery = q.Encode()
	config, err := pgconn.ParseConfig(u.String())
	if err != nil {
		return nil, "", fmt.Errorf("the URL of the database: %w", err)
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "mnem"
	}
	return config, name, nil
}

// Shown returns a URL without its password.
func Shown(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return "the database"
	}
	q := u.Query()
	q.Del("password")
	u.RawQuery = q.Encode()
	return u.Redacted()
}

// prepare ensures that the tables exist and have this version. It migrates tables of earlier versions, and creates
// missing ones if create is set.
func prepare(ctx context.Context, c *conn, create bool) error {
	have, err := version(ctx, c)
	if err != nil || have == len(migrations) {
		return err
	}
	switch {
	case have > len(migrations):
		return fmt.Errorf("%w: they have version %d, this one knows %d", ErrVersion, have, len(migrations))
	case have == 0 && !create:
		return fmt.Errorf("mnem has no tables in the database: %w", store.ErrNotFound)
	}
	// Not a transaction lock: the transaction would not see tables that another process made while it waited.
	lock := strconv.Itoa(schemaLock)
	if _, err := c.Exec(ctx, "SELECT pg_advisory_lock("+lock+")").ReadAll(); err != nil {
		drop(c)
		return err
	}
	if have, err = version(ctx, c); err != nil { // another process may have been first
		drop(c) // which unlocks
		return err
	}
	var sql strings.Builder
	sql.WriteString("BEGIN;\n")
	if have == 0 {
		sql.WriteString("CREATE SCHEMA IF NOT EXISTS mnem; CREATE TABLE mnem.version (version integer NOT NULL); " +
			"INSERT INTO mnem.version VALUES (0);\n")
	}
	for _, m := range migrations[min(have, len(migrations)):] {
		sql.WriteString(m)
	}
	fmt.Fprintf(&sql, "\nUPDATE mnem.version SET version = %d; COMMIT; SELECT pg_advisory_unlock(%s)", max(have, len(migrations)), lock)
	if _, err := c.Exec(ctx, sql.String()).ReadAll(); err != nil {
		drop(c)
		return fmt.Errorf("make tables: %w", err)
	}
	return nil
}

// version returns the version of the tables, 0 for none.
func version(ctx context.Context, c *conn) (int, error) {
	rows, err := c.run(ctx, "SELECT current_setting('server_version_num')::int4, to_regclass('mnem.version') IS NOT NULL", nil)
	if err != nil {
		return 0, err
	}
	if toInt4(rows[0][0]) < minServer {
		return 0, errOld
	}
	if rows[0][1][0] == 0 {
		return 0, nil
	}
	if rows, err = c.run(ctx, "SELECT max(version) FROM mnem.version", nil); err != nil {
		return 0, err
	}
	return int(toInt4(rows[0][0])), nil
}
