package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// turnClass is the class of the advisory locks for turns.
	turnClass = 28015
	// turnTimeout is how long, in milliseconds, a process may be silent in its turn before the server gives the
	// turn to the next one; turnPulse is the interval of keepalive statements.
	turnTimeout = 60_000
	turnPulse   = 15 * time.Second
)

// Turn implements store.Shared by an advisory lock of the server. The lock belongs to a connection, which is lost
// with its process.
func (s *Store) Turn(ctx context.Context) (end func(), err error) {
	if s.ro {
		return nil, store.ErrReadOnly
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	lock := fmt.Sprintf("SET idle_session_timeout = %d; SELECT pg_advisory_lock(%d, %d); "+
		"SELECT epoch FROM mnem.repository WHERE id = %d", turnTimeout, turnClass, s.repo, s.repo)
	var epoch int64
	c, err := again(ctx, patience, func() (*conn, error) {
		c, err := s.turns.take(ctx)
		if err != nil {
			return nil, err
		}
		res, err := c.Exec(ctx, lock).ReadAll()
		if err == nil && (len(res) != 3 || len(res[2].Rows) != 1) {
			err = s.gone()
		}
		if err == nil {
			epoch, err = strconv.ParseInt(string(res[2].Rows[0][0]), 10, 64)
		}
		if err != nil {
			drop(c)
			return nil, err
		}
		return c, nil
	})
	if err != nil {
		s.leave()
		return nil, fmt.Errorf("wait for the turn to write: %w", s.pool.denied(err))
	}
	s.noted.Store(epoch)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		pulse(c, stop)
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-stopped
		s.noted.Store(-1)
		unlock := fmt.Sprintf("SELECT pg_advisory_unlock(%d, %d); SET idle_session_timeout = 0", turnClass, s.repo)
		wait, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := c.Exec(wait, unlock).ReadAll(); err != nil {
			drop(c) // which unlocks
		}
		s.turns.give(c)
		s.leave()
	}), nil
}

// pulse sends keepalive statements on a connection.
func pulse(c *conn, stop <-chan struct{}) {
	t := time.NewTicker(turnPulse)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			ctx, cancel := context.WithTimeout(context.Background(), turnPulse)
			_, err := c.Exec(ctx, "SELECT").ReadAll()
			cancel()
			if err != nil {
				return // Commit decides
			}
		}
	}
}

// Since implements store.Shared.
func (s *Store) Since(ctx context.Context) (check func(context.Context) error, err error) {
	rows, err := s.run(ctx, "SELECT epoch, (extract(epoch FROM now()) * 1000)::bigint FROM mnem.repository WHERE id = $1",
		s.id())
	if err == nil && len(rows) == 0 {
		err = s.gone()
	}
	if err != nil {
		return nil, err
	}
	epoch, began := rows[0][0], rows[0][1]
	return func(ctx context.Context) error {
		rows, err := s.run(ctx, "SELECT true FROM mnem.repository WHERE id = $1 AND "+
			"(epoch = $2 OR (extract(epoch FROM now() - lease) * 1000)::bigint < $3)", s.id(), epoch, began)
		if err == nil && len(rows) == 0 {
			err = fmt.Errorf("a collection came between: %w", store.ErrHeadMoved)
		}
		return err
	}, nil
}

// Lease implements store.Shared.
func (s *Store) Lease() time.Duration { return s.lease }

// Keep implements store.Shared: the roots are renewed every quarter of a lease. Blocks read since then are within
// the lease.
func (s *Store) Keep(fn func() []ipld.CID) {
	if s.enter(context.Background()) != nil {
		return
	}
	go func() {
		defer s.leave()
		t := time.NewTicker(max(s.lease/4, 10*time.Millisecond))
		defer t.Stop()
		told := false
		for {
			select {
			case <-s.ending.Done():
				if told {
					ctx, cancel := context.WithTimeout(context.Background(), time.Second)
					_ = s.renew(ctx, nil) // otherwise they expire
					cancel()
				}
				return
			case <-t.C:
				told = s.renew(s.ending, fn()) == nil || told // on failure the next renewal succeeds, or they expire
			}
		}
	}()
}

func (s *Store) renew(ctx context.Context, roots []ipld.CID) error {
	_, err := s.pool.run(ctx, s.lease/4, "SELECT mnem.renew($1, $2, $3)", s.id(), []byte(s.self), keys(roots))
	return err
}

// Kept implements store.Shared.
func (s *Store) Kept(ctx context.Context) (roots []ipld.CID, err error) {
	rows, err := s.run(ctx, "SELECT root FROM mnem.lease WHERE repo = $1 AND until > now() "+
		"UNION SELECT detached FROM mnem.client WHERE repo = $1 AND detached IS NOT NULL", s.id())
	for _, r := range rows {
		c, err := cidOf(r[0])
		if err != nil {
			return nil, fmt.Errorf("read leases: %w: %w", store.ErrCorrupt, err)
		}
		roots = append(roots, c)
	}
	return roots, err
}

// Sweep implements store.Shared.
func (s *Store) Sweep(
	ctx context.Context, at store.Head, derived bool, cids ...ipld.CID,
) (blocks int, bytes int64, err error) {
	rows, err := s.change(ctx, "SELECT blocks, bytes FROM mnem.sweep($1, $2, $3, $4, $5)", s.id(), boolean(derived),
		int8of(int64(at.Seq)), opKey(at), keys(cids))
	if err != nil {
		return 0, 0, fmt.Errorf("remove blocks: %w", err)
	}
	blocks = int(toInt8(rows[0][0]))
	if blocks < 0 {
		return 0, 0, fmt.Errorf("remove blocks: %w", store.ErrHeadMoved)
	}
	s.cache.Clear()
	return blocks, toInt8(rows[0][1]), nil
}

// Listen implements store.Shared. It also calls fn after a lost connection, when the head may have moved unnoticed.
func (s *Store) Listen(ctx context.Context, fn func()) {
	if s.enter(ctx) != nil {
		return
	}
	defer s.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)()
	for ctx.Err() == nil {
		_, _ = again(ctx, patience, func() (struct{}, error) { // the next wait reports the error
			c, err := s.pool.connect(ctx)
			if err != nil {
				return struct{}{}, err
			}
			defer drop(c)
			_, err = c.Exec(ctx, "LISTEN mnem_"+strconv.Itoa(int(s.repo))).ReadAll()
			for err == nil {
				fn()
				err = c.WaitForNotification(ctx)
			}
			return struct{}{}, err
		})
	}
	if s.ending.Err() != nil {
		fn() // waiting callers find the store closed
	}
}

// Erased implements store.Shared.
func (s *Store) Erased(fn func()) {
	s.redactMu.Lock()
	defer s.redactMu.Unlock()
	s.onErased = fn
}

var errOld = errors.New("a PostgreSQL server before version 14")

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
