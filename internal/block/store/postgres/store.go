package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// defaultCache bounds the cache of verified blocks, in bytes.
	defaultCache = 64 << 20
	// maxConns is how many statements of one store run concurrently. Turns and listeners have their own connections.
	maxConns = 4
	// patience is how long a statement is retried after its connection was lost first; for a Commit it is longer: only
	// an answer tells whether it was made.
	patience       = 20 * time.Second
	commitPatience = 60 * time.Second
)

// Options select the repository to open.
type Options struct {
	URL      string        // of the database and the repository in it: see Parse
	Create   bool          // make the repository, and mnem's tables if they do not exist
	ReadOnly bool          // change nothing; writes return store.ErrReadOnly
	Wait     time.Duration // how long to retry connecting; 0: one attempt
	// Client names the client, across all its connections, to which per-client state such as HEAD belongs; "" is a
	// client too.
	Client string
	// CacheBytes is the size of the cache of verified blocks; 0: 64 MiB.
	CacheBytes int64
}

// Store is a repository in a PostgreSQL database. Safe for concurrent use, by many processes.
type Store struct {
	pool    *pool
	ro      bool
	repo    int32
	name    string
	client  string       // as Options say
	self    string       // unique to this store
	durable atomic.Value // the server's synchronous_commit, a string, used for changes that must survive a power cut
	lease   time.Duration

	facts   blocks
	derived derived
	cache   cache.Cache[cached, []byte]

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup     // running; added to under mu
	ending context.Context    // of background work
	end    context.CancelFunc // ends it

	tries atomic.Int64 // commit attempts so far
	noted atomic.Int64 // the epoch when the turn began, -1 outside of one

	redactMu sync.RWMutex
	erased   int64 // count of redaction changes that were read
	redacted map[ipld.CID]store.Redaction
	onErased func()

	turns *pool                       // for connections that hold turns
	place atomic.Pointer[store.Place] // the client's HEAD as of the last read of the head
}

var (
	_ store.Store       = (*Store)(nil)
	_ store.Eraser      = (*Store)(nil)
	_ store.Notebook    = (*Store)(nil)
	_ store.Shared      = (*Store)(nil)
	_ store.Deleter     = (*blocks)(nil)
	_ store.CellDeleter = (*derived)(nil)
)

// Open opens a repository in a database. It returns an error wrapping store.ErrNotFound if the repository does not
// exist, and with Create one wrapping fs.ErrExist if it does. A role without privileges gets one wrapping
// store.ErrDenied, which does not reveal whether the repository exists.
func Open(ctx context.Context, opt Options) (*Store, error) {
	config, name, err := Parse(opt.URL)
	if err != nil {
		return nil, err
	}
	opt.CacheBytes = cmp.Or(opt.CacheBytes, defaultCache)
	s := &Store{ro: opt.ReadOnly, name: name, client: opt.Client, erased: -1}
	s.noted.Store(-1)
	s.cache.Init(opt.CacheBytes)
	s.facts = blocks{s: s, table: "fact"}
	s.derived = derived{blocks{s: s, table: "derived", aside: true}}
	s.ending, s.end = context.WithCancel(context.Background())
	s.pool, s.turns = newPool(config, maxConns), newPool(config, 1)
	s.pool.greet, s.turns.greet = s.greet, s.greet
	if err := s.open(ctx, opt); err != nil {
		s.end()
		s.pool.close()
		return nil, fmt.Errorf("open %s: %w", Shown(opt.URL), s.pool.denied(err))
	}
	return s, nil
}

// greet sets up a new connection without synchronous commits. The next Commit makes earlier puts durable, as it
// waits for everything written before it.
func (s *Store) greet(ctx context.Context, c *conn) error {
	res, err := c.Exec(ctx, "SHOW synchronous_commit; SET synchronous_commit = off").ReadAll()
	if err != nil {
		return err
	}
	durable := string(res[0].Rows[0][0])
	if durable == "off" {
		durable = "on"
	}
	s.durable.Store(durable)
	return nil
}

