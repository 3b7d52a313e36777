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
	"github.com/mnem-project/mnem/internal/verb/ingesting"
)

// sorts is a model to which a text is about webhooks, about holidays or about something else.
type sorts struct{ asked int }

func (*sorts) Model() string { return "sorts" }

func (*sorts) Dim() int { return 3 }

func (m *sorts) Vectors(_ context.Context, texts []string) ([][]int8, error) {
	out := make([][]int8, len(texts))
	for i, text := range texts {
		m.asked++
		switch text = strings.ToLower(text); {
		case strings.Contains(text, "webhook"), strings.Contains(text, "callback"):
			out[i] = []int8{127, 0, 0}
		case strings.Contains(text, "holiday"), strings.Contains(text, "vacation"):
			out[i] = []int8{0, 127, 0}
		default:
			out[i] = []int8{0, 0, 127}
		}
	}
	return out, nil
}

func (*sorts) Whole(texts ...string) (int, bool) { return 421, true }

// TestMeaningByDefault remembers and asks with the model of the program, in one process and through one that has the
// repository open, and switches it off.
func TestMeaningByDefault(t *testing.T) {
	for _, held := range []bool{false, true} {
		t.Run(fmt.Sprintf("held %v", held), func(t *testing.T) {
			w := newWorld(t)
			m := new(sorts)
			w.Meaning = m
			w.init()
			if held {
				defer w.heldWithModel()()
			}
			w.run(0, "remember", "failed webhooks are sent again five times")
			w.run(0, "remember", "nobody works between the holidays")
			if out, _ := w.run(0, "stats", "--json"); !strings.Contains(out, `"embeddings":2,`) {
				t.Errorf("without two embeddings: %s", out)
			}
			const question = "is a callback attempted twice"
			if out, _ := w.run(0, "retrieve", question, "--limit", "1"); !strings.Contains(out, "webhooks") {
				t.Errorf("the paraphrase does not find it: %s", out)
			}
			receipt := w.receiptOf(question)
			if out, _ := w.run(0, "show", receipt); !strings.Contains(strings.Join(strings.Fields(out), ""), `"whole":{"sorts":421}`) {
				t.Errorf("the receipt does not say how many words the model knew: %s", out)
			}
			w.run(0, "config", "set", "embed.model", "off")
			w.run(0, "session", "replay", receipt) // with the vector and share of the receipt
			asked := m.asked
			w.run(0, "remember", "the vacation plan hangs in the kitchen")
			w.run(0, "retrieve", question)
			if m.asked != asked {
				t.Errorf("%d texts were embedded though the model is off", m.asked-asked)
			}
			w.run(0, "config", "unset", "embed.model")
			if out, _ := w.run(0, "embed"); !strings.Contains(out, "1 node") {
				t.Errorf("embed does not make up for it: %s", out)
			}
		})
	}
}

// receiptOf asks a question, and returns the CID of its receipt.
func (w *world) receiptOf(question string) string {
	w.t.Helper()
	out, _ := w.run(0, "retrieve", question, "--receipt", "--json")
	var answer struct{ Receipt string }
	if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.Receipt == "" {
		w.t.Fatalf("no receipt, %v: %s", err, out)
	}
	return answer.Receipt
}

// heldWithModel has another process with the same model hold the repository until what it returns is called.
func (w *world) heldWithModel() (release func()) { return w.heldBy(nil) }

// heldBy is heldWithModel for a process that is a server, unless serving is nil: it embeds what others leave.
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
	if err != nil || !strings.Contains(first, `"socket":"`) {
		w.t.Errorf("hold said %q, %v", first, err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }() // it says no more
	return func() { cancel(); <-done }
}

