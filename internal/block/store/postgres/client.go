package postgres

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/block/store"
)

// attemptOf separates an attempt's unique part from the client that made it. Attempts of versions without clients
// lack it.
const attemptOf = " "

// Place implements store.Shared.
func (s *Store) Place() store.Place {
	if p := s.place.Load(); p != nil {
		return *p
	}
	return store.Place{}
}

// readPlace stores the position of the client's HEAD from a row.
func (s *Store) readPlace(branch, detached []byte) error {
	at := store.Place{Branch: string(branch)}
	if detached != nil {
		var err error
		if at.Commit, err = cidOf(detached); err != nil {
			return fmt.Errorf("client %q: %w: %w", s.client, store.ErrCorrupt, err)
		}
	}
	s.place.Store(&at)
	return nil
}

// SetPlace implements store.Shared.
func (s *Store) SetPlace(ctx context.Context, to store.Place) error {
	var err error
	if to == (store.Place{}) {
		_, err = s.change(ctx, "WITH d AS (SELECT set_config('synchronous_commit', $3, true)) "+
			"DELETE FROM mnem.client c USING d WHERE c.repo = $1 AND c.client = $2", s.id(), []byte(s.client), s.durably())
	} else {
		var branch, detached []byte // NULL, unless set
		if detached = key(to.Commit); !to.Commit.Defined() {
			branch, detached = []byte(to.Branch), nil
		}
		_, err = s.change(ctx, "WITH d AS (SELECT set_config('synchronous_commit', $5, true)) "+
			"INSERT INTO mnem.client SELECT $1::int4, $2::text, $3::text, $4::bytea FROM d "+
			"ON CONFLICT (repo, client) DO UPDATE SET branch = excluded.branch, detached = excluded.detached",
			s.id(), []byte(s.client), branch, detached, s.durably())
	}
	if err != nil {
		return fmt.Errorf("move HEAD of client %q: %w", s.client, err)
	}
	s.place.Store(&to)
	return nil
}

// Made implements store.Shared: the row of an operation's attempt names its client, as long as the row is kept.
func (s *Store) Made(ctx context.Context) (map[uint64]bool, error) {
	rows, err := s.run(ctx, "SELECT seq FROM mnem.attempt WHERE repo = $1 AND strpos(attempt, $2) > 0 AND substr(attempt, strpos(attempt, $2) + 1) = $3",
		s.id(), []byte(attemptOf), []byte(s.client))
	if err != nil {
		return nil, fmt.Errorf("read the operations of client %q: %w", s.client, err)
	}
	made := make(map[uint64]bool, len(rows))
	for _, r := range rows {
		made[uint64(toInt8(r[0]))] = true
	}
	return made, nil
}
