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
