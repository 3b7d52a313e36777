package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// isRedacted reports whether a block is known to be erased.
func (s *Store) isRedacted(c ipld.CID) bool {
	s.redactMu.RLock()
	defer s.redactMu.RUnlock()
	_, ok := s.redacted[c]
	return ok
}

// cameOpen rereads redactions if a block arrived that had an open one.
func (s *Store) cameOpen(ctx context.Context, add []store.Block) error {
	for _, b := range add {
		if s.isRedacted(b.CID) {
			return s.readRedactions(ctx, false)
		}
	}
	return nil
}

// Redact removes blocks and, unless all redactions are open, everything derived, and leaves stubs.
func (s *Store) Redact(ctx context.Context, list ...store.Redaction) error {
	at := make(map[ipld.CID]int)
	var once []store.Redaction // of several for one block, the last that is not open
	for _, r := range list {
		if !r.CID.Defined() {
			return fmt.Errorf("redact: %w", store.ErrUndefined)
		}
		i, seen := at[r.CID]
		switch {
		case !seen:
			at[r.CID] = len(once)
			once = append(once, r)
		case !r.Open:
			once[i] = r
		}
	}
	slices.SortFunc(once, func(a, b store.Redaction) int { return a.CID.Compare(b.CID) })
	query := "SELECT mnem.redact($1, $2, $3, $4, $5)"
	if store.AnyErases(once) { // in one step; the function removes derived blocks of these CIDs itself
		query = "WITH cells AS (DELETE FROM mnem.cell WHERE repo = $1), " +
			"rest AS (DELETE FROM mnem.derived WHERE repo = $1 AND cid <> ALL ($3)) " + query
	}
	_, err := s.change(ctx, query, s.id(), s.durably(),
		array(oidBytea, len(once), func(i int) []byte { return key(once[i].CID) }),
		array(oidBytea, len(once), func(i int) []byte { return once[i].Stub }),
		array(oidBool, len(once), func(i int) []byte { return boolean(once[i].Open) }))
	if err != nil {
		return fmt.Errorf("redact: %w", err)
	}
	return s.readRedactions(ctx, false)
}

// Redacted returns the redaction of a block as of the last read of the head.
func (s *Store) Redacted(ctx context.Context, c ipld.CID) (store.Redaction, bool, error) {
	if err := s.enter(ctx); err != nil {
		return store.Redaction{}, false, err
	}
	defer s.leave()
	list, err := s.known(ctx)
	r, ok := list[c]
	r.Stub = bytes.Clone(r.Stub)
	return r, ok, err
}

// Redactions calls fn with the current redactions.
func (s *Store) Redactions(ctx context.Context, fn func(store.Redaction) error) error {
	if _, err := s.Head(ctx); err != nil {
		return err
	}
	list, err := s.known(ctx)
	if err != nil {
		return err
	}
	return store.EachRedaction(list, fn)
}

// Compact rewrites the tables. No repository of the database can be read or written while it runs. It needs the
// role that owns the tables. The server's log, archives and replicas keep erased bytes for as long as they are
// configured to.
func (s *Store) Compact(ctx context.Context) error {
	if s.ro {
		return store.ErrReadOnly
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	var mu sync.Mutex
	var refused []string
	config := s.pool.config.Copy()
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if strings.Contains(n.Message, "skipping") || n.Code == "01000" || n.Code == "42501" {
			mu.Lock()
			refused = append(refused, n.Message)
			mu.Unlock()
		}
	}
	for _, table := range []string{"fact", "derived", "redaction", "repository"} {
		_, err := again(ctx, patience, func() (struct{}, error) {
			c, err := pgconn.ConnectConfig(ctx, config)
			if err == nil {
				_, err = c.Exec(ctx, "VACUUM (FULL) mnem."+table).ReadAll()
				drop(&conn{PgConn: c})
			}
			return struct{}{}, err
		})
		if err != nil {
			return fmt.Errorf("compact: %w", s.pool.denied(err))
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(refused) > 0 {
		return fmt.Errorf("compact: %w", s.pool.lacks(errors.New(strings.Join(refused, "; "))))
	}
	return nil
}

// Note returns the note that SetNote stored.
func (s *Store) Note(ctx context.Context) ([]byte, error) {
	rows, err := s.run(ctx, "SELECT note FROM mnem.repository WHERE id = $1", s.id())
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0][0], nil
}

// SetNote stores a note.
func (s *Store) SetNote(ctx context.Context, note []byte) error {
	_, err := s.change(ctx, "WITH d AS (SELECT set_config('synchronous_commit', $2, true)) "+
		"UPDATE mnem.repository SET note = $3 FROM d WHERE id = $1", s.id(), s.durably(), note)
	return err
}