// durably returns the synchronous_commit setting for changes that must survive a power cut, as found by the newest
// connection.
func (s *Store) durably() []byte { return []byte(s.durable.Load().(string)) }

func (s *Store) open(ctx context.Context, opt Options) error {
	if opt.Create {
		if err := s.create(ctx, opt); err != nil {
			return err
		}
	}
	_, err := again(ctx, opt.Wait, func() (struct{}, error) { return struct{}{}, s.find(ctx) })
	return err
}

// create makes the repository, and the tables if they do not exist.
func (s *Store) create(ctx context.Context, opt Options) error {
	c, err := again(ctx, opt.Wait, func() (*conn, error) { return s.pool.take(ctx) })
	if err != nil {
		return err
	}
	defer s.pool.give(c)
	if err := prepare(ctx, c, true); err != nil {
		return err
	}
	return s.insert(ctx, c)
}

func (s *Store) find(ctx context.Context) error {
	c, err := s.pool.take(ctx)
	if err != nil {
		return err
	}
	defer s.pool.give(c)
	if err := prepare(ctx, c, false); err != nil {
		return err
	}
	rows, err := c.run(ctx, "SELECT id, gen_random_uuid()::text, (extract(epoch FROM lease) * 1000)::bigint "+
		"FROM mnem.repository WHERE name = $1", [][]byte{[]byte(s.name)})
	if err == nil && len(rows) == 0 {
		err = s.gone()
	}
	if err != nil {
		return err
	}
	s.repo, s.self = toInt4(rows[0][0]), string(rows[0][1])
	s.lease = time.Duration(toInt8(rows[0][2])) * time.Millisecond
	return nil
}

// Facts returns the blocks that operations reach.
func (s *Store) Facts() store.Blocks { return &s.facts }

// Derived returns the blocks and cells that can be rebuilt.
func (s *Store) Derived() store.Derived { return &s.derived }

// enter begins a call, which leave ends.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	s.calls.Add(1)
	return nil
}

func (s *Store) leave() { s.calls.Done() }

func (s *Store) run(ctx context.Context, sql string, params ...[]byte) ([]row, error) {
	return s.ask(ctx, patience, false, sql, params...)
}

func (s *Store) change(ctx context.Context, sql string, params ...[]byte) ([]row, error) {
	return s.ask(ctx, patience, true, sql, params...)
}

// ask runs an idempotent statement, and retries it for so long after its connection was lost. It refuses statements that
// change data if the store is read-only.
func (s *Store) ask(ctx context.Context, long time.Duration, changes bool, sql string, params ...[]byte) ([]row, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if changes && s.ro {
		return nil, store.ErrReadOnly
	}
	rows, err := s.pool.run(ctx, long, sql, params...)
	return rows, s.pool.denied(err)
}

func (s *Store) id() []byte { return int4(s.repo) }

const headSQL = "SELECT r.seq, r.operation, r.erased, c.branch, c.detached FROM mnem.repository r " +
	"LEFT JOIN mnem.client c ON c.repo = r.id AND c.client = $2 WHERE r.id = $1"

// Head returns the newest operation. It also reads redactions made since the last call.
func (s *Store) Head(ctx context.Context) (store.Head, error) {
	rows, err := s.run(ctx, headSQL, s.id(), []byte(s.client))
	if err != nil {
		return store.Head{}, err
	}
	if len(rows) == 0 {
		return store.Head{}, s.gone()
	}
	h := store.Head{Seq: uint64(toInt8(rows[0][0]))}
	if len(rows[0][1]) > 0 {
		if h.Operation, err = cidOf(rows[0][1]); err != nil {
			return h, fmt.Errorf("head: %w: %w", store.ErrCorrupt, err)
		}
	}
	if err := s.readPlace(rows[0][3], rows[0][4]); err != nil {
		return h, err
	}
	return h, s.learn(ctx, toInt8(rows[0][2]))
}

