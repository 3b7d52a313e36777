package policy

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

const sample = `{"version": 1, "rules": [
	{"note": "notes", "agents": ["claude*"], "operations": ["commit", "op_*"], "types": ["Note", "mem/*"],
	 "edges": ["about"]},
	{"agents": ["claude-code"], "operations": ["commit"], "types": ["Person"]},
	{"agents": ["tuner"], "operations": ["config_profile"], "types": []},
	{"agents": ["keeper"], "operations": ["undo", "tag"], "types": [], "signed": true}
]}`

func TestPolicyAllowsWhatOneRuleAllows(t *testing.T) {
	p := must.Get(Parse([]byte(sample)))(t)
	node := func(typ string) state.Touch { return state.Touch{Kind: core.TouchNode, Type: typ} }
	edge := func(typ, src string) state.Touch {
		return state.Touch{Kind: core.TouchEdge, Type: typ, Source: src}
	}
	profile := state.Touch{Kind: core.TouchProfile}
	tag := state.Touch{Kind: core.TouchTag, Ref: "refs/tags/v1"}
	for _, c := range []struct {
		agent, op string
		touch     state.Touch
		want      bool
	}{
		{"claude", "commit", node("Note"), true},
		{"claude", "commit", node("mem/fact"), true},
		{"claude", "commit", node("note"), false},
		{"claude", "commit", node("Person"), false},
		{"claude-code", "commit", node("Person"), true},
		{"claude", "op_restore", node("Note"), true},
		{"claude", "purge", node("Note"), false},
		{"codex", "commit", node("Note"), false},
		{"", "commit", node("Note"), false},
		{"claude", "commit", edge("about", "Note"), true},
		{"claude", "commit", edge("about", "Person"), false},
		{"claude-code", "commit", edge("about", "Person"), true},
		{"claude-code", "commit", edge("owns", "Note"), false}, // neither rule has both
		{"claude", "commit", profile, false},
		{"tuner", "config_profile", profile, true},
		{"tuner", "config_profile", node("Note"), false},
		{"keeper", "undo", tag, true}, // by the right to tag
		{"tuner", "config_profile", tag, false},
		{"claude", "commit", tag, false},
	} {
		err := p.Touch(c.agent, c.op, c.touch)
		if (err == nil) != c.want || err != nil && !errors.Is(err, ErrDenied) {
			t.Errorf("%s %s %+v: %v", c.agent, c.op, c.touch, err)
		}
		guard := p.Guard(c.agent, c.op)
		for range 2 { // the second time it remembers
			if err := guard(c.touch); (err == nil) != c.want {
				t.Errorf("guard of %s %s %+v: %v", c.agent, c.op, c.touch, err)
			}
		}
	}
	var none *Policy
	if none.Operation("x", "purge") != nil || none.Guard("x", "purge") != nil {
		t.Error("no policy refuses something")
	}
	denied := p.Touch("claude", "commit", state.Touch{
		Kind: core.TouchNode, ID: graph.NodeID("a"), Type: "Per\nson",
	})
	must.Contain(t, denied.Error(), `"Per\nson"`, "does not quote what it names")
}

// TestPolicyOfSignedCommits: who may take them away must be told so, whatever else is allowed.
func TestPolicyOfSignedCommits(t *testing.T) {
	p := must.Get(Parse([]byte(sample)))(t)
	damaged := &Policy{Rules: p.Rules, Damage: errors.New("half a file")}
	lost := &state.SignedError{Ref: "refs/heads/main"}
	for _, c := range []struct {
		p         *Policy
		agent, op string
		want      bool
	}{
		{p, "keeper", "undo", true}, {p, "keeper", "commit", false}, {p, "claude", "commit", false},
		{p, "", "undo", false}, {nil, "keeper", "undo", false}, {damaged, "keeper", "undo", false},
	} {
		err := c.p.Signed(c.agent, c.op, lost)
		if (err == nil) != c.want || err != nil && !errors.Is(err, state.ErrSigned) {
			t.Errorf("%q %s: %v", c.agent, c.op, err)
		}
	}
}

