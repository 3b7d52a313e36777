package repokit

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
)

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
		"TestResolve.*", "TestCommit.*", "TestBranch.*", "TestWatch.*", "TestDecide.*", "TestImport.*", "TestPurge.*", "TestRedact.*", "TestRecord.*",
	}, "|")+")$")
	cmd.Env = append(os.Environ(), DatabaseEnv+"="+server.URL("t"))
	out, err := cmd.CombinedOutput()
	passed := len(regexp.MustCompile(`(?m)^--- PASS`).FindAll(out, -1))
	if err != nil || passed < least {
		t.Errorf("%d passed: %v\n%s", passed, err, out)
	}
	t.Logf("%d tests passed on a database", passed)
}
