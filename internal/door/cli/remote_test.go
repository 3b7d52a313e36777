package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// call makes a call from the name of an operation and its arguments as JSON.
func call(t *testing.T, name, args string) operation.Call {
	t.Helper()
	all := verbs.Operations()
	for i := range all {
		if all[i].Name == name {
			c := operation.Call{Operation: &all[i]}
			must.OK(t, json.Unmarshal([]byte(args), &c.Args))
			return c
		}
	}
	t.Fatalf("no operation %q", name)
	return operation.Call{}
}

// remoteWorld is a repository with facts, and what runs calls on it.
func remoteWorld(t *testing.T) (*world, operation.Runner) {
	t.Helper()
	w := newWorld(t)
	w.init()
	w.write("alice.jsonl", aliceLine)
	w.run(0, "commit", "-m", "x", "alice.jsonl")
	return w, verbs.NewRunner(w.App, false)
}

// ask runs a call that must have an outcome, and returns what it printed.
func ask(
	t *testing.T, r operation.Runner, want operation.Outcome, c operation.Call,
) (string, *operation.Error) {
	t.Helper()
	var b bytes.Buffer
	got, err := r.Run(t.Context(), c, &b)
	var failed *operation.Error
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	must.Equal(t, got, want, c.Operation.Name, ": outcome: ", err, ": ", &b)
	return b.String(), failed
}

func TestMayName(t *testing.T) {
	w := newWorld(t)
	c := &line.Line{App: w.App}
	for _, remote := range []bool{false, true} {
		c.By.Remote = remote
		if err := c.MayName("file"); errors.Is(err, line.ErrRemote) != remote {
			t.Errorf("remote %t: %v", remote, err)
		}
		must.OK(t, c.MayName(line.StdinName), "remote ", remote)
	}
	for spec, refused := range map[string]bool{
		"jina:m": true, "static:/etc": true, "hash": true, "": false, reach.ModelConfigured: false, "local": true,
	} {
		if err := reach.MayChooseModel(c, spec); errors.Is(err, line.ErrRemote) != refused {
			t.Errorf("model %q: %v", spec, err)
		}
	}
	if _, _, err := c.Open(t.Context(), "/etc/hosts"); !errors.Is(err, line.ErrRemote) {
		t.Errorf("open: %v", err)
	}
	must.Fail(t, must.Err((reach.VerbHost{C: c}).OpenRoot("/")), line.ErrRemote, "roots")
}

// TestRunnerOutOfTime sees to it that a call whose time is up is told so, and not a failure of the
// system.
func TestRunnerOutOfTime(t *testing.T) {
	_, r := remoteWorld(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	for _, c := range []operation.Call{
		call(t, "log", `{}`), call(t, "commit", `{"message":"m","lines":[{"node":{"key":"z","type":"P"}}]}`),
	} {
		if got, err := r.Run(ctx, c, io.Discard); got != operation.Interrupted {
			t.Errorf("%s: %v, %v", c.Operation.Name, got, err)
		}
	}
}
