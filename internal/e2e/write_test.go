package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

const (
	clients = 8
	writes  = 25 // of each client
)

// fact is the argument of a commit that makes one node.
func fact(key string) map[string]any {
	return map[string]any{
		"message": key,
		"nodes":   []any{map[string]any{"key": key, "type": "Fact", "summary": "fact " + key}},
		"edges":   []any{map[string]any{"type": "of", "src": key, "dst": "alice"}},
	}
}

// acknowledged are keys of nodes whose commit was answered.
type acknowledged struct {
	mu   sync.Mutex
	keys []string
}

func (a *acknowledged) add(key string) {
	a.mu.Lock()
	a.keys = append(a.keys, key)
	a.mu.Unlock()
}

// checkSurvived fails for what was acknowledged and is not there.
func (a *acknowledged) checkSurvived(t *testing.T, dir string) {
	t.Helper()
	there := make(map[string]bool)
	for next := ""; ; {
		var page struct {
			Nodes []struct{ Key string }
			Next  *string
		}
		args := []string{"ls", "--json", "--type", "Fact", "--limit", "1000"}
		if next != "" {
			args = append(args, "--after", next)
		}
		must.OK(t, json.Unmarshal([]byte(mustRun(t, dir, "", args...)), &page))
		for _, n := range page.Nodes {
			there[n.Key] = true
		}
		if page.Next == nil {
			break
		}
		next = *page.Next
	}
	for _, key := range a.keys {
		must.True(t, there[key], "%s was acknowledged and is not there", key)
	}
}

// TestClientsWriteAtOnce has eight MCP clients, each a process, commit at once while a command line
// commits in a loop, another process retrieves, and one watches: all that was acknowledged is there,
// and the watch told every operation once.
func TestClientsWriteAtOnce(t *testing.T) {
	dir := newRepo(t)
	var got acknowledged
	var group, others sync.WaitGroup
	began := time.Now()
	for c := range clients {
		group.Go(func() {
			client, err := newClient(t.Context(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range writes {
				key := fmt.Sprintf("c%d/%d", c, i)
				var made struct{ Commit string }
				if err := client.tool("commit", fact(key), &made); err != nil {
					t.Errorf("%s: %v", key, err)
					return
				}
				got.add(key)
			}
			if err := client.close(); err != nil {
				t.Error(err)
			}
		})
	}
	stop := make(chan struct{})
	loop := func(what string, do func(i int) error) {
		others.Go(func() {
			n := 0
			for ; ; n++ {
				select {
				case <-stop:
					t.Logf("%d %s meanwhile", n, what)
					return
				default:
				}
				if err := do(n); err != nil {
					t.Errorf("%s: %v", what, err)
					return
				}
			}
		})
	}
	loop("commits of the command line", func(i int) error {
		key := fmt.Sprintf("shell/%d", i)
		_, err := mnem(t.Context(), dir, fmt.Sprintf(
			`{"node":{"key":%q,"type":"Fact","summary":"of the shell"}}`, key), "commit", "-m", key, "-")
		if err == nil {
			got.add(key)
		}
		return err
	})
	loop("retrievals", func(int) error {
		out, err := mnem(t.Context(), dir, "", "retrieve", "who leads infra", "--json")
		if err == nil && !strings.Contains(out, "Alice leads infra") {
			err = fmt.Errorf("nothing of Alice: %s", out)
		}
		return err
	})
	group.Wait()
	took := time.Since(began)
	close(stop)
	others.Wait()
	if n := len(got.keys); n < clients*writes {
		t.Errorf("%d acknowledged, want at least %d", n, clients*writes)
	}
	got.checkSurvived(t, dir)
	t.Logf("%d acknowledged in all; the %d of clients took %v", len(got.keys), clients*writes, took)
}

// TestOwnersAreKilled kills the process that has the repository open, again and again while clients
// write, some with signatures: what was acknowledged survives, and the next process takes over.
func TestOwnersAreKilled(t *testing.T) {
	const seed = 7
	kills := effort.Pick(8, 20, 200)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := newRepo(t)
	mustRun(t, dir, "", "key", "new", "work")
	var got acknowledged
	var signed atomic.Int64
	var longest time.Duration
	for round := range kills {
		owner := must.Get(newClient(t.Context(), dir))(t)
		var answer struct{ Commit string }
		must.OK(t, owner.tool("commit", fact(fmt.Sprintf("r%d/first", round)), &answer))
		got.add(fmt.Sprintf("r%d/first", round))
		var group sync.WaitGroup
		group.Go(func() { // in the owner itself, until it dies
			for i := 0; ; i++ {
				key := fmt.Sprintf("r%d/own/%d", round, i)
				var answer struct{ Commit string }
				if owner.tool("commit", fact(key), &answer) != nil {
					return
				}
				got.add(key)
			}
		})
		group.Go(func() { // through its socket
			for i := range 3 {
				key := fmt.Sprintf("r%d/shell/%d", round, i)
				line := fmt.Sprintf(`{"node":{"key":%q,"type":"Fact"}}`, key)
				if _, err := mnem(t.Context(), dir, line, "commit", "-m", key, "-", "--sign"); err == nil {
					got.add(key)
					signed.Add(1)
				}
			}
		})
		time.Sleep(time.Duration(5+rng.IntN(60)) * time.Millisecond)
		must.OK(t, owner.cmd.Process.Kill())
		killed := time.Now()
		mustRun(t, dir, "", "status", "--json")
		longest = max(longest, time.Since(killed))
		_ = owner.cmd.Wait() // it was killed
		group.Wait()
	}
	got.checkSurvived(t, dir)
	log := mustRun(t, dir, "", "log", "--json", "--signatures", "-n", "100000")
	n := int64(strings.Count(log, `"signature":"signed"`))
	must.True(t, n >= signed.Load() && n > 0, "%d signed commits, %d were acknowledged", n, signed.Load())
	t.Logf("%d acknowledged over %d kills; the next answer took at most %v", len(got.keys), kills, longest)
}
