package chats

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

var rewrite = flag.Bool("rewrite", false, "write golden files instead of comparing with them")

// recorder writes each call as a line.
type recorder struct {
	lines   []string
	skipped map[string]int
	places  []string
	turns   map[string]bool
	err     error // of a reading that was stopped
}

func (r *recorder) put(kind string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		r.lines = append(r.lines, kind+" "+string(data))
	}
	return errors.Join(err, r.err)
}

func (r *recorder) Session(s *Session) error { return r.put("session", s) }
func (r *recorder) Turn(t *Turn) error {
	if r.turns == nil {
		r.turns = make(map[string]bool)
	}
	if t.Before != "" && !r.turns[t.Before] {
		return fmt.Errorf("turn %s follows %s, which did not come", t.ID, t.Before)
	}
	r.turns[t.ID] = true
	return r.put("turn", t)
}
func (r *recorder) Memory(m *Memory) error     { return r.put("memory", m) }
func (r *recorder) Relation(x *Relation) error { return r.put("relation", x) }
func (r *recorder) Left(id string) error       { return r.put("left", id) }
func (r *recorder) Skipped(why, at string) {
	if r.skipped == nil {
		r.skipped = make(map[string]int)
	}
	r.skipped[why]++
	if at != "" {
		r.places = append(r.places, at)
	}
}

func formatOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	for _, more := range []string{"-old", "-lines", "-more"} {
		name = strings.TrimSuffix(name, more)
	}
	return name
}

// TestFiles reads a file of each format and compares the result with a golden file.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json*")
	must.Require(t, err == nil && len(files) == len(Formats())+11, "%d files, %v", len(files), err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in := must.Get(os.Open(file))(t)
			defer func() { _ = in.Close() }()
			r := &recorder{}
			must.OK(t, Read(formatOf(file), file, in, r))
			compareGolden(t, strings.TrimSuffix(file, filepath.Ext(file))+".golden", r)
		})
	}
}

// compareGolden compares what was read with a file.
func compareGolden(t *testing.T, golden string, r *recorder) {
	t.Helper()
	lines := slices.Clone(r.lines)
	for _, kind := range sortedKeys(r.skipped) {
		lines = append(lines, fmt.Sprintf("skipped %d %s", r.skipped[kind], kind))
	}
	for _, at := range r.places {
		lines = append(lines, "unread "+at)
	}
	got := strings.Join(lines, "\n") + "\n"
	if *rewrite {
		must.OK(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(golden))(t)
	must.Same(t, got, strings.ReplaceAll(string(want), "\r\n", "\n"))
}

// TestDamaged reads damaged files: intact records are read, damaged ones are reported.
func TestDamaged(t *testing.T) {
	read := func(format, text string) map[string]any {
		r := &recorder{}
		err := Read(format, "", strings.NewReader(text), r)
		must.True(t, err == nil || errors.Is(err, ErrFormat), "%s: %v", format, err)
		return map[string]any{"lines": len(r.lines), "places": append([]string{}, r.places...), "refused": err != nil}
	}
	cases.Golden(t, filepath.Join("testdata", "damaged", "damaged.jsonl"), func(t testing.TB, c cases.Case) any {
		var in struct{ Format, Text string }
		cases.Parse(t, c.Input, &in)
		return read(in.Format, in.Text)
	})
	deep := `{"type":"user","uuid":"u1","sessionId":"s","message":{"content":"hello"}}` + "\n" + strings.Repeat("[", 100_000)
	must.Same(t, read("claude-code", deep+"\n"), map[string]any{"lines": 2, "places": []string{"line 2"}, "refused": false})
	must.True(t, Read("other", "", strings.NewReader(""), &recorder{}) != nil, "a format that there is none of")
}

// TestStops checks that an error of the handler ends the reading.
func TestStops(t *testing.T) {
	stop := errors.New("stop")
	for _, format := range Formats() {
		file := filepath.Join("testdata", format+".jsonl")
		if _, err := os.Stat(file); err != nil {
			file = filepath.Join("testdata", format+".json")
		}
		data := must.Get(os.ReadFile(file))(t)
		r := &recorder{err: stop}
		must.Fail(t, Read(format, "", strings.NewReader(string(data)), r), stop, format)
		must.Equal(t, len(r.lines), 1, format, ": records after the first")
	}
}

func TestCalls(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"Bash", `{"command":"ls  -l\n x","description":"d"}`, "Bash: ls -l x"},
		{"shell", `"{\"command\":[\"a\",\"b\"]}"`, "shell: a b"},
		{"apply_patch", `"*** Begin"`, "apply_patch: *** Begin"},
		{"x", `{"n":1}`, "x"},
		{"x", ``, "x"},
		{"y", `{"command":"` + strings.Repeat("ü", 300) + `"}`, "y: " + strings.Repeat("ü", 300)},
	}
	for _, test := range tests {
		must.Equal(t, call(test.name, json.RawMessage(test.args)), test.want, test.name, " ", test.args)
	}
}

