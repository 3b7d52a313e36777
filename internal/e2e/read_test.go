package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestWatchGoesOn has a process watch while others write, and the process that has the repository
// open is killed: no operation is missing or told twice.
func TestWatchGoesOn(t *testing.T) {
	dir := newRepo(t)
	owner, err := newClient(t.Context(), dir)
	must.OK(t, err)
	var answer struct{ Commit string }
	must.OK(t, owner.tool("commit", fact("w/first"), &answer))
	const writers, each = 3, 8
	watch := command(t.Context(), dir, "op", "watch", "--since", "0", "--ref", "main", "--json",
		"--limit", strconv.Itoa(2+writers*each))
	out, err := watch.StdoutPipe()
	must.OK(t, err)
	must.OK(t, watch.Start())
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				key := fmt.Sprintf("w%d/%d", w, i)
				line := fmt.Sprintf(`{"node":{"key":%q,"type":"Fact"}}`, key)
				var err error
				for range 5 { // one whose owner was killed tells so, and is given again
					if _, err = mnem(t.Context(), dir, line, "commit", "-m", key, "-"); err == nil {
						break
					}
				}
				must.Fail(t, err, nil)
				if w == 0 && i == each/2 {
					if err := owner.cmd.Process.Kill(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	seen := make(map[string]int)
	last := uint64(0)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var op struct {
			Seq      uint64
			Branches []struct{ Message string }
		}
		must.OK(t, json.Unmarshal(lines.Bytes(), &op))
		must.True(t, op.Seq > last, "operation %d after %d", op.Seq, last)
		last = op.Seq
		seen[op.Branches[0].Message]++
	}
	if err := watch.Wait(); err != nil {
		t.Errorf("watch: %v", err)
	}
	group.Wait()
	_ = owner.cmd.Wait() // it was killed
	for w := range writers {
		for i := range each {
			if key := fmt.Sprintf("w%d/%d", w, i); seen[key] != 1 {
				t.Errorf("%s was told %d times", key, seen[key])
			}
		}
	}
}