// TestMeaningAfterwards commits more nodes than are embedded at once: their vectors come in a commit that log does not
// show and undo passes over.
func TestMeaningAfterwards(t *testing.T) {
	w := newWorld(t)
	w.Meaning = new(sorts)
	w.init()
	const nodes = state.MeaningNodes + 1
	w.commitNotes("n", nodes)
	if out, _ := w.run(0, "stats", "--json"); !strings.Contains(out, fmt.Sprintf(`"embeddings":%d,`, nodes)) {
		t.Errorf("not all are embedded: %s", out)
	}
	if out, _ := w.run(0, "log", "--oneline"); strings.Count(out, "\n") != 1 {
		t.Errorf("the log shows the vectors: %s", out)
	}
	w.run(0, "undo")
	if out, _ := w.run(0, "stats", "--json"); !strings.Contains(out, `"nodes":0,`) {
		t.Errorf("undo took something else back: %s", out)
	}
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
			w.Meaning = new(sorts)
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

// TestStepsPassOverVectors: revisions count the commits that log shows, and what is done with the newest one is done
// with the one that was asked for. A CID names its commit exactly.
func TestStepsPassOverVectors(t *testing.T) {
	w := newWorld(t)
	w.Meaning = new(sorts)
	w.init()
	w.commitNotes("a", state.MeaningNodes+1)
	w.commitNotes("b", state.MeaningNodes+2)
	w.commitNotes("c", 1)
	w.commitNotes("d", state.MeaningNodes+3)
	for rev, want := range map[string]string{
		"HEAD": "notes d", "HEAD~0": "notes d", "HEAD~1": "notes c", "HEAD^": "notes c", "HEAD~2": "notes b", "HEAD^^": "notes b",
		"HEAD~1~1": "notes b", "main~3": "notes a", "HEAD@{1}": "notes d", "": "notes d",
	} {
		args := []string{"show"}
		if rev != "" {
			args = append(args, rev)
		}
		if out, _ := w.run(0, args...); !strings.Contains(out, want) || strings.Contains(out, "vectors by") {
			t.Errorf("show %s: want %q: %.300s", rev, want, out)
		}
	}
	w.run(3, "show", "HEAD~4")
	newest := w.head()
	if out, _ := w.run(0, "show", newest); !strings.Contains(out, "vectors by sorts") {
		t.Errorf("a CID is not exact: %.300s", out)
	}
	if out, _ := w.run(0, "stats", "--at", "HEAD~2", "--json"); !strings.Contains(out, fmt.Sprintf(`"embeddings":%d,`, 2*state.MeaningNodes+3)) {
		t.Errorf("a step leads to a memory without its vectors: %s", out)
	}
	if out, _ := w.run(0, "diff", "--stat"); !strings.Contains(out, fmt.Sprint(state.MeaningNodes+3)) {
		t.Errorf("diff does not show the newest commit that was asked for: %s", out)
	}
	if out, _ := w.run(0, "log", "HEAD~1..", "--oneline"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "notes d") {
		t.Errorf("log of a range: %s", out)
	}
	w.run(0, "revert", "HEAD")
	if out, _ := w.run(0, "stats", "--json"); !strings.Contains(out, fmt.Sprintf(`"nodes":%d,`, 2*state.MeaningNodes+4)) {
		t.Errorf("revert HEAD did not revert the commit: %s", out)
	}
	if out, _ := w.run(0, "log", "--oneline", "--limit", "1"); !strings.Contains(out, `revert "notes d"`) {
		t.Errorf("the message of a revert: %s", out)
	}
	w.run(0, "revert", "HEAD~1..HEAD", "-m", "range")
	if out, _ := w.run(0, "stats", "--json"); !strings.Contains(out, fmt.Sprintf(`"nodes":%d,`, 2*state.MeaningNodes+4+state.MeaningNodes+3)) {
		t.Errorf("a range was not reverted: %s", out)
	}
}

// TestKeptOpenEmbedsBeforeItEnds has another command write while one keeps the repository open without being a server.
// The first embeds the nodes without vectors before it closes the repository.
func TestKeptOpenEmbedsBeforeItEnds(t *testing.T) {
	w := newWorld(t)
	w.Meaning = new(sorts)
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
	if err != nil {
		w.t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	return func() { _ = lines.Close(); <-done }
}

// TestEmbedStatus: nodes without a text lack nothing, and what lacks vectors is named by an answer too, until it has
// some.
func TestEmbedStatus(t *testing.T) {
	for _, held := range []bool{false, true} {
		t.Run(fmt.Sprintf("held %v", held), func(t *testing.T) {
			w := newWorld(t)
			w.Meaning = new(sorts)
			w.init()
			if held {
				defer w.heldWithModel()()
			}
			w.run(0, "config", "set", "embed.model", "off")
			w.run(0, "remember", "failed webhooks are sent again five times")
			w.write("empty.jsonl", `{"node":{"key":"empty","type":"Note"}}`+"\n")
			w.run(0, "commit", "-m", "empty", "empty.jsonl")
			w.run(0, "config", "unset", "embed.model")
			w.run(0, "remember", "nobody works between the holidays")

			status := func() ingesting.EmbedStatus { return *w.embedStatus() }
			want := ingesting.EmbedStatus{Nodes: 3, Vectors: 1, Missing: 1}
			before := w.head()
			if got := status(); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			if w.head() != before {
				t.Error("a status made a commit")
			}
			for _, verb := range []string{"retrieve", "recall"} {
				out, _ := w.run(0, verb, "webhooks", "--json")
				const warning = `"warnings":[{"code":"unembedded","message":"1 of 3 memories have no vector yet","remedy":"'mnem embed'"}]`
				if !strings.Contains(out, warning) {
					t.Errorf("%s does not say that a node has no vector: %s", verb, out)
				}
			}
			_, aside := w.run(0, "retrieve", "webhooks", "--receipt")
			if strings.Count(aside, "no vector yet") != 1 {
				t.Errorf("it is not said once: %s", aside)
			}
			w.run(0, "embed")
			if got := status(); got != (ingesting.EmbedStatus{Nodes: 3, Vectors: 2}) {
				t.Errorf("%+v after embed", got)
			}
			if out, aside := w.run(0, "retrieve", "webhooks"); strings.Contains(out+aside, "vector") {
				t.Errorf("a node without a text is said to lack a vector: %s%s", out, aside)
			}
			if out, _ := w.run(0, "retrieve", "webhooks", "--at", "HEAD~1", "--json"); !strings.Contains(out, "embeds the newest commit") {
				t.Errorf("an older commit: %s", out)
			}
		})
	}
}

// TestStatusReportsServer: a server embeds the remaining nodes by its own model.
func TestStatusReportsServer(t *testing.T) {
	w := newWorld(t)
	w.Meaning = new(sorts)
	w.init()
	defer w.heldBy(new(atomic.Bool))()
	w.run(0, "remember", "failed webhooks are sent again five times")
	for model, want := range map[string]string{"minilm": `"by_itself":true`, "hash": `"by_itself":false`} {
		if out, _ := w.run(0, "embed", "--dry-run", "--json", "--model", model); !strings.Contains(out, want) {
			t.Errorf("%s: want %s: %s", model, want, out)
		}
	}
}

// TestOldMemoryEmbedsItself opens a memory that a build without a model wrote: it answers and replays at once, and a server
// embeds it in the background.
func TestOldMemoryEmbedsItself(t *testing.T) {
	w := newWorld(t)
	w.Meaning = new(sorts)
	if err := os.CopyFS(filepath.Join(w.Dir, ".mnem"), os.DirFS("../../../testdata/repos/v2/store")); err != nil {
		t.Fatal(err)
	}
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