// FuzzRead reads anything as any format: it ends, and no turn follows one that did not come.
func FuzzRead(f *testing.F) {
	files := must.Get(filepath.Glob("testdata/*.json*"))(f)
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(f)
		f.Add(slices.Index(Formats(), formatOf(file)), data)
	}
	f.Fuzz(func(t *testing.T, n int, data []byte) {
		formats := Formats()
		r := &recorder{}
		err := Read(formats[uint(n)%uint(len(formats))], "", strings.NewReader(string(data)), r)
		must.Require(t, err == nil || errors.Is(err, ErrFormat), "%v", err)
	})
}

// TestDatabases reads a database of each program that has one, and compares with what is in it.
func TestDatabases(t *testing.T) {
	for format := range databases {
		data := must.Get(os.ReadFile("testdata/" + format + ".db"))(t)
		got := must.Get(readBytes(t, format, data))(t, format)
		again, _ := readBytes(t, format, data)
		must.Same(t, again.lines, got.lines, format, ": read twice")
		compareGolden(t, "testdata/"+format+"-db.golden", got)
	}
}

// TestDatabasesOfOthers refuses databases that have none of the tables, and formats that have no database.
func TestDatabasesOfOthers(t *testing.T) {
	cursor, _ := os.ReadFile("testdata/cursor.db")
	openCode, _ := os.ReadFile("testdata/opencode.db")
	for name, c := range map[string]struct {
		format string
		data   []byte
	}{
		"Cursor's as OpenCode's": {"opencode", cursor}, "OpenCode's as Cursor's": {"cursor", openCode},
		"a format without": {"gemini", cursor}, "a list": {"chatgpt", cursor}, "its head": {"cursor", cursor[:100]},
	} {
		got, err := readBytes(t, c.format, c.data)
		must.True(t, errors.Is(err, ErrFormat) && len(got.lines) <= 0, "%s: %v, %v", name, err, got.lines)
	}
}

// TestDamagedDatabases cuts and changes databases: what is missing is told or counted.
func TestDamagedDatabases(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for format := range databases {
		data := must.Get(os.ReadFile("testdata/" + format + ".db"))(t)
		whole, _ := readBytes(t, format, data)
		for n := 512; n < len(data); n += 512 {
			part, err := readBytes(t, format, data[:n])
			told := err != nil || slices.ContainsFunc(part.places, func(at string) bool { return !slices.Contains(whole.places, at) })
			if len(part.texts()) < len(whole.texts()) && !told {
				t.Errorf("%s, %d bytes: %d of %d texts, and nothing is told", format, n, len(part.texts()), len(whole.texts()))
			}
		}
		for range 300 {
			other := bytes.Clone(data)
			for range 1 + rng.IntN(3) {
				other[100+rng.IntN(len(data)-100)] ^= byte(1 + rng.IntN(255))
			}
			got, _ := readBytes(t, format, other)
			must.True(t, len(got.lines) <= 10*len(whole.lines), "%s: %d records", format, len(got.lines))
		}
	}
}

