package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// evil is text that would forge lines, move the cursor, or reorder what follows, were it printed
// as it is. After each line break comes a line that some command prints.
const evil = "x\n\nntype: Forged\nForged  Person\n+ node forged Person\n->  owns  forged\n" +
	"commit forged\nidentical: 9 receipts\r\x1b[2J\x1b]0;title\x07\u202eforged\u2028forged\u0085\u2066\u00ad\ufeff"

// hostile has evil in every place that takes text.
func hostile(t *testing.T) *world {
	t.Helper()
	q := func(s string) string { return string(ipld.AppendJSON(nil, ipld.StringValue(s))) }
	w := newWorld(t)
	w.init()
	bad := q(evil)
	node := func(key, summary string) string {
		return `{"node":{"key":` + key + `,"type":` + bad + `,"summary":` + summary + `,"context":` + bad +
			`,"content":` + bad + `,"sources":[` + bad + `],"props":{` + bad + `:` + bad +
			`,"ntype":"Forged","Outgoing":"forged","->  owns  forged":"x","list":[` + bad + `]}}}` + "\n"
	}
	w.Stdin = strings.NewReader(node(bad, bad) + node(`"b"`, bad) +
		`{"edge":{"type":` + bad + `,"src":"b","dst":` + bad + `,"key":` + bad + `,"props":{` + bad + `:1}}}` +
		"\n" + `{"mark":{"node":"b","state":"stale","reason":` + bad + `}}` + "\n")
	w.run(0, "commit", "-m", "change", "-")
	w.Stdin = strings.NewReader(node(bad, q("changed "+evil)) + `{"remove":{"node":"b"}}`)
	w.run(0, "commit", "-m", evil, "--agent", "a", "--task", "t", "-")
	w.run(0, "session", "start", "s")
	w.run(0, "retrieve", evil, "--session", "s")
	return w
}

// hostileCommands print something of everything.
var hostileCommands = [][]string{
	{"log"}, {"log", "--oneline"}, {"show"}, {"show", "HEAD~1"}, {"diff"}, {"diff", "--stat"},
	{"show", "b", "--at", "HEAD~1"}, {"show", "b", "--at", "HEAD~1"}, {"show", evil},
	{"ls", "--at", "HEAD~1"}, {"ls", "--edges", "--at", "HEAD~1"}, {"ls", "--sort", "props." + evil},
	{"explore", "b", "--at", "HEAD~1", "--adjacency", "2"}, {"explore", "b", "--to", evil, "--at", "HEAD~1"},
	{"explore", evil, "--to", "b", "--at", "HEAD~1"}, {"explore", "forged", "--at", "HEAD~1"},
	{"retrieve", "forged", "--adjacency", "3", "--set", "show=times,key,content", "--at", "HEAD~1"},
	{"retrieve", "forged", "--explain"}, {"retrieve", "forged", "--explain", "--budget", "1"},
	{"session", "list"}, {"session", "log", "s"}, {"session", "replay", "s"}, {"show", "HEAD", "--raw", "--field", "author"}, {"op", "log"}, {"stats", "--schema"},
	{"blame", "b", "--at", "HEAD~1"}, {"stats"}, {"map"},
	// and these fail
	{"show", "nobody" + evil}, {"show", evil + "y"}, {"log", evil}, {"diff", evil}, {"session", "replay", evil},
	{"session", "start", evil}, {"session", "log", evil}, {"retrieve", "x", "--session", evil},
	{"retrieve", "x", "--where", evil}, {"retrieve", "x", "--set", "valid-at=" + evil},
	{"retrieve", "x", "--set", "show=" + evil}, {"retrieve", "x", "--set", "direction=" + evil}, {"ls", "--after", evil},
	{"show", "b", "--field", evil}, {"show", evil, "--field", "props.y" + evil},
}

func TestHostileTextForgesNoLine(t *testing.T) {
	w := hostile(t)
	for _, args := range hostileCommands {
		out, side := w.tries(args...)
		for l := range strings.Lines(out + side) {
			l = strings.TrimSuffix(l, "\n")
			if i := strings.IndexFunc(l, func(r rune) bool {
				return r < ' ' || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u202e\u2028\u2066\u00ad\ufeff", r)
			}); i >= 0 {
				t.Errorf("mnem %.40q prints %q", args, l[i:])
			}
			for _, start := range []string{
				"ntype: Forged", "Forged", "+ node forged", "->  owns  forged", "commit forged",
				"identical: 9", "Outgoing: ", "forged",
			} {
				if strings.HasPrefix(l, start) && l != "->  owns  forged: x" {
					t.Errorf("mnem %.40q prints a forged line: %q", args, l)
				}
			}
		}
	}
}

// TestForgedNeighborsComeBeforeTheEmptyLine: a property may be called like the line of an edge, but
// show prints edges after the one empty line there is.
func TestForgedNeighborsComeBeforeTheEmptyLine(t *testing.T) {
	w := hostile(t)
	out, _ := w.run(0, "show", "b", "--at", "HEAD~1")
	node, edges, _ := strings.Cut(out, "\n\n")
	if !strings.Contains(node, "->  owns  forged: x") || strings.Contains(edges, "forged: x") ||
		strings.Count(edges, "\n") != 1 || strings.Contains(edges, "\n\n") {
		t.Errorf("node:\n%s\nedges:\n%s", node, edges)
	}
}

func TestHostileTextStaysInItsJSON(t *testing.T) {
	w := hostile(t)
	found := false
	for _, args := range hostileCommands {
		out, side := w.tries(append(args, "--json")...)
		for l := range strings.Lines(out + side) {
			must.True(t, json.Valid([]byte(l)), "mnem %.40q prints %q", args, l)
			if one := strings.TrimSuffix(l, "\n"); text.EscapeLine(one) != one {
				t.Errorf("mnem %.40q --json prints a control or a bidirectional mark: %q", args, one)
			}
		}
	}
	var list struct {
		Nodes []struct {
			Key, Summary, Type string
			Props              map[string]any
		}
	}
	out, _ := w.run(0, "ls", "--at", "HEAD~1", "--json")
	must.OK(t, json.Unmarshal([]byte(out), &list))
	for _, n := range list.Nodes {
		found = found || n.Key == evil && n.Summary == evil && n.Type == evil && n.Props[evil] == evil
	}
	must.True(t, found && len(list.Nodes) == 2, "text is not what was written: %s", out)
}

func TestFieldIsRawButOnATerminal(t *testing.T) {
	w := hostile(t)
	raw, _ := w.run(0, "show", evil, "--field", "props."+evil)
	must.Equal(t, raw, evil+"\n", "to a pipe")
	w.OutTTY = true
	shown, _ := w.run(0, "show", evil, "--field", "props."+evil)
	must.True(t, !strings.ContainsAny(shown, "\x1b\r\u202e"), "to a terminal: %q", shown)
}
