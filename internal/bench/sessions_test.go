package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/model/builtin"
	"github.com/mnem-project/mnem/internal/model/minilm/weights"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/o200k"
)

// script is one project in which a person works with an agent in some sessions.
type script struct {
	About    string
	Facts    map[string][]string // a text that has one of the strings states the fact
	Outdated map[string][]string // the form of a fact before it was corrected
	Sessions []struct{ Prompts []scripted }
}

// scripted is a prompt, its answer, what the agent remembers then, and the facts that the prompt needs.
type scripted struct {
	Says, Replies string
	Remembers     []struct {
		Text string
		Cues []string
	}
	Needs []string
	Asks  struct { // what an agent asks its memory for, which saw the prompts alone
		Query string
		Also  []string
	}
}

// told are counts over prompts.
type told struct {
	prompts, needs           int
	given, found             int   // needed facts: with the prompt, and by one recall of it otherwise
	answered, wrong          int   // prompts that something was given with, and those where it was none of what they need
	stale                    int   // corrected facts that were given or found in the old form without the new one
	tokens                   []int // of each prompt that something was given with
	memories, turns, secrets int
}

func (c *told) add(o *told) {
	for _, p := range [][2]*int{
		{&c.prompts, &o.prompts}, {&c.needs, &o.needs}, {&c.given, &o.given}, {&c.found, &o.found},
		{&c.answered, &o.answered}, {&c.wrong, &o.wrong}, {&c.stale, &o.stale}, {&c.memories, &o.memories},
		{&c.turns, &o.turns}, {&c.secrets, &o.secrets},
	} {
		*p[0] += *p[1]
	}
	c.tokens = append(c.tokens, o.tokens...)
}

func (c *told) median() int {
	if len(c.tokens) == 0 {
		return 0
	}
	slices.Sort(c.tokens)
	return c.tokens[len(c.tokens)/2]
}

// states reports whether a text has one of some strings, in any case.
func states(text string, some []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(some, func(s string) bool { return strings.Contains(text, strings.ToLower(s)) })
}

// credentials stand for the placeholders of scripts; they open nothing.
var credentials = map[string]string{
	"github": "ghp_" + strings.Repeat("a1B2c3D4", 4) + "x9Y8", "aws": "AKIA" + "QZ4TX7MRW2NB6KLP",
	"slack": "xoxb-" + "284719305512-284719305513-" + "kR7tVb2QmXw9LpZc4NsHd8Yf", "stripe": "sk_live_" + "9tKq2Vb7XwLp4ZcNsHd8YfRm",
	"openai": "sk-" + "proj-" + "Vb2QmXw9LpZc4NsHd8YfkR7tJg5Wa3Ue6Xo1Bi0Tn", "password-url": "postgres://app:" + "tR4vN8-qLm2Zx7" + "@db.internal:5432/app",
}

// secretPart returns the part of a credential that must be stored nowhere.
func secretPart(kind string) string {
	if kind == "password-url" {
		return "tR4vN8-qLm2Zx7"
	}
	return credentials[kind]
}

// agent is a program that runs an agent as a script says, with hooks.
type agent struct {
	*world
	script  script
	kinds   []string // of credentials that were said
	session int
	told    told
	misses  []string
}

func (a *agent) transcript() string {
	return filepath.Join(a.Home, fmt.Sprintf("s%d.jsonl", a.session))
}

// said adds a turn to the transcript of the session.
func (a *agent) said(role, text string) {
	a.t.Helper()
	a.told.turns++
	f, err := os.OpenFile(a.transcript(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, `{"type":%q,"uuid":"t%d","sessionId":"s%d","message":{"content":%s}}`+"\n",
			role, a.told.turns, a.session, quoted(text))
	}
	if err == nil {
		err = f.Close()
	}
	must.OK(a.t, err)
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text)
	return b
}