// TestRowsOfCursor: keys that a newer version may write are reported by name.
func TestRowsOfCursor(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/cursor.db"))(t)
	got, _ := readBytes(t, "cursor", data)
	for kind, want := range map[string]int{
		"unknown pollen": 1, "agent state": 1, "checkpoint": 1, "edit": 2, "file": 1, "environment": 1,
		"chat of an older version": 2, "missing message": 1, "message without its chat": 2, subagent: 1, Empty: 2,
		Damaged: 2, thought: 1, image: 1, Duplicate: 1, unknownField + "mood": 1, unknownField + "petals": 1,
	} {
		must.Equal(t, got.skipped[kind], want, kind)
	}
	must.True(t, slices.Contains(got.places, "key pollen:1"), "places %q", got.places)
}

// TestKindsAreDocumented finds every record type that is left out, and the kind that it is counted as, in the section of
// its format in docs/reference/importers.md.
func TestKindsAreDocumented(t *testing.T) {
	data := must.Get(os.ReadFile("../../../docs/reference/importers.md"))(t)
	sections := strings.Split(string(data), "\n## ")
	general := sections[0]
	section := func(title string) string {
		for _, s := range sections[1:] {
			if strings.HasPrefix(s, title+"\n") {
				return s
			}
		}
		t.Fatalf("no section %q", title)
		return ""
	}
	word := func(s string) *regexp.Regexp {
		return regexp.MustCompile("(?:^|[^A-Za-z_-])" + regexp.QuoteMeta(s) + "(?:[^A-Za-z_-]|$)")
	}
	sectionOf := map[string]string{
		"contexts": general, "content": section("Claude Code") + section("Codex") + section("Claude"),
		"claude-code": section("Claude Code"), "block": section("Claude Code"), "codex": section("Codex"),
		"gemini": section("Gemini CLI"), "opencode": section("OpenCode"), "cursor": section("Cursor"),
		"copilot": section("GitHub Copilot in VS Code"), "copilot-cli": section("Copilot CLI"), "cline": section("Cline"),
		"chatgpt": section("ChatGPT"), "claude": section("Claude"), "mem0": section("mem0"),
		"server-memory": section("MCP server memory"),
	}
	textOf := func(table string) string {
		text, ok := sectionOf[table]
		if !ok {
			format, _, _ := strings.Cut(table, " ")
			text, ok = sectionOf[format]
		}
		must.Require(t, ok, "no section for the table %q", table)
		return text
	}
	if len(tables().kinds) < 10 || len(tables().fields) < 10 {
		t.Fatalf("%d tables of kinds, %d of fields", len(tables().kinds), len(tables().fields))
	}
	for table, kinds := range tables().kinds {
		text := textOf(table)
		for name, kind := range kinds {
			must.True(t, word(name).MatchString(text), "%s is not in docs/reference/importers.md", name)
			must.True(t, word(kind).MatchString(text+general),
				"%s, the kind of %s, is not in docs/reference/importers.md", kind, name)
		}
	}
	for table, shape := range tables().fields {
		for _, name := range shape.names() {
			must.True(t, word(name).MatchString(textOf(table)),
				"the field %s is not in the section of %s of docs/reference/importers.md", name, table)
		}
	}
}

// names are the names of a shape and of those in it.
func (s shape) names() (out []string) {
	for name, of := range s {
		if name != anyName {
			out = append(out, name)
		}
		out = append(out, of.names()...)
	}
	return out
}

// TestUnknownFields counts the members that no shape has, at any depth, and no others.
func TestUnknownFields(t *testing.T) {
	of := parseShape("a b\nc: d\nm:\n\t*: e", nil)
	for _, c := range []struct {
		json string
		want []string
	}{
		{`{"a":{"x":1},"b":"{\"x\":1}"}`, nil},
		{` { "z" : [ 1 , { "y" : 2 } ] , "a" : null } `, []string{"z"}},
		{`{"c":[{"d":1,"q\"\u0041":"\\"},{"r":{}},[{"s":[]}]]}`, []string{"q\"A", "r", "s"}},
		{`{"m":{"1":{"e":1},"2":{"f":"}"}},"c":7,"":1}`, []string{"f", ""}},
		{`[]`, nil}, {`"x"`, nil}, {`{}`, nil}, {`{"c":{}}`, nil}, {`[{"w":1},{"w":2}]`, []string{"w", "w"}},
	} {
		r := &recorder{}
		of.tell(r, []byte(c.json))
		want := make(map[string]int)
		for _, name := range c.want {
			want[unknownField+name]++
		}
		must.Equal(t, cmp.Diff(want, r.skipped, cmpopts.EquateEmpty()), "", c.json)
		for n := range c.json { // no prefix stops it
			of.tell(&recorder{}, []byte(c.json[:n]))
		}
	}
}

