//go:build linux

package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// TestFullDisk uses a repository on a disk that something else filled: each command has one outcome,
// answers come, a purge is recorded, and says what is pending until it is not.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only who administers the machine can mount a small disk")
	}
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs",
		dir).CombinedOutput()
	if err != nil {
		t.Skipf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if out, err := exec.CommandContext(ctx, "umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	app := program.In(dir, io.Discard, io.Discard)
	program.Ran(t, app, "init")
	var lines strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&lines, `{"node":{"key":"k%d","type":"N","summary":"memory %d %x"}}`+"\n", n, n,
			strings.Repeat(fmt.Sprint(n*n*7919), 40))
	}
	app.Stdin = strings.NewReader(lines.String())
	program.Ran(t, app, "commit", "-m", "x", "-")
	free := program.Occupy(t, dir, "first")

	write := func(key string) (int, string, string) {
		app.Stdin = strings.NewReader(nodeLine(key))
		return code(t, app, "commit", "-m", "x", "-", "--json")
	}
	refused := 0
	for i := range 5 { // a small one may still fit next to the reserve
		key := fmt.Sprint("more", i)
		n, out, errs := write(key)
		if n != 0 {
			refused++
		}
		if n == 0 && (out == "" || errs != "") ||
			n != 0 && (out != "" || !strings.Contains(errs, "on the disk and give the command again")) {
			t.Fatalf("exit code %d, %q, %s", n, out, errs)
		}
		program.Ran(t, app, "show", "k7")
		if there, _, errs := code(t, app, "show", key); (there == 0) != (n == 0) {
			t.Errorf("exit code %d, and of looking for it %d, %s", n, there, errs)
		}
	}
	must.True(t, refused > 0, "the disk is not full")
	purge := func(key string) (pending bool) {
		t.Helper()
		var res struct {
			Operation *string
			Pending   bool `json:"erasure_pending"`
		}
		err := json.Unmarshal([]byte(program.Ran(t, app, "purge", key, "--yes", "--json")), &res)
		must.Require(t, err == nil && res.Operation != nil, "%v, %+v", err, res)
		if n, _, errs := code(t, app, "show", key); n != 3 {
			t.Errorf("it is still there: exit code %d, %s", n, errs)
		}
		return res.Pending
	}
	first := purge("k1") // by the room in reserve
	t.Logf("the first is pending: %v", first)
	freeSecond := program.Occupy(t, dir, "second")
	if n, out, errs := write("late"); (n == 0) == (out == "") {
		t.Errorf("exit code %d, %q, %s", n, out, errs)
	}
	freeSecond()
	free()
	if n, _, errs := write("after"); n != 0 {
		t.Errorf("with room again: exit code %d, %s", n, errs)
	}
	must.True(t, !purge("k2"), "with room again the erasure is pending")
	program.Ran(t, app, "fsck", "--full")
}
