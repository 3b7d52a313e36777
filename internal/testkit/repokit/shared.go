package repokit

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/block/store/postgres"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

const (
	// DatabaseEnv holds the URL of a database; OpenMem then makes its repositories there.
	DatabaseEnv = "MNEM_TEST_DATABASE"
	// WriterEnv makes a test process commit into the repository that it names, as the writer that WriterName names.
	WriterEnv, WriterName = "MNEM_TEST_WRITER", "MNEM_TEST_WRITER_NAME"

	// SharedWriters processes make SharedCommits commits each in tests of a shared database.
	SharedWriters, SharedCommits = 8, 25
)

var databases atomic.Int64

// AnyStore returns an empty store in memory, or in the database that the environment names.
func AnyStore(t testing.TB) store.Store {
	t.Helper()
	at := os.Getenv(DatabaseEnv)
	if at == "" {
		return mem.New()
	}
	st, err := postgres.Open(t.Context(), postgres.Options{
		URL: fmt.Sprintf("%s%d-%d", at, os.Getpid(), databases.Add(1)), Create: true, Wait: 10 * time.Second,
	})
	must.OK(t, err)
	return st
}

// LinkDatabase makes dir a repository whose blocks are in the database at the URL at.
func LinkDatabase(t *testing.T, dir, at string) {
	t.Helper()
	must.OK(t, os.MkdirAll(dir+"/"+core.DirName, 0o700))
	must.OK(t, os.WriteFile(core.LinkFile(dir), []byte(at+"\n"), 0o600))
}