// hook calls a hook and returns what the agent is given.
func (a *agent) hook(event, prompt string) string {
	a.t.Helper()
	in, _ := json.Marshal(map[string]any{
		"session_id": fmt.Sprintf("s%d", a.session), "transcript_path": a.transcript(), "cwd": a.Dir, "prompt": prompt,
	})
	a.Stdin = strings.NewReader(string(in))
	out, _ := a.run(0, "hook", "claude-code", event)
	var got struct {
		Output struct {
			Text string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if out != "" && json.Unmarshal([]byte(out), &got) != nil {
		a.t.Fatalf("hook %s answers %q", event, out)
	}
	return got.Output.Text
}

// filled puts credentials if a text has placeholders.
func (a *agent) filled(text string) string {
	for kind, value := range credentials {
		mark := "{{secret:" + kind + "}}"
		if strings.Contains(text, mark) {
			a.kinds = append(a.kinds, kind)
			text = strings.ReplaceAll(text, mark, value)
		}
	}
	return text
}

// prompt is one prompt of a session.
func (a *agent) prompt(p scripted) {
	a.t.Helper()
	says := a.filled(p.Says)
	a.said("user", says)
	given := a.hook("prompt", says)
	a.told.prompts++
	a.score(p, says, given)
	a.said("assistant", a.filled(p.Replies))
	for _, m := range p.Remembers {
		args := []string{"remember", m.Text}
		for _, cue := range m.Cues {
			args = append(args, "--cue", cue)
		}
		a.run(0, args...)
		a.told.memories++
	}
	a.hook("stop", "")
}

// score counts what a prompt was given, and what one recall of it finds where that is not what it needs.
func (a *agent) score(p scripted, says, given string) {
	a.t.Helper()
	needs := len(p.Needs)
	a.told.needs += needs
	right := false
	recalled := ""
	for _, name := range p.Needs {
		fact := a.script.Facts[name]
		must.Require(a.t, len(fact) > 0, "%q needs %s, which is no fact", p.Says, name)
		has := states(given, fact)
		if has {
			right = true
			a.told.given++
			continue
		}
		if recalled == "" {
			args := []string{"recall", p.Asks.Query}
			for _, also := range p.Asks.Also {
				args = append(args, "--also", also)
			}
			recalled, _ = a.run(0, args...)
		}
		switch {
		case states(recalled, fact):
			a.told.found++
		default:
			a.misses = append(a.misses, fmt.Sprintf("%s: not %s", p.Says, name))
			if states(given+recalled, a.script.Outdated[name]) {
				a.told.stale++
			}
		}
	}
	if given != "" {
		a.told.answered++
		a.told.tokens = append(a.told.tokens, o200k.Count(a.t, given))
		right = right || a.about(p, given)
		if !right {
			a.told.wrong++
			a.misses = append(a.misses, fmt.Sprintf("%s: needs %v and is given %s", p.Says, p.Needs, given))
		}
	}
}

// about reports whether a text states a fact that a prompt repeats, in its new form or the one before.
func (a *agent) about(p scripted, text string) bool {
	for name, fact := range a.script.Facts {
		for _, m := range p.Remembers {
			if states(m.Text, fact) && (states(text, fact) || states(text, a.script.Outdated[name])) {
				return true
			}
		}
	}
	return false
}

// play runs a script in a project of its own.
func play(t *testing.T, file string) *agent {
	t.Helper()
	data, err := os.ReadFile(file)
	a := &agent{world: newWorld(t)}
	if weights.File != "" {
		a.Meaning = builtin.New(weights.File)
	}
	if err == nil {
		err = json.Unmarshal(data, &a.script)
	}
	if err == nil {
		err = os.MkdirAll(a.Home, 0o700)
	}
	must.OK(t, err)
	a.run(0, "init")
	for i, s := range a.script.Sessions {
		a.session = i + 1
		a.hook("session-start", "")
		for _, p := range s.Prompts {
			a.prompt(p)
		}
		a.hook("session-end", "")
	}
	a.run(0, "capture")
	a.nothingSecret()
	return a
}

// nothingSecret looks for the credentials that were said in all that is stored.
func (a *agent) nothingSecret() {
	a.t.Helper()
	all, _ := a.run(0, "export", "--all", "-o", "-")
	err := filepath.WalkDir(filepath.Join(a.Dir, ".mnem", "spool"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		all += string(data)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		a.t.Fatal(err)
	}
	for _, kind := range a.kinds {
		a.told.secrets++
		if strings.Contains(all, secretPart(kind)) {
			a.t.Errorf("%s: a credential of %s is stored", a.script.About, kind)
		}
	}
}

const sessionsBegin = "<!-- by MNEM_LONG=1 go test ./internal/bench -run Sessions -rewrite -->\n"

// rows are the rows of the table, without their ends.
func (c *told) rows() []string {
	of := func(n, all int) string { return fmt.Sprintf("%d (%d %%)", n, (100*n+all/2)/max(all, 1)) }
	return []string{
		fmt.Sprint(c.prompts), fmt.Sprint(c.memories), fmt.Sprint(c.needs), of(c.given, c.needs), of(c.found, c.needs),
		of(c.needs-c.given-c.found, c.needs), of(c.stale, c.needs), of(c.answered, c.prompts), of(c.wrong, c.prompts),
		fmt.Sprint(c.median()), fmt.Sprintf("%d, 0", c.secrets),
	}
}

var sessionsHeads = []string{
	"prompts", "memories that the agents kept", "facts that prompts need", "given with the prompt",
	"else found by one `recall` of the agent", "neither", "of these in the form before a correction",
	"prompts that something is given with", "of all prompts, those where it is beside the point",
	"tokens given, median", "credentials said, stored",
}

// TestSessions plays scripted sessions with an agent whose program calls hooks, and keeps docs/internals/figures.md to what
// comes of it. Without long runs it plays some, and again nothing secret may be stored.
func TestSessions(t *testing.T) {
	effort.Alone(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "sessions", "*.json"))
	if err != nil || len(files) != 20 {
		t.Fatal(len(files), err)
	}
	list := effort.Pick(files[:4], files, files)
	var parts [3]told // of the first half, by which constants were chosen, the second, and all
	for i, file := range list {
		a := play(t, file)
		t.Logf("%s: %+v", filepath.Base(file), a.told)
		for _, m := range a.misses {
			t.Log(m)
		}
		parts[2*i/len(files)].add(&a.told)
		parts[2].add(&a.told)
	}
	all := &parts[2]
	if all.needs == 0 || all.secrets == 0 || 10*(all.given+all.found) < 9*all.needs {
		t.Errorf("of %d facts %d are given and %d found", all.needs, all.given, all.found)
	}
	if 10*all.wrong > all.prompts || all.median() > 120 {
		t.Errorf("%d of %d prompts are given something off the point; %d tokens", all.wrong, all.prompts, all.median())
	}
	if weights.File == "" || len(list) < len(files) {
		return
	}
	if all.answered < 20 || 5*all.wrong > all.answered {
		t.Errorf("%d prompts are given something, %d of them something off the point", all.answered, all.wrong)
	}
	table := "| | scripts 1–10 | 11–20 | all |\n|---|---:|---:|---:|\n"
	first, second, both := parts[0].rows(), parts[1].rows(), all.rows()
	for i, head := range sessionsHeads {
		table += fmt.Sprintf("| %s | %s | %s | %s |\n", head, first[i], second[i], both[i])
	}
	keepTable(t, figuresPage, sessionsBegin, table)
}
