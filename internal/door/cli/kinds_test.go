package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestOtherKinds gives the CID of every kind of block to every command that takes one of some kind:
// what is stored is whole, so no error may call it damaged; the request is wrong.
func TestOtherKinds(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	w := newWorld(t)
	w.init()
	w.Stdin = strings.NewReader(aliceLine)
	w.run(0, "commit", "-m", "x", "-")
	w.run(0, "tag", "v1", "-m", "a tag")
	w.run(0, "session", "start", "s")
	out, _ := w.run(0, "retrieve", "alice", "--session", "s", "--json")
	field := func(out, name string) string {
		t.Helper()
		var all map[string]any
		must.OK(t, json.Unmarshal([]byte(out), &all), "in ", out)
		s, _ := all[name].(string)
		must.Require(t, s != "", "no %s in %s", name, out)
		return s
	}
	link := func(cid string, path ...string) string {
		t.Helper()
		out, _ := w.run(0, "show", "--raw", "--json", cid)
		var block struct{ Data any }
		must.OK(t, json.Unmarshal([]byte(out), &block))
		v := block.Data
		for _, name := range append(path, "/") {
			m, _ := v.(map[string]any)
			v = m[name]
		}
		s, _ := v.(string)
		return s
	}
	receipt := field(out, "receipt")
	out, _ = w.run(0, "tag", "--json")
	kinds := map[string]string{"receipt": receipt, "commit": field(out, "commit"), "tag": field(out, "tag")}
	out, _ = w.run(0, "op", "show", "@", "--json")
	kinds["operation"] = field(out, "op")
	kinds["graph"] = link(kinds["commit"], "graph")
	kinds["view"] = link(kinds["operation"], "view")
	kinds["text"] = link(receipt, "request", "text")
	for kind, cid := range kinds {
		must.Require(t, cid != "", "no CID of a %s", kind)
	}
	wants := map[string][]string{ // the kinds that each command takes
		"log --at": {"commit", "tag"}, "diff HEAD": {"commit", "tag"},
		"key verify": {"commit", "tag"}, "branch --force b": {"commit", "tag"}, "retrieve x --at": {"commit", "tag"},
		"tag --force t": {"commit", "tag"}, "blame alice --at": {"commit", "tag"}, "merge": {"commit", "tag"},
		"ls --at": {"commit", "tag"}, "switch --detach": {"commit", "tag"},
		"session advance s --to":    {"commit", "tag"},
		"export -o x.car":           {"commit", "tag"},
		"export -o x.car --receipt": {"receipt"}, "session replay": {"receipt"},
		"op show": {"operation"}, "op restore": {"operation"}, "log --at op:": {"operation"},
		"show": {"receipt", "commit", "tag", "operation", "graph", "view", "text"},
	}
	for line, takes := range wants {
		taken := strings.Join(takes, " ")
		for kind, cid := range kinds {
			args := append(strings.Fields(line), cid)
			if strings.HasSuffix(line, ":") {
				args = strings.Fields(line + cid)
			}
			w.run(0, "switch", "main")
			w.out.Reset()
			w.err.Reset()
			code := Run(w.ctx, w.App, args)
			said := w.err.String()
			switch ok := strings.Contains(taken, kind); {
			case ok && code != 0:
				t.Errorf("mnem %s of a %s: exit code %d: %s", line, kind, code, said)
			case !ok && (code != 1 || !strings.Contains(said, ", not a") || !strings.Contains(said, "hint: '")):
				t.Errorf("mnem %s of a %s: exit code %d: %s", line, kind, code, said)
			}
		}
	}
}
