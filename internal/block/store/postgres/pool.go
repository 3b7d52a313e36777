package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// conn is a connection with its prepared statements.
type conn struct {
	*pgconn.PgConn
	prepared map[string]string // names by text
	rests    *time.Timer       // closes it when idle for too long
}

// idleTime is how long an unused connection is kept: a process may have many repositories open, and a server few
// connections.
const idleTime = 30 * time.Second

// pool holds connections. Each is used by one statement at a time, so that no call waits for an outer call's
// connection.
type pool struct {
	config *pgconn.Config
	greet  func(context.Context, *conn) error // sets up a new connection; nil for none
	slots  chan struct{}                      // one for each running statement

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

func newPool(config *pgconn.Config, most int) *pool {
	return &pool{config: config, slots: make(chan struct{}, most)}
}

func (p *pool) connect(ctx context.Context) (*conn, error) {
	made, err := pgconn.ConnectConfig(ctx, p.config)
	if err != nil {
		return nil, err
	}
	c := &conn{PgConn: made, prepared: make(map[string]string)}
	if p.greet != nil {
		if err := p.greet(ctx, c); err != nil {
			drop(c)
			return nil, err
		}
	}
	return c, nil
}

func (p *pool) take(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		c := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		c.rests.Stop() // if it has fired, it finds the connection gone from the list
		if !c.IsClosed() {
			p.mu.Unlock()
			return c, nil
		}
	}
	p.mu.Unlock()
	return p.connect(ctx)
}

// give returns a connection, which the pool keeps unless it is broken.
func (p *pool) give(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case c.IsClosed():
	case p.closed || c.IsBusy() || c.TxStatus() != 'I': // idle
		drop(c)
	default:
		p.idle = append(p.idle, c)
		c.rests = time.AfterFunc(idleTime, func() { p.end(c) })
	}
}

// end closes a connection if it is still idle.
func (p *pool) end(c *conn) {
	p.mu.Lock()
	i := slices.Index(p.idle, c)
	if i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		drop(c)
	}
}

// drop closes a connection without waiting for it to finish its work.
func drop(c *conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.idle {
		c.rests.Stop()
		drop(c)
	}
	p.idle = nil
}

// row is a row of an answer, valid until its statement runs again.
type row = [][]byte

// once runs one statement, all parameters and columns in the binary format, and returns its rows.
func (p *pool) once(ctx context.Context, sql string, params [][]byte) ([]row, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	defer p.give(c)
	return c.run(ctx, sql, params)
}

func (c *conn) run(ctx context.Context, sql string, params [][]byte) ([]row, error) {
	name, ok := c.prepared[sql]
	if !ok {
		name = "mnem" + strconv.Itoa(len(c.prepared))
		if _, err := c.Prepare(ctx, name, sql, nil); err != nil {
			return nil, err
		}
		c.prepared[sql] = name
	}
	binaryFormat := []int16{1}
	res := c.ExecPrepared(ctx, name, params, binaryFormat, binaryFormat).Read()
	return res.Rows, named(res.Err)
}

// Pauses between attempts grow to cutPause if the server takes connections and cuts them, and to mostPause if it takes
// none. Under load the next connection may be cut as well before its statement ends, so that many must be tried.
const (
	firstPause = 5 * time.Millisecond
	cutPause   = 20 * time.Millisecond
	mostPause  = 500 * time.Millisecond
)

// run runs an idempotent statement, and retries it until patience has passed since the connection was lost.
func (p *pool) run(ctx context.Context, patience time.Duration, sql string, params ...[]byte) ([]row, error) {
	return again(ctx, patience, func() ([]row, error) { return p.once(ctx, sql, params) })
}

// again retries fn until it succeeds, fails with an error other than a lost connection, or patience has passed since
// the first loss: how long fn took before that does not count.
func again[T any](ctx context.Context, patience time.Duration, fn func() (T, error)) (T, error) {
	var end <-chan time.Time
	for pause := firstPause; ; pause *= 2 {
		got, err := fn()
		if err == nil || !passes(err) {
			if err != nil && ctx.Err() != nil {
				err = ctx.Err()
			}
			return got, named(err)
		}
		if end == nil {
			end = time.After(patience)
		}
		most := cutPause
		if errors.As(err, new(*pgconn.ConnectError)) {
			most = mostPause
		}
		pause = min(pause, most)
		select {
		case <-time.After(pause):
		case <-end:
			return got, &LostError{err}
		case <-ctx.Done():
			return got, ctx.Err()
		}
	}
}

