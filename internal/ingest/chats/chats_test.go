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
		must.Check(t, err == nil || errors.Is(err, ErrFormat), "%s: %v", format, err)
		return map[string]any{"lines": len(r.lines), "places": append([]string{}, r.places...), "refused": err != nil}
	}
	cases.Golden(t, filepath.Join("testdata", "damaged", "damaged.jsonl"), func(t testing.TB, c cases.Case) any {
		var in struct{ Format, Text string }
		cases.Parse(t, c.Input, &in)
		return read(in.Format, in.Text)
	})
	deep := `{"type":"user","uuid":"u1","sessionId":"s","message":{"content":"hello"}}` + "\n" + strings.Repeat("[", 100_000)
	must.Same(t, read("claude-code", deep+"\n"), map[string]any{"lines": 2, "places": []string{"line 2"}, "refused": false})
	must.Check(t, Read("other", "", strings.NewReader(""), &recorder{}) != nil,
		"a format that there is none of")
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
