package postgres

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

// cutter passes connections on to a server. Once told to, it cuts all of them, and answers the next ones as a server that
// takes a connection and ends at its first request.
type cutter struct {
	server string // its socket

	mu   sync.Mutex
	open []net.Conn
	next int // how many connections are cut at their first request
}

func (c *cutter) cut(next int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		_ = conn.Close() // it may have ended
	}
	c.open, c.next = nil, next
}

func (c *cutter) serve(l net.Listener) {
	for {
		from, err := l.Accept()
		if err != nil {
			return // the test ended
		}
		c.mu.Lock()
		if c.next > 0 {
			c.next--
			go takeAndCut(from)
		} else if to, err := net.Dial("unix", c.server); err == nil {
			c.open = append(c.open, from, to)
			end := func() { _, _ = from.Close(), to.Close() } // they may have ended
			go func() { _, _ = io.Copy(from, to); end() }()
			go func() { _, _ = io.Copy(to, from); end() }()
		}
		c.mu.Unlock()
	}
}

func takeAndCut(from net.Conn) {
	defer func() { _ = from.Close() }() // the client may have been first
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, from, int64(binary.BigEndian.Uint32(size[:]))-4)
	_, _ = from.Write([]byte("R\x00\x00\x00\x08\x00\x00\x00\x00Z\x00\x00\x00\x05I")) // authenticated, ready
	_, _ = from.Read(size[:1])
}

// TestManyLosses cuts more connections in a row during a commit than patience has time for if pauses between attempts
// grow as they do for a server that is down.
func TestManyLosses(t *testing.T) {
	t.Parallel()
	server, ctx := pgserver.Start(t), t.Context()
	const socket, losses = ".s.PGSQL.5432", 150
	at := must.Get(url.Parse(server.URL("cut")))(t)
	query, dir := at.Query(), t.TempDir()
	c := &cutter{server: filepath.Join(query.Get("host"), socket)}
	l := must.Get(net.Listen("unix", filepath.Join(dir, socket)))(t)
	t.Cleanup(func() { _ = l.Close() }) // which ends serve
	go c.serve(l)
	query.Set("host", dir)
	at.RawQuery = query.Encode()
	s := must.Get(Open(ctx, Options{URL: at.String(), Create: true, Wait: 10 * time.Second}))(t)
	t.Cleanup(func() { must.OK(t, s.Close()) })
	head := storetest.Next(store.Head{}, 1)
	c.cut(losses)
	must.OK(t, s.Commit(ctx, store.Head{}, head, storetest.Block(1, 1000)))
	must.Equal(t, must.Get(s.Head(ctx))(t), head)
	c.mu.Lock()
	defer c.mu.Unlock()
	must.Equal(t, c.next, 0, "connections left to cut")
}

// TestPatience has a statement lose its connection after a time that is longer than patience, and another one each time.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		must.Get(again(t.Context(), patience, func() (int, error) {
			if tries++; tries == 1 {
				time.Sleep(2 * patience)
				return 0, io.ErrUnexpectedEOF
			}
			return tries, nil
		}))(t)
		began := time.Now()
		_, err := again(t.Context(), patience, func() (int, error) { return 0, io.ErrUnexpectedEOF })
		must.Fail(t, err, store.ErrBusy)
		must.Equal(t, time.Since(began), patience)
		tries = 0
		_, err = again(t.Context(), 0, func() (int, error) { tries++; return 0, io.ErrUnexpectedEOF })
		must.Fail(t, err, store.ErrBusy)
		must.Equal(t, tries, 1, "attempts")
		canceled, cancel := context.WithCancel(t.Context())
		_, err = again(canceled, patience, func() (int, error) { cancel(); return 0, io.ErrUnexpectedEOF })
		must.Fail(t, err, context.Canceled)
	})
}
