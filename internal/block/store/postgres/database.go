package postgres

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
)

// askPatience is how long a request to a Database is retried after its connection was lost.
const askPatience = 5 * time.Second

// Database is the connection of a server to a database with several repositories. Safe for concurrent use.
type Database struct {
	at   *url.URL
	pool *pool
}

// Usage is the size and activity of a repository.
type Usage struct {
	Blocks, Bytes int64 // including those of indexes
	Commits       int64 // operations of this day, in UTC
}

// OpenDatabase returns the connection to the database of a URL, ignoring the repository it names. It connects on
// first use.
func OpenDatabase(at string) (*Database, error) {
	config, _, err := Parse(at)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	return &Database{u, newPool(config, maxConns)}, nil
}

// Close closes the connections.
func (d *Database) Close() { d.pool.close() }

// URL returns the URL of a repository in the database.
func (d *Database) URL(name string) string {
	u := *d.at
	q := u.Query()
	q.Set("repository", name)
	u.RawQuery = q.Encode()
	return u.String()
}

func (d *Database) run(ctx context.Context, sql string, params ...[]byte) ([]row, error) {
	rows, err := d.pool.run(ctx, askPatience, sql, params...)
	return rows, d.pool.denied(err)
}

// Ready returns an error unless the database answers within wait, 0 for one attempt, and has the tables of this
// version.
func (d *Database) Ready(ctx context.Context, wait time.Duration) error {
	_, err := again(ctx, wait, func() (struct{}, error) {
		c, err := d.pool.take(ctx)
		if err != nil {
			return struct{}{}, err
		}
		defer d.pool.give(c)
		return struct{}{}, prepare(ctx, c, false)
	})
	return d.pool.denied(err)
}

// Has reports whether a repository of this name exists that the role can see.
func (d *Database) Has(ctx context.Context, name string) (bool, error) {
	rows, err := d.run(ctx, "SELECT true FROM mnem.repository WHERE name = $1", []byte(name))
	return len(rows) > 0, err
}

// Usage returns the size and activity of a repository.
func (d *Database) Usage(ctx context.Context, name string) (Usage, error) {
	rows, err := d.run(ctx, "SELECT blocks, bytes, commits FROM mnem.usage($1)", []byte(name))
	if err != nil {
		return Usage{}, err
	}
	if len(rows) == 0 || rows[0][0] == nil {
		return Usage{}, missingRepository(name)
	}
	return Usage{toInt8(rows[0][0]), toInt8(rows[0][1]), toInt8(rows[0][2])}, nil
}

// Token returns the data stored for a token of a repository by its id, nil for none.
func (d *Database) Token(ctx context.Context, name, id string) ([]byte, error) {
	rows, err := d.run(ctx, "SELECT t.data FROM mnem.token t JOIN mnem.repository r ON r.id = t.repo "+
		"WHERE r.name = $1 AND t.id = $2", []byte(name), []byte(id))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0][0], nil
}

// Tokens returns the data stored for all tokens of a repository.
func (d *Database) Tokens(ctx context.Context, name string) (all [][]byte, err error) {
	rows, err := d.run(ctx, "SELECT t.data FROM mnem.token t JOIN mnem.repository r ON r.id = t.repo "+
		"WHERE r.name = $1 ORDER BY t.name", []byte(name))
	for _, r := range rows {
		all = append(all, r[0])
	}
	return all, err
}

// AddToken stores a token of a repository. It returns an error wrapping fs.ErrExist if one with this id or this
// name exists.
func (d *Database) AddToken(ctx context.Context, name, id, called string, data []byte) error {
	// The same statement, sent again after its answer was lost, finds the row it made.
	rows, err := d.run(ctx, "WITH r AS (SELECT id FROM mnem.repository WHERE name = $1), "+
		"made AS (INSERT INTO mnem.token SELECT id, $2, $3, $4 FROM r ON CONFLICT DO NOTHING RETURNING true) "+
		"SELECT EXISTS (SELECT FROM made) OR EXISTS (SELECT FROM mnem.token t WHERE t.repo = r.id AND t.data = $4) FROM r",
		[]byte(name), []byte(id), []byte(called), data)
	switch {
	case err != nil:
		return err
	case len(rows) == 0:
		return missingRepository(name)
	case rows[0][0][0] == 0:
		return fmt.Errorf("token %q: %w", called, fs.ErrExist)
	}
	return nil
}

// ReplaceToken replaces the data of a token, and returns false if it is not what old says.
func (d *Database) ReplaceToken(ctx context.Context, name, id string, old, data []byte) (bool, error) {
	// The same statement, sent again after its answer was lost, finds the row it changed.
	rows, err := d.run(ctx, "UPDATE mnem.token t SET data = $4 FROM mnem.repository r "+
		"WHERE r.id = t.repo AND r.name = $1 AND t.id = $2 AND t.data IN ($3, $4) RETURNING true",
		[]byte(name), []byte(id), old, data)
	return len(rows) > 0, err
}

// RemoveToken deletes the token with an id, if it exists.
func (d *Database) RemoveToken(ctx context.Context, name, id string) error {
	_, err := d.run(ctx, "DELETE FROM mnem.token t USING mnem.repository r WHERE r.id = t.repo AND r.name = $1 AND t.id = $2",
		[]byte(name), []byte(id))
	return err
}

func missingRepository(name string) error {
	return fmt.Errorf("repository %q: %w", name, store.ErrNotFound)
}
