package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/program"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// agentsAtOnce is how many agents use one repository in a database at the same time.
const agentsAtOnce = 32

// agent is one agent on a machine of its own, and what it did.
type agent struct {
	name              string
	told              []string // that was acknowledged
	remember, recall  []time.Duration
	failed            []string
	unfound, listings int
}

// works remembers and recalls until a time, but at least once.
func (a *agent) works(t *testing.T, app *line.App, at string, until time.Time) {
	run := func(args ...string) (out string, took time.Duration, ok bool) {
		var text, errs strings.Builder
		one := *app
		one.Stdout, one.Stderr = &text, &errs
		began := time.Now()
		code := cli.Run(t.Context(), &one, append([]string{"-R", at}, args...))
		if code != 0 {
			a.failed = append(a.failed, fmt.Sprintf("mnem %q: exit code %d: %s", args, code, &errs))
		}
		return text.String(), time.Since(began), code == 0
	}
	err := cli.Live(app, func(h *peers.Holder) {
		app.Holder = h
		for n := 0; n == 0 || time.Now().Before(until); n++ {
			text := fmt.Sprintf("%s saw lamp %d in room %d of house %s", a.name, n*31, n*7919%1009, a.name)
			out, took, ok := run("remember", text, "--json")
			if ok {
				var said struct{ ID string }
				if err := json.Unmarshal([]byte(out), &said); err != nil || said.ID == "" {
					a.failed = append(a.failed, fmt.Sprintf("%v: %s", err, out))
				}
				a.told = append(a.told, said.ID)
				a.remember = append(a.remember, took)
			}
			out, took, ok = run("recall", text, "--json")
			if ok {
				a.recall = append(a.recall, took)
				a.listings++
				if !strings.Contains(out, fmt.Sprintf("lamp %d in room", n*31)) {
					a.unfound++
				}
			}
		}
	})
	if err != nil {
		a.failed = append(a.failed, err.Error())
	}
}

func quantile(list []time.Duration, percent int) time.Duration {
	slices.Sort(list)
	return list[min(len(list)*percent/100, len(list)-1)].Round(time.Millisecond)
}

// TestSoakAgentsOnDatabase has many agents remember and recall at the same time, each with connections of its own, and finds
// all that was acknowledged.
func TestSoakAgentsOnDatabase(t *testing.T) {
	length := effort.Soak(t)
	server := pgserver.Start(t, "fsync=on")
	dir, at := t.TempDir(), server.URL("fleet")
	first := program.In(dir, io.Discard, io.Discard)
	first.Data = filepath.Join(dir, "first")
	program.Ran(t, first, "-R", at, "init")
	began := time.Now()
	var all []*agent
	var wg sync.WaitGroup
	for n := range agentsAtOnce {
		a := &agent{name: fmt.Sprintf("agent%d", n)}
		all = append(all, a)
		app := program.In(dir, io.Discard, io.Discard)
		app.Data = filepath.Join(dir, a.name)
		app.Getenv = func(v string) string {
			return map[string]string{"MNEM_CLIENT": a.name, "MNEM_AUTHOR": a.name, "MNEM_WAIT": "30s", "MNEM_REPO": at}[v]
		}
		wg.Go(func() { a.works(t, app, at, began.Add(length)) })
	}
	wg.Wait()
	took := time.Since(began)
	var remember, recall []time.Duration
	var there struct{ Nodes []struct{ ID string } }
	if err := json.Unmarshal([]byte(program.Ran(t, first, "-R", at, "ls", "--json", "--limit", "0")), &there); err != nil {
		t.Fatal(err)
	}
	keys := make(map[string]bool)
	for _, n := range there.Nodes {
		keys[n.ID] = true
	}
	for _, a := range all {
		for _, f := range a.failed {
			t.Errorf("%s: %s", a.name, f)
		}
		for _, key := range a.told {
			if !keys[key] {
				t.Errorf("acknowledged and not there: %s", key)
			}
		}
		if a.unfound > 0 || len(a.told) == 0 {
			t.Errorf("%s: %d acknowledged, %d of %d not recalled", a.name, len(a.told), a.unfound, a.listings)
		}
		remember, recall = append(remember, a.remember...), append(recall, a.recall...)
	}
	program.Ran(t, first, "-R", at, "fsck")
	if len(remember) == 0 || len(recall) == 0 {
		t.Fatal("nothing was done")
	}
	t.Logf("%d agents, %s: %d remembered, %s median, %s at 99%%; %d recalled, %s median, %s at 99%%", agentsAtOnce,
		took.Round(time.Second), len(remember), quantile(remember, 50), quantile(remember, 99), len(recall),
		quantile(recall, 50), quantile(recall, 99))
}
