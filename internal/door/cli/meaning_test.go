package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/modelkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
)

// heldBy has another process keep the repository open until what it returns is called. It is a server, which embeds what
// others leave, unless serving is nil.
func (w *world) heldBy(serving *atomic.Bool) (release func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, out := io.Pipe()
	app := *w.App
	app.Stdin, app.Stdout, app.Stderr, app.Serving = strings.NewReader(""), out, io.Discard, serving
	done := make(chan struct{})
	go func() {
		defer close(done)
		Run(ctx, &app, []string{"hold", "--json"})
		_ = out.Close() // a pipe in memory
	}()
	first, err := bufio.NewReader(r).ReadString('\n')
	must.True(w.t, err == nil && strings.Contains(first, `"socket":"`), "hold said %q, %v", first, err)
	go func() { _, _ = io.Copy(io.Discard, r) }() // it says no more
	return func() { cancel(); <-done }
}

// TestManyAreEmbeddedLater commits more than a command embeds: it embeds none and the answer says how many there are. A
// process that keeps the repository open embeds them if it is a server, and else leaves them too.
func TestManyAreEmbeddedLater(t *testing.T) {
	const notes = core.LeftNodes + 1
	for name, held := range map[string]func(*world) (release func()){
		"alone": func(*world) func() { return func() {} },
		"held":  (*world).conversing,
		"serve": func(w *world) func() { return w.heldBy(new(atomic.Bool)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Meaning = new(modelkit.Sorts)
			w.init()
			w.run(0, "remember", "failed webhooks are sent again five times")
			release := held(w)
			write := func(more string) {
				var lines strings.Builder
				for i := range notes {
					fmt.Fprintf(&lines, `{"node":{"key":"n%d","type":"Note","summary":"holiday %d%s"}}`+"\n", i, i, more)
				}
				w.write("notes.jsonl", lines.String())
			}
			write("")
			out, _ := w.run(0, "commit", "-m", "notes", "notes.jsonl")
			for end := time.Now().Add(time.Minute); name == "serve" && w.embedStatus().Missing > 0 && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			release()
			if want := "nodes have no vectors yet: questions find these by their words"; !strings.Contains(out, want) {
				t.Errorf("the answer does not say %q: %s", want, out)
			}
			if out, _ = w.run(0, "retrieve", "holiday 77", "--limit", "1"); !strings.Contains(out, "holiday 77") {
				t.Errorf("words find nothing: %s", out)
			}
			status := w.embedStatus()
			if served := name == "serve"; status.Missing > 0 == served {
				t.Errorf("%+v", status)
			}
			w.run(0, "embed")
			if status = w.embedStatus(); status.Missing != 0 {
				t.Errorf("%+v after embed", status)
			}
			w.write("one.md", "# One\n\nvacation\n")
			if out, _ = w.run(0, "ingest", "one.md", "--json"); strings.Contains(out, "unembedded") {
				t.Errorf("few nodes without vectors are named: %s", out)
			}
			write(" changed")
			if _, aside := w.run(0, "commit", "-m", "changed", "notes.jsonl"); !strings.Contains(aside, "8193 nodes have vectors of older texts") {
				t.Errorf("it is not said that vectors are stale: %s", aside)
			}
		})
	}
}

// embedStatus returns the answer of 'embed --dry-run'.
func (w *world) embedStatus() *ingesting.EmbedStatus {
	w.t.Helper()
	out, _ := w.run(0, "embed", "--dry-run", "--json")
	var got ingesting.Embedded
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Status == nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return got.Status
}

// commitNotes commits so many notes, whose keys begin with name, under the message "notes NAME".
func (w *world) commitNotes(name string, n int) {
	w.t.Helper()
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"node":{"key":"%s%d","type":"Note","summary":"webhook %d"}}`+"\n", name, i, i)
	}
	w.write(name+".jsonl", lines.String())
	w.run(0, "commit", "-m", "notes "+name, name+".jsonl")
}

// TestKeptOpenEmbedsBeforeItEnds has another command write while one keeps the repository open without being a server.
// The first embeds the nodes without vectors before it closes the repository.
func TestKeptOpenEmbedsBeforeItEnds(t *testing.T) {
	w := newWorld(t)
	w.Meaning = new(modelkit.Sorts)
	w.init()
	const nodes = state.MeaningNodes + 1
	w.commitNotes("first", 1)
	release := w.conversing()
	w.commitNotes("n", nodes)
	if out, _ := w.run(0, "embed", "--dry-run"); !strings.Contains(out, fmt.Sprintf("1 of %d nodes", nodes+1)) {
		t.Errorf("they have vectors already, so that this tests nothing: %s", out)
	}
	release()
	if out, _ := w.run(0, "embed", "--dry-run"); !strings.Contains(out, fmt.Sprintf("%d of %[1]d nodes", nodes+1)) {
		t.Errorf("not all are embedded: %s", out)
	}
}

// conversing has another process keep the repository open for a batch of questions that it is given one by one, until
// what it returns is called.
func (w *world) conversing() (release func()) {
	w.t.Helper()
	in, lines := io.Pipe()
	answers, out := io.Pipe()
	app := *w.App
	app.Stdin, app.Stdout, app.Stderr = in, out, io.Discard
	done := make(chan struct{})
	go func() {
		defer close(done)
		Run(context.Background(), &app, []string{"retrieve", "--batch", "-"})
		_ = out.Close() // a pipe in memory
	}()
	read := bufio.NewReader(answers)
	_, err := io.WriteString(lines, `{"text":"webhook"}`+"\n")
	if err == nil {
		_, err = read.ReadString('\n')
	}
	must.OK(w.t, err)
	go func() { _, _ = io.Copy(io.Discard, read) }()
	return func() { _ = lines.Close(); <-done }
}

// TestOldMemoryEmbedsItself opens a memory that a build without a model wrote: it answers and replays at once, and a server
// embeds it in the background.
func TestOldMemoryEmbedsItself(t *testing.T) {
	w := newWorld(t)
	w.Meaning = new(modelkit.Sorts)
	must.OK(t, os.CopyFS(filepath.Join(w.Dir, ".mnem"), os.DirFS("../../../testdata/repos/v2/store")))
	status := w.embedStatus
	answers := func() {
		t.Helper()
		if out, _ := w.run(0, "retrieve", "who keeps the ledger?", "--limit", "1"); !strings.Contains(out, "Ada keeps the ledger") {
			t.Errorf("no answer: %s", out)
		}
		w.run(0, "session", "replay", "talk") // receipts with a vector and without
	}
	head := w.head()
	answers()
	before := status()
	if before.Vectors != 0 || before.Missing < 3 || w.head() != head {
		t.Fatalf("%+v: there is nothing to embed, or a question did it", before)
	}
	release := w.heldBy(new(atomic.Bool))
	defer func() { release(); w.run(0, "fsck", "--full") }()
	for deadline := time.Now().Add(time.Minute); status().Missing > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%+v after a minute", status())
		}
	}
	if after := status(); after.Vectors != before.Missing || after.Nodes != before.Nodes {
		t.Errorf("%+v, before %+v", after, before)
	}
	answers()
	if out, _ := w.run(0, "log", "--oneline", "--limit", "1"); strings.Contains(out, "vectors by") {
		t.Errorf("the log shows the vectors: %s", out)
	}
}
