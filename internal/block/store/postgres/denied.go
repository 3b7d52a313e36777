package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/internal/block/store"
)

// insufficient is the SQLSTATE for a missing privilege.
const insufficient = "42501"

// denied returns err, as a *store.DeniedError if the server denied the role a right.
func (p *pool) denied(err error) error {
	var told *pgconn.PgError
	if errors.As(err, &told) && told.Code == insufficient && !errors.Is(err, store.ErrDenied) {
		return p.lacks(err)
	}
	return err
}

// lacks returns the error for the pool's role, which lacks a privilege.
func (p *pool) lacks(err error) error {
	role := p.config.User
	if set := p.config.RuntimeParams["role"]; set != "" {
		role = set
	}
	return &store.DeniedError{Role: role, Err: err}
}

// insert makes the repository. If it cannot, it tells roles that can see the repository that it exists, and all
// others that they have no privileges on it, whether or not it exists.
func (s *Store) insert(ctx context.Context, c *conn) error {
	name := [][]byte{[]byte(s.name)}
	made, err := c.run(ctx, "INSERT INTO mnem.repository (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id", name)
	err = s.pool.denied(err)
	if err != nil && !errors.Is(err, store.ErrDenied) || len(made) > 0 {
		return err
	}
	seen, seenErr := c.run(ctx, "SELECT true FROM mnem.repository WHERE name = $1", name)
	switch seenErr = s.pool.denied(seenErr); {
	case len(seen) > 0:
		return fmt.Errorf("repository %q: %w", s.name, fs.ErrExist)
	case seenErr != nil && !errors.Is(seenErr, store.ErrDenied):
		return seenErr
	}
	none := fmt.Errorf("it may neither use repository %q nor create it", s.name)
	var lack *store.DeniedError
	if errors.As(err, &lack) {
		none = fmt.Errorf("%w: %w", none, lack.Err)
	}
	return s.pool.lacks(none)
}
