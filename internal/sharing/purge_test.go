package sharing_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestReadsDuringPurges has readers ask a process that has the repository open, in all ways, while other processes
// purge nodes: an answer is whole, or the node is gone or redacted, and nothing is ever taken for damage.
func TestReadsDuringPurges(t *testing.T) {
	purges := effort.Pick(8, 60, 200)
	w := newTeam(t, over(t, "http"))
	var lines strings.Builder
	for i := range 3 {
		fmt.Fprintf(&lines, `{"node":{"key":"scope%[1]d","type":"Topic","summary":"what is kept of topic %[1]d"}}`+"\n", i)
	}
	for i := range purges {
		fmt.Fprintf(&lines, `{"node":{"key":"secret%[1]d","type":"Fact","summary":"the word of day %[1]d is heron %[1]d",`+
			`"content":%[2]q}}`+"\n"+`{"edge":{"type":"part-of","src":"secret%[1]d","dst":"scope%[3]d"}}`+"\n",
			i, strings.Repeat(fmt.Sprintf("Heron %d went to the lake. ", i), 50), i%3)
	}
	w.run(0, "hub", lines.String(), "commit", "-m", "all", "-")
	w.ok("hub", "map", "--rebuild")
	w.clones("a")
	first := w.at("hub", "refs/heads/main")

	var at atomic.Int64
	reads := [][]string{
		{"show", "SECRET"}, {"show", "SECRET", "--at", first}, {"recall", "heron of the lake", "--at", first},
		{"retrieve", "heron of the lake"}, {"retrieve", "heron of the lake", "--at", first},
		{"retrieve", "what is kept of topic 1", "--set", "altitude=auto"},
		{"recall", "word of day", "--at", first}, {"log"}, {"diff", first, "HEAD"}, {"ls", "--type", "Fact"},
		{"map"}, {"map", "--at", first}, {"map", "scope1"}, {"map", "scope1", "--at", first},
		{"explore", "scope1"}, {"explore", "--communities"}, {"stats"}, {"export", "--all", "-o", "FILE"},
	}
	machines := map[string][]string{"hub": nil, "over HTTP": {"-R", w.url}}
	var mu sync.Mutex
	outcomes := make(map[string]map[int]int) // of each verb
	read := func(n int, machine string, args []string) {
		args = slices.Clone(args)
		for i := range args {
			switch args[i] {
			case "SECRET":
				args[i] = fmt.Sprint("secret", at.Load())
			case "FILE":
				args[i] = filepath.Join(t.TempDir(), "x.car")
			}
		}
		var out bytes.Buffer
		app := w.app("reader", "", &out, &out)
		if machine == "hub" || machine == "a" {
			app = w.app(machine, "", &out, &out)
		}
		code := cli.Run(t.Context(), app, args)
		mu.Lock()
		defer mu.Unlock()
		if outcomes[args[0]] == nil {
			outcomes[args[0]] = make(map[int]int)
		}
		outcomes[args[0]][code]++
		text := out.String()
		if strings.Contains(text, "corrupt") || strings.Contains(text, "is missing") ||
			code != 0 && code != 3 && code != 6 && (code != 4 || !strings.Contains(text, "redacted")) {
			t.Errorf("reader %d, %s: mnem %q: exit code %d: %s", n, machine, args, code, text)
		}
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for n := range 3 {
		readers.Go(func() {
			for i := n; ; i++ {
				select {
				case <-done:
					if i > n+2*len(reads) { // each is asked in each way, however soon the purges end
						return
					}
				default:
				}
				args := reads[i%len(reads)]
				switch machine := slices.Sorted(maps.Keys(machines))[i/len(reads)%2]; {
				case i%7 == 0:
					read(n, "a", []string{"fetch"})
				case args[0] == "export" || slices.Contains(args, "--communities") || machine == "hub":
					read(n, "hub", args)
				default:
					read(n, machine, append(slices.Clone(args), machines[machine]...))
				}
			}
		})
	}
	for i := range purges {
		at.Store(int64(i))
		cmd := w.process("hub", "", "purge", fmt.Sprint("secret", i), "--yes")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("purge %d: %v: %s", i, err, out)
		}
	}
	close(done)
	readers.Wait()
	for _, verb := range slices.Sorted(maps.Keys(outcomes)) {
		t.Logf("%s: %v", verb, outcomes[verb])
		if verb != "show" && outcomes[verb][0] == 0 {
			t.Errorf("%s never answered: %v", verb, outcomes[verb])
		}
	}
	must.True(t, len(outcomes) >= 11, "%d verbs were asked", len(outcomes))
}

// admin has all that are sent to a server go with a token of scope admin.
func (w *team) admin() {
	w.Helper()
	if !strings.HasPrefix(w.url, "http:") {
		return
	}
	var made struct{ Token string }
	w.json(&made, "hub", "serve", "token", "new", "root", "--scope", "admin")
	w.env["MNEM_CREDENTIALS"] = w.url + " " + made.Token
}

const (
	secretText = "the word is heron"
	gone       = "redacted: asked for"
)

// reads sees to it that the secret of a commit is shown as a text on a machine, gone for none.
func (w *team) reads(machine, at, want string) {
	w.Helper()
	if want == gone {
		w.refused(4, gone, machine, "show", "secret", "--at", at)
	} else if got := w.summary(machine, "secret", "--at", at); got != want {
		w.Errorf("%s shows %q, want %q", machine, got, want)
	}
}

// purged has a purge what b has too, and erase it at the remote. It returns the commit that had it.
func (w *team) purged() (at string) {
	w.Helper()
	w.admin()
	w.clones("a")
	w.add("a", "one", "x")
	w.add("a", "secret", secretText)
	w.ok("a", "sync")
	w.clones("b")
	at = w.at("a", "refs/heads/main")
	w.ok("a", "purge", "secret", "--reason", "asked for", "--yes")
	must.Contain(w, w.ok("a", "push", "--redactions"), "erased at origin")
	return at
}

// TestRedactionsTravel runs every scenario of redactions over every carrier; a plain run leaves out those by which
// the same process answers in another way, and tries every second over those that only store packs.
func TestRedactionsTravel(t *testing.T) {
	list := carriers(t, effort.Pick([]string{"path", "http", "git", "s3"}, nil, nil)...)
	part := 1
	if effort.Race { // a few of each carrier have all its goroutines
		part = 2
	}
	for n, by := range list {
		part := part
		if by.apart != nil {
			part = max(part, effort.Pick(2, 1, 1))
		}
		t.Run(by.name, func(t *testing.T) {
			for i, s := range scripts(t, "redactions") {
				if i%part != n%part {
					continue
				}
				t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
					t.Parallel()
					s.do(newTeam(t, by))
				})
			}
		})
	}
}