// LostError is returned if the database could not be reached, or did not answer, for too long. For a Commit it is
// then unknown whether it was made.
type LostError struct{ Err error }

func (e *LostError) Error() string {
	return fmt.Sprintf("the database does not answer: %s", withoutSecrets(e.Err))
}

// Unwrap makes it an error of store.ErrBusy as well.
func (e *LostError) Unwrap() []error { return []error{store.ErrBusy, e.Err} }

// withoutSecrets formats an error on one line. pgconn omits passwords from its messages.
func withoutSecrets(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// diskFull is the SQLSTATE of a server whose disk is full.
const diskFull = "53100"

// named returns err, wrapping store.ErrServerFull if the disk of the server is full.
func named(err error) error {
	var told *pgconn.PgError
	if errors.As(err, &told) && told.Code == diskFull && !errors.Is(err, store.ErrServerFull) {
		return fmt.Errorf("%w (SQLSTATE %s): %w", store.ErrServerFull, diskFull, err)
	}
	return err
}

// passes reports whether an error is transient: a connection problem, a server that is starting or stopping, or a
// deadlock of two transactions.
func passes(err error) bool {
	for _, ours := range []error{context.Canceled, context.DeadlineExceeded, store.ErrNotFound, fs.ErrExist, errFormat, errOld} {
		if errors.Is(err, ours) {
			return false
		}
	}
	var told *pgconn.PgError
	if !errors.As(err, &told) {
		return true
	}
	switch {
	case strings.HasPrefix(told.Code, "08"), strings.HasPrefix(told.Code, "57P"): // connections
		return told.Code != "57P04" // the database was dropped
	case told.Code == "40001", told.Code == "40P01", told.Code == "53300":
		return true
	}
	return false
}

// Parameters in the binary format.

func int4(n int32) []byte   { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
func int8of(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func boolean(b bool) []byte {
	if b {
		return []byte{1}
	}
	return []byte{0}
}

const (
	oidBool  = 16
	oidBytea = 17
)

// array encodes a one-dimensional array of n values.
func array(oid uint32, n int, value func(int) []byte) []byte {
	size := 20
	for i := range n {
		size += 4 + len(value(i))
	}
	be := binary.BigEndian
	b := make([]byte, 0, size)
	if n == 0 {
		return be.AppendUint32(append(b, 0, 0, 0, 0, 0, 0, 0, 0), oid)
	}
	b = append(b, 0, 0, 0, 1, 0, 0, 0, 0)
	b = be.AppendUint32(b, oid)
	b = be.AppendUint32(b, uint32(n))
	b = be.AppendUint32(b, 1)
	for i := range n {
		v := value(i)
		b = append(be.AppendUint32(b, uint32(len(v))), v...)
	}
	return b
}

// keyLen is the length of a key: the codec byte of a CID and its digest.
const keyLen = 1 + ipld.DigestLen

func key(c ipld.CID) []byte {
	digest := c.Digest()
	return append([]byte{byte(c.Codec())}, digest[:]...)
}

func keys(list []ipld.CID) []byte {
	return array(oidBytea, len(list), func(i int) []byte { return key(list[i]) })
}

func cidOf(b []byte) (ipld.CID, error) {
	if len(b) != keyLen {
		return ipld.CID{}, fmt.Errorf("%w: a key of %d bytes", ipld.ErrCID, len(b))
	}
	return ipld.CIDFromBytes(append([]byte{1, b[0], 0x12, ipld.DigestLen}, b[1:]...))
}

func toInt8(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

func toInt4(b []byte) int32 {
	if len(b) != 4 {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

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
	if lack, ok := errors.AsType[*store.DeniedError](err); ok {
		none = fmt.Errorf("%w: %w", none, lack.Err)
	}
	return s.pool.lacks(none)
}