// TestResume reads a file that grows a line at a time, each time from the returned position: the last version of each
// turn and session equals that of a single reading.
func TestResume(t *testing.T) {
	for _, c := range []struct{ format, file string }{
		{"claude-code", "claude-code.jsonl"}, {"codex", "codex.jsonl"}, {"codex", "codex-old.jsonl"},
		{"claude-code", "claude-code-more.jsonl"},
	} {
		t.Run(c.file, func(t *testing.T) {
			data := must.Get(os.ReadFile("testdata/" + c.file))(t)
			whole, grown := &latest{last: map[string]any{}}, &latest{last: map[string]any{}}
			must.OK(t, Read(c.format, "", bytes.NewReader(data), whole))
			var at Position
			reads := 0
			for n := 1; n <= len(data); n++ {
				if data[n-1] != '\n' && n < len(data) {
					continue
				}
				next, err := Resume(c.format, bytes.NewReader(data[at.Offset:n]), at, 0, grown)
				must.Require(t, err == nil && next.Read == int64(n) && !next.More,
					"%d bytes: %+v, %v", n, next, err)
				at, reads = next, reads+1
			}
			must.Require(t, reads >= 3 && len(whole.order) >= 3 && at.Offset != 0,
				"%d reads, %d records, at %+v", reads, len(whole.order), at)
			must.Same(t, grown.last, whole.last)
			few, bounded := Position{}, &latest{last: map[string]any{}}
			for more := true; more; more = few.More {
				few = must.Get(Resume(c.format, bytes.NewReader(data[few.Offset:]), few, 1, bounded))(t)
			}
			must.Same(t, bounded.last, whole.last)
		})
	}
}

// TestTakenBack takes back turns of an earlier reading: they are reported, and the next turn follows the last one that
// stays.
func TestTakenBack(t *testing.T) {
	line := func(role, text string) string {
		return `{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"` + role +
			`","content":"` + text + `"}}` + "\n"
	}
	first := `{"type":"session_meta","payload":{"id":"s"}}` + "\n" + line("user", "a") + line("assistant", "b") +
		line("user", "c") + line("assistant", "d")
	r := &recorder{}
	at, err := Resume("codex", strings.NewReader(first), Position{}, 0, r)
	must.Require(t, err == nil && len(r.lines) == 5, "%v: %q", err, r.lines)
	all := first + `{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}` + "\n" + line("user", "e")
	again := &recorder{turns: r.turns}
	must.Get(Resume("codex", strings.NewReader(all[at.Offset:]), at, 0, again))(t)
	whole := &recorder{}
	must.OK(t, Read("codex", "", strings.NewReader(all), whole))
	must.True(t, len(whole.lines) == 6 && strings.Count(strings.Join(whole.lines, ""), `"Left":true`) == 2,
		"as a whole: %q", whole.lines)
	// The turn that was in the making comes again, now left; of that before it only the id is known.
	if len(again.lines) != 4 || !strings.HasPrefix(again.lines[0], "left ") || again.lines[2] != whole.lines[4] {
		t.Errorf("resumed: %q\nwhole: %q", again.lines, whole.lines)
	}
}

// latest keeps the last version of each turn and session.
type latest struct {
	recorder
	last  map[string]any
	order []string
}

func (l *latest) Turn(t *Turn) error {
	one := *t
	one.Calls = slices.Clone(t.Calls)
	l.last["turn "+t.ID], l.order = one, append(l.order, t.ID)
	return nil
}

func (l *latest) Session(s *Session) error {
	l.last["session "+s.ID], l.order = *s, append(l.order, s.ID)
	return nil
}
