package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// call makes a call from the name of an operation and its arguments as JSON.
func call(t *testing.T, name, args string) operation.Call {
	t.Helper()
	all := verbs.Operations()
	for i := range all {
		if all[i].Name == name {
			c := operation.Call{Operation: &all[i]}
			if err := json.Unmarshal([]byte(args), &c.Args); err != nil {
				t.Fatal(err)
			}
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
	if got != want {
		t.Fatalf("%s: outcome %v, want %v: %v %s", c.Operation.Name, got, want, err, &b)
	}
	return b.String(), failed
}

func TestRunnerAnswersAsTheCommandLine(t *testing.T) {
	w, r := remoteWorld(t)
	for _, tt := range []struct {
		name, args string
		line       []string
	}{
		{"retrieve", `{"query":"who is alice?","limit":3,"type":["Person"]}`,
			[]string{"retrieve", "who is alice?", "--limit", "3", "--type", "Person"}},
		{"show", `{"name":"alice"}`, []string{"show", "alice"}},
		{"log", `{"node":"alice","limit":1}`, []string{"log", "--limit=1", "alice"}},
		{"diff", `{}`, []string{"diff"}},
		{"stats", `{"at":"HEAD"}`, []string{"stats"}},
		{"branch", `{}`, []string{"branch"}},
	} {
		got, _ := ask(t, r, operation.OK, call(t, tt.name, tt.args))
		want, _ := w.run(0, append(tt.line, "--json")...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-command line +call):\n%s", tt.name, diff)
		}
		c := call(t, tt.name, tt.args)
		c.Text = true
		got, _ = ask(t, r, operation.OK, c)
		want, _ = w.run(0, tt.line...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s as text (-command line +call):\n%s", tt.name, diff)
		}
	}
}

func TestRunnerWritesForItsCaller(t *testing.T) {
	_, r := remoteWorld(t)
	c := call(t, "commit", `{"message":"m","branch":"main","lines":[{"node":{"key":"bob","type":"P"}},
		{"edge":{"type":"knows","src":"alice","dst":"bob"}}]}`)
	c.Caller = operation.Caller{Author: "Ada", Agent: "robot", Task: "t"}
	ask(t, r, operation.OK, c)
	out, _ := ask(t, r, operation.OK, call(t, "log", `{"limit":1}`))
	if !strings.Contains(out, `"author":"Ada","agent":"robot","task":"t"`) ||
		!strings.Contains(out, `"nodes":{"added":1`) {
		t.Errorf("log: %s", out)
	}
	c = call(t, "commit", `{"message":"from a body"}`)
	c.Body = strings.NewReader(`{"node":{"key":"carol","type":"P"}}` + "\n")
	ask(t, r, operation.OK, c)
	c = call(t, "retrieve_batch", `{"limit":1}`)
	c.Body = strings.NewReader(`{"text":"bob"}` + "\n" + `{"text":"carol"}` + "\n")
	out, _ = ask(t, r, operation.OK, c)
	if strings.Count(out, "\n") != 2 {
		t.Errorf("retrieve_batch: %s", out)
	}
	ask(t, r, operation.OK, call(t, "session_start", `{"name":"s"}`))
	c = call(t, "retrieve", `{"query":"bob"}`)
	c.Caller.Session = "s"
	ask(t, r, operation.OK, c)
	out, _ = ask(t, r, operation.OK, call(t, "session_log", `{"name":"s"}`))
	if !strings.Contains(out, `"query":"bob"`) {
		t.Errorf("session_log: %s", out)
	}
	if out, _ = ask(t, r, operation.OK, call(t, "session_replay", `{"record":"s"}`)); !strings.Contains(out,
		`"identical":true`) {
		t.Errorf("replay: %s", out)
	}
}

func TestRunnerExportsAndImports(t *testing.T) {
	_, r := remoteWorld(t)
	car, _ := ask(t, r, operation.OK, call(t, "export", `{"all":true}`))
	other := newWorld(t)
	other.init()
	c := call(t, "import", `{"name":"x"}`)
	c.Body = strings.NewReader(car)
	ask(t, verbs.NewRunner(other.App, false), operation.OK, c)
	out, _ := other.run(0, "show", "alice", "--at", "refs/imported/x/heads/main", "--json")
	if !strings.Contains(out, `"key":"alice"`) {
		t.Errorf("get: %s", out)
	}
	c.Body = strings.NewReader("no CAR")
	if out, failed := ask(t, r, operation.Invalid, c); failed == nil || out != "" {
		t.Errorf("import of junk: %v, %q", failed, out)
	}
}

func TestRunnerErrors(t *testing.T) {
	w, r := remoteWorld(t)
	for _, tt := range []struct {
		name, args string
		want       operation.Outcome
		message    string
	}{
		{"show", `{"name":"nobody"}`, operation.NotFound, "nobody"},
		{"blame", `{}`, operation.Usage, "node: is required"},
		{"show", `{"name":1}`, operation.Usage, "name: want a string"},
		{"show", `{"name":"a\u0000b"}`, operation.Usage, "name: has a NUL"},
		{"show", `{"name":"-"}`, operation.Usage, "standard input"},
		{"show", `{"name":"x","repo":"/"}`, operation.Usage, `unknown parameter "repo"`},
		{"show", `{"name":"--importance"}`, operation.NotFound, "--importance"},
		{"show", `{"name":"x","at":"--repo=/"}`, operation.NotFound, "--repo=/"},
		{"retrieve", `{"query":"x","limit":"3"}`, operation.Usage, "limit: want an integer"},
		{"retrieve", `{"query":"x","limit":1e3}`, operation.Usage, "limit: want an integer"},
		{"retrieve", `{"query":"x","fusion":"best"}`, operation.Usage, "fusion: \"best\" is not one of"},
		{"retrieve", `{"query":"x","show":["secrets"]}`, operation.Usage, "show: \"secrets\""},
		{"retrieve", `{"query":"x","embed":"static:/"}`, operation.Usage, "embed: want true or false"},
		{"retrieve", `{"query":"x","decay":"1"}`, operation.Usage, "decay: want a number"},
		{"commit", `{"message":"m","lines":{}}`, operation.Usage, "lines: want a list of objects"},
		{"commit", `{"message":"m","lines":["/etc/passwd"]}`, operation.Usage, "item 1 is not an object"},
		{"commit", `{"message":"m","lines":[{"node":{"key":"a"},"node":{"key":"b"}}]}`, operation.Invalid,
			"<stdin>:1"},
		{"diff", `{"b":"HEAD"}`, operation.Usage, `b: needs "a" too`},
		{"commit", `{"message":"m","expect":"none","lines":[{"node":{"key":"z","type":"P"}}]}`,
			operation.Conflict, "branch is at"},
		{"merge", `{"resolve":"alice","take":"alice.jsonl"}`, operation.Usage, "take:"},
	} {
		out, failed := ask(t, r, tt.want, call(t, tt.name, tt.args))
		if failed == nil || !strings.Contains(failed.Message, tt.message) || out != "" {
			t.Errorf("%s %s: %v, want %q; answer %q", tt.name, tt.args, failed, tt.message, out)
		}
	}
	_, failed := ask(t, r, operation.Refused, call(t, "purge", `{"node":"alice"}`))
	if failed == nil || !strings.Contains(failed.Message, "no way back") {
		t.Errorf("purge: %v", failed)
	}
	c := call(t, "show", `{"name":"nobody"}`)
	c.Text = true
	if _, failed := ask(t, r, operation.NotFound, c); failed == nil || failed.Hint == "" {
		t.Errorf("as text: %v, want an error with a hint", failed)
	}
	w.write(filepath.Join(".mnem", "config.json"), `{"wait":"nonsense"}`)
	if _, failed := ask(t, r, operation.Invalid, call(t, "show", `{"name":"alice"}`)); failed == nil {
		t.Error("a bad configuration is no error")
	}
	w.write(filepath.Join(".mnem", "config.json"), `{"author":"A"}`)
	broken := errors.New("broken")
	_, err := r.Run(t.Context(), call(t, "show", `{"name":"alice"}`), failing{broken})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func TestMayName(t *testing.T) {
	w := newWorld(t)
	c := &line.Line{App: w.App}
	for _, remote := range []bool{false, true} {
		c.By.Remote = remote
		if err := c.MayName("file"); errors.Is(err, line.ErrRemote) != remote {
			t.Errorf("remote %t: %v", remote, err)
		}
		if err := c.MayName(line.StdinName); err != nil {
			t.Errorf("remote %t: %v", remote, err)
		}
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
	if _, err := (reach.VerbHost{C: c}).OpenRoot("/"); !errors.Is(err, line.ErrRemote) {
		t.Errorf("roots: %v", err)
	}
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