func TestParseIsStrict(t *testing.T) {
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	rule := `{"agents": [], "operations": [], "types": []}`
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", "invalid JSON"},
		"no object":         {"[]", "not a JSON object"},
		"no version":        {`{"rules": []}`, "version: missing"},
		"later version":     {`{"version": 2}`, "version: this program knows version 1"},
		"version as text":   {`{"version": "1"}`, "version: "},
		"unknown member":    {`{"version": 1, "rule": []}`, "rule: no member"},
		"duplicate member":  {`{"version": 1, "version": 1}`, "duplicate"},
		"trailing":          {`{"version": 1} {}`, "JSON"},
		"rules no list":     {`{"version": 1, "rules": {}}`, "rules: not a list"},
		"rule no object":    {`{"version": 1, "rules": [1]}`, "rule 1: not a JSON object"},
		"signed as text":    {`{"version": 1, "rules": [{"signed": "yes"}]}`, "rule 1: signed: not true"},
		"misspelt":          {`{"version": 1, "rules": [{"agent": []}]}`, "rule 1: agent: no member"},
		"no types":          {`{"version": 1, "rules": [{"agents": [], "operations": []}]}`, "rule 1: types: missing"},
		"case":              {`{"version": 1, "rules": [{"Agents": []}]}`, "rule 1: Agents: no member"},
		"pattern no string": {`{"version": 1, "rules": [{"agents": [1]}]}`, "rule 1: agents: item 1"},
		"empty pattern":     {`{"version": 1, "rules": [{"agents": [""]}]}`, "agents: item 1"},
		"long pattern": {`{"version": 1, "rules": [{"agents": ["` + strings.Repeat("a", 256) + `"]}]}`,
			"agents: item 1"},
		"many patterns": {`{"version": 1, "rules": [{"agents": ` + list(257, `"a"`) + `}]}`, "agents: not a list of at most 256"},
		"many rules":    {`{"version": 1, "rules": ` + list(257, rule) + `}`, "257 rules"},
		"long note": {`{"version": 1, "rules": [{"note": "` + strings.Repeat("a", 1025) + `"}]}`,
			"note: not a string"},
		"long file": {`{"version": 1}` + strings.Repeat(" ", maxFile), "more than 65536 bytes"},
		"bad text":  {"{\"version\": 1, \"rules\": [{\"note\": \"\xff\"}]}", "UTF-8"},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Parse([]byte(`{"version": 1, "rules": ` + list(256, rule) + `}`)); err != nil {
		t.Errorf("as many rules as there may be: %v", err)
	}
}

func TestReadDeniesWhatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	if p, err := Read(path); p != nil || err != nil {
		t.Fatalf("no file: %v, %v", p, err)
	}
	damaged := func(name string) {
		t.Helper()
		p, err := Read(path)
		if !errors.Is(err, ErrDamaged) || p == nil || !errors.Is(p.Operation("a", "commit"), ErrDenied) ||
			!errors.Is(p.Touch("a", "commit", state.Touch{}), ErrDamaged) ||
			!errors.Is(p.Guard("a", "commit")(state.Touch{}), ErrDenied) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	must.OK(t, os.WriteFile(path, []byte("{"), 0o600))
	damaged("half a file")
	must.OK(t, os.Remove(path))
	must.OK(t, os.Mkdir(path, 0o700))
	damaged("a directory")
	must.OK(t, os.Remove(path))
	if err := os.Symlink(filepath.Join(dir, "gone"), path); err != nil {
		t.Skip("no symbolic links here")
	}
	damaged("a link that leads nowhere")
}

func FuzzMatch(f *testing.F) {
	f.Add("claude*", "claude-code")
	f.Add("*a*b*", "xaxbx")
	f.Add("a**b", "ab")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 20 || len(name) > 40 {
			t.Skip("the model is slow")
		}
		if !utf8.ValidString(pattern) || !utf8.ValidString(name) {
			t.Skip("no pattern or name is so, and the model knows none")
		}
		parts := strings.Split(pattern, "*")
		for i, p := range parts {
			parts[i] = regexp.QuoteMeta(p)
		}
		model := must.Get(regexp.Compile(`(?s)\A` + strings.Join(parts, ".*") + `\z`))(t)
		if want := model.MatchString(name); want != Match(pattern, name) {
			t.Errorf("%q fits %q: %v, model %v", name, pattern, !want, want)
		}
	})
}
