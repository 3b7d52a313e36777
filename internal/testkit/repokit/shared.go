package repokit

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/block/store/postgres"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
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

// OnDatabase runs tests of the caller's package again, on repositories in a database. At least so many must pass.
func OnDatabase(t *testing.T, least int) {
	t.Helper()
	if os.Getenv(DatabaseEnv) != "" {
		t.Skip("runs other tests of this package")
	}
	t.Parallel() // in a process of its own
	server := pgserver.Start(t)
	counted := effort.Pick("^TestMerge(Laws|Work)$", "", "") // of work and of results, wherever the blocks are
	cmd := exec.Command(os.Args[0], "-test.v", "-test.skip", counted, "-test.run", "^("+strings.Join([]string{
		"TestModel", "TestHistories", "TestMerge.*", "TestUndo.*", "TestRevert.*", "TestStage.*", "TestSession.*",
		"TestResolve.*", "TestCommit.*", "TestWatch.*", "TestDecide.*", "TestImport.*", "TestPurge.*", "TestRedact.*", "TestRecord.*",
	}, "|")+")$")
	cmd.Env = append(os.Environ(), DatabaseEnv+"="+server.URL("t"))
	out, err := cmd.CombinedOutput()
	passed := len(regexp.MustCompile(`(?m)^--- PASS`).FindAll(out, -1))
	must.True(t, err == nil && passed >= least, "%d passed: %v\n%s", passed, err, out)
	t.Logf("%d tests passed on a database", passed)
}
