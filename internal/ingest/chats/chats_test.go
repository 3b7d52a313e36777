package chats

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	if err != nil || len(files) != len(Formats())+11 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in, err := os.Open(file)
			must.OK(t, err)
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
	want, err := os.ReadFile(golden)
	must.OK(t, err)
	must.Same(t, got, strings.ReplaceAll(string(want), "\r\n", "\n"))
}

// TestDamaged reads damaged files: intact records are read, damaged ones are reported.
func TestDamaged(t *testing.T) {
	const turn = `{"type":"user","uuid":"u%d","sessionId":"s","message":{"content":"hello %d"}}`
	one := func(n int) string { return fmt.Sprintf(turn, n, n) }
	tests := []struct {
		name, format, in string
		want             error
		lines            int
		places           []string
	}{
		{"a bad line", "claude-code", one(1) + "\n{bad\n" + one(2) + "\n", nil, 3, []string{"line 2"}},
		{"cut off", "claude-code", one(1) + "\n" + one(2)[:40], nil, 2, nil},
		{"without ids", "claude-code", one(1) + "\n" + `{"type":"user","message":{"content":"x"}}` + "\n", nil, 3, nil},
		{"without any ids", "claude-code", `{"type":"user","message":{"content":"x"}}` + "\n", nil, 2, nil},
		{"other types", "claude-code", one(1) + "\n" + `{"type":"user","uuid":7,"sessionId":"s"}` + "\n", nil, 2,
			[]string{"line 2"}},
		{"no lines of it", "claude-code", "# Heading\ntext\n", ErrFormat, 0, []string{"line 1", "line 2"}},
		{"empty", "claude-code", "", nil, 0, nil},
		{"deep", "claude-code", one(1) + "\n" + strings.Repeat("[", 100_000) + "\n", nil, 2, []string{"line 2"}},
		{"codex without a session", "codex", `{"type":"message","role":"user"}` + "\n", ErrFormat, 0, []string{"line 1"}},
		{"codex empty", "codex", "", ErrFormat, 0, nil},
		{"no list", "chatgpt", `{"a":1}`, ErrFormat, 0, nil},
		{"a text", "claude", `"x"`, ErrFormat, 0, nil},
		{"cut off list", "claude", `[{"uuid":"c","chat_messages":[{"uuid":"m","sender":"human","text":"hi"}]},{"uu`, nil, 2,
			[]string{"record 2 and what follows"}},
		{"no end", "mem0", `[{"id":"a","memory":"b"}`, nil, 1, []string{"the end"}},
		{"a bad record", "mem0", `[{"id":"a"},{"id":7},{"id":"a","memory":"b"}]`, nil, 1, []string{"record 1", "record 2"}},
		{"a circle", "chatgpt", `[{"id":"c","current_node":"a","mapping":{` +
			`"a":{"parent":"b","children":["b"]},"b":{"parent":"a","children":["a"]}}}]`, nil, 0, nil},
		{"a node twice", "chatgpt", `[{"id":"c","mapping":{"r":{"children":["a","a","r","none"]},"n":null,` +
			`"a":{"parent":"r","message":{"author":{"role":"user"},"content":{"parts":["x"]}}}}}]`, nil, 2, nil},
		{"gemini is a list", "gemini", `[]`, ErrFormat, 0, nil},
		{"gemini bad message", "gemini", `{"sessionId":"s","messages":[7,{"type":"user","content":"a"},` +
			`{"id":"m","type":"user","content":"b"}]}`, nil, 2, []string{"record 1", "record 2"}},
		{"bad times", "mem0", `[{"id":"a","memory":"b","created_at":"yesterday"}]`, nil, 1, nil},
		{"a mark", "mem0", "\ufeff" + `[{"id":"a","memory":"b"}]`, nil, 1, nil},
		{"an unknown line", "server-memory", `{"type":"star","name":"a"}`, nil, 0, []string{"line 1"}},
		{"gemini says nothing", "gemini", `{"sessionId":"s"}` + "\n" + `{"$merge":{}}` + "\n", nil, 0, []string{"line 2"}},
		{"gemini without a session", "gemini", `{"id":"m","type":"user","content":"a"}` + "\n", ErrFormat, 0, nil},
		{"a subagent of gemini", "gemini", `{"sessionId":"s","kind":"subagent"}` + "\n" +
			`{"id":"m","type":"user","content":"a"}` + "\n", nil, 0, nil},
		{"a subagent of codex", "codex", `{"type":"session_meta","payload":{"id":"s","source":{"subagent":{}}}}` + "\n" +
			`{"type":"response_item","payload":{"type":"message","role":"user","content":"a"}}` + "\n", nil, 0, nil},
		{"relation first", "server-memory", `{"type":"relation","from":"a","to":"b","relationType":"r"}` + "\n" +
			`{"type":"entity","name":"a"}` + "\n" + `{"type":"entity","name":"b"}`, nil, 3, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder{}
			must.Fail(t, Read(test.format, "", strings.NewReader(test.in), r), test.want)
			if len(r.lines) != test.lines || !slices.Equal(r.places, test.places) {
				t.Errorf("%d lines and %q, want %d and %q:\n%s", len(r.lines), r.places, test.lines, test.places,
					strings.Join(r.lines, "\n"))
			}
		})
	}
	if err := Read("other", "", strings.NewReader(""), &recorder{}); err == nil {
		t.Error("a format that there is none of")
	}
}

// TestStops checks that an error of the handler ends the reading.
func TestStops(t *testing.T) {
	stop := errors.New("stop")
	for _, format := range Formats() {
		file := filepath.Join("testdata", format+".jsonl")
		if _, err := os.Stat(file); err != nil {
			file = filepath.Join("testdata", format+".json")
		}
		data, err := os.ReadFile(file)
		must.OK(t, err)
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
	files, err := filepath.Glob("testdata/*.json*")
	must.OK(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		must.OK(f, err)
		f.Add(slices.Index(Formats(), formatOf(file)), data)
	}
	f.Fuzz(func(t *testing.T, n int, data []byte) {
		formats := Formats()
		r := &recorder{}
		err := Read(formats[uint(n)%uint(len(formats))], "", strings.NewReader(string(data)), r)
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
	})
}