// gone returns the error for a repository that was removed after it was opened.
func (s *Store) gone() error { return missingRepository(s.name) }

// opKey is the key of a head's operation, nil for none.
func opKey(h store.Head) []byte {
	if !h.Operation.Defined() {
		return nil
	}
	return key(h.Operation)
}

// Commit stores blocks and moves the head. After a lost connection it repeats the request with the same attempt,
// which the server applies only once, for up to commitPatience.
func (s *Store) Commit(ctx context.Context, old, next store.Head, add ...store.Block) error {
	if err := store.Verify(add); err != nil {
		return err
	}
	if err := old.CheckNext(next); err != nil {
		head, headErr := s.Head(ctx)
		if headErr == nil && head != old {
			err = fmt.Errorf("commit operation %d: %w", next.Seq, store.ErrHeadMoved)
		}
		return errors.Join(headErr, err)
	}
	attempt := fmt.Sprintf("%s-%d%s%s", s.self, s.tries.Add(1), attemptOf, s.client)
	cids, datas := columns(add)
	rows, err := s.ask(ctx, commitPatience, true, "SELECT mnem.commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
		s.id(), int8of(int64(old.Seq)), opKey(old), int8of(int64(next.Seq)), opKey(next), int8of(s.noted.Load()),
		[]byte(attempt), s.durably(), cids, datas)
	if errors.As(err, new(*LostError)) {
		err = fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	if err != nil {
		return err
	}
	switch toInt4(rows[0][0]) {
	case 0:
		s.keepAll(&s.facts, add)
		return s.cameOpen(ctx, add)
	case 3:
		return s.gone()
	}
	return fmt.Errorf("commit operation %d: %w", next.Seq, store.ErrHeadMoved)
}

// Close ends background work, waits for running calls and closes the connections.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return store.ErrClosed
	}
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.calls.Wait()
	s.turns.close()
	s.pool.close()
	return nil
}

// learn rereads redactions if others changed them.
func (s *Store) learn(ctx context.Context, erased int64) error {
	s.redactMu.RLock()
	known := s.erased
	s.redactMu.RUnlock()
	if known == erased {
		return nil
	}
	return s.readRedactions(ctx, known >= 0)
}

// readRedactions reads all redactions, and clears the block cache. others is whether another process may have
// changed them.
func (s *Store) readRedactions(ctx context.Context, others bool) error {
	rows, err := s.run(ctx, "SELECT r.erased, x.cid, x.stub, x.open FROM mnem.repository r "+
		"LEFT JOIN mnem.redaction x ON x.repo = r.id WHERE r.id = $1", s.id())
	if err != nil {
		return fmt.Errorf("read redactions: %w", err)
	}
	list := make(map[ipld.CID]store.Redaction)
	erased := int64(0)
	for _, r := range rows {
		erased = toInt8(r[0])
		if r[1] == nil {
			continue
		}
		c, err := cidOf(r[1])
		if err != nil {
			return fmt.Errorf("read redactions: %w: %w", store.ErrCorrupt, err)
		}
		list[c] = store.Redaction{CID: c, Stub: r[2], Open: bytes.Equal(r[3], boolean(true))}
	}
	s.redactMu.Lock()
	if erased > s.erased {
		s.erased, s.redacted = erased, list
	}
	fn := s.onErased
	s.redactMu.Unlock()
	s.cache.Clear()
	if others && fn != nil {
		go fn()
	}
	return nil
}

// known returns the redactions that were read last, reading them first if none were.
func (s *Store) known(ctx context.Context) (map[ipld.CID]store.Redaction, error) {
	s.redactMu.RLock()
	list, read := s.redacted, s.erased >= 0
	s.redactMu.RUnlock()
	if read {
		return list, nil
	}
	if err := s.readRedactions(ctx, false); err != nil {
		return nil, err
	}
	s.redactMu.RLock()
	defer s.redactMu.RUnlock()
	return s.redacted, nil
}
