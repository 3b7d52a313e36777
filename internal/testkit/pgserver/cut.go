package pgserver

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Cut returns the URL of a repository by way of connections that are cut at random bytes, some way after most
// bytes on the average, until the test ends.
func (s *Server) Cut(t *testing.T, repository string, most int64, seed uint64) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cut")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a temporary directory
	const name = ".s.PGSQL.5432"
	l, err := net.Listen("unix", filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // which ends accepting
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	after := func() int64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Int64N(2 * most)
	}
	go func() {
		for {
			from, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			to, err := net.Dial("unix", filepath.Join(s.dir, name))
			if err != nil {
				_ = from.Close() // as a server that is not there
				continue
			}
			there, back := after(), after()
			end := sync.OnceFunc(func() { _, _ = from.Close(), to.Close() }) // they are cut
			go func() { _, _ = io.CopyN(to, from, there); end() }()          // or ended by one of the two
			go func() { _, _ = io.CopyN(from, to, back); end() }()
		}
	}()
	return fmt.Sprintf("postgres://mnem@/postgres?host=%s&repository=%s", dir, repository)
}
