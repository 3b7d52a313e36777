package chats

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// readBytes reads data as a file of a format.
func readBytes(t *testing.T, format string, data []byte) (*recorder, error) {
	t.Helper()
	r := &recorder{}
	err := Read(format, "", bytes.NewReader(data), r)
	must.Require(t, err == nil || errors.Is(err, ErrFormat), "%v", err)
	return r, err
}

// texts returns the recorded texts, sorted.
func (r *recorder) texts() []string {
	var out []string
	for _, line := range r.lines {
		if _, text, ok := strings.Cut(line, `"Text":`); ok {
			text, _, _ = strings.Cut(text, `,"`)
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

func eachFile(t *testing.T, ending string, f func(t *testing.T, format string, data []byte)) {
	files, err := filepath.Glob("testdata/*" + ending)
	must.Require(t, err == nil && len(files) != 0, "no files %v", err)
	for _, file := range files {
		if filepath.Ext(file) != ".json" && filepath.Ext(file) != ".jsonl" {
			continue
		}
		data := must.Get(os.ReadFile(file))(t)
		t.Run(filepath.Base(file), func(t *testing.T) { f(t, formatOf(file), data) })
	}
}

// TestTruncated truncates files at any byte: the missing part is reported unless the cut is between two records.
func TestTruncated(t *testing.T) {
	eachFile(t, ".json*", func(t *testing.T, format string, data []byte) {
		whole, _ := readBytes(t, format, data)
		for n := 1; n < len(data)-1; n += 7 {
			part, err := readBytes(t, format, data[:n])
			told := err != nil || len(part.places) > 0 || part.skipped[Incomplete] > 0
			between := data[n-1] == '\n' || data[n] == '\n'
			if fewer := len(part.texts()) < len(whole.texts()); fewer && !told && !between {
				t.Fatalf("%d of %d bytes: %d of %d texts, and nothing is told", n, len(data), len(part.texts()),
					len(whole.texts()))
			}
		}
	})
}

// TestDoubled reads files of lines that were written twice: they say nothing more, and the repeated lines are counted.
func TestDoubled(t *testing.T) {
	eachFile(t, ".jsonl", func(t *testing.T, format string, data []byte) {
		if slices.Contains([]string{"codex-old.jsonl", "cursor.jsonl", "copilot-lines.jsonl"}, filepath.Base(t.Name())) {
			t.Skip("lines without times may be said twice, and changes made twice")
		}
		once, _ := readBytes(t, format, data)
		data = bytes.TrimRight(data, "\n")
		twice := must.Get(readBytes(t, format, slices.Concat(data, []byte("\n"), data, []byte("\n"))))(t)
		must.Same(t, twice.texts(), once.texts())
		if twice.skipped[Duplicate] <= once.skipped[Duplicate] && format != "gemini" && format != "server-memory" {
			t.Errorf("skipped %v, once %v", twice.skipped, once.skipped)
		}
	})
}

// TestShuffled reads lines in another order: everything is taken, or the rest is reported.
func TestShuffled(t *testing.T) {
	eachFile(t, ".jsonl", func(t *testing.T, format string, data []byte) {
		once, _ := readBytes(t, format, data)
		lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
		rng := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			now := []byte(strings.Join(lines, "\n") + "\n")
			got, err := readBytes(t, format, now)
			again, _ := readBytes(t, format, now)
			must.Same(t, again.lines, got.lines, "the same file, read twice")
			all := strings.Join(got.texts(), " ")
			for _, text := range once.texts() {
				said := strings.Contains(all, strings.Trim(text, `"`)) || strings.Contains(text, `\n\n`)
				if !said && err == nil && len(got.places) == len(once.places) && got.skipped[Duplicate] == 0 {
					t.Errorf("%s is missing from %s", text, all)
				}
			}
		}
	})
}

// TestLogsAreBounded reads logs of changes that are short, and make much.
func TestLogsAreBounded(t *testing.T) {
	const lists = 1000
	var b strings.Builder
	b.WriteString(`{"kind":0,"v":{"sessionId":"s","requests":[],"l":[` + strings.Repeat("[],", lists) + "[]]}}\n")
	for i := range lists {
		fmt.Fprintf(&b, `{"kind":1,"k":["l",%d,%d],"v":0}`+"\n", i, maxIndex)
	}
	_, err := readBytes(t, "copilot", []byte(b.String()))
	must.Fail(t, err, ErrFormat)
	deep := `{"kind":0,"v":{"sessionId":"s","requests":[],"l":` + strings.Repeat("[", maxSteps) + strings.Repeat("]", maxSteps) +
		`}}` + "\n" + `{"kind":1,"k":["l"` + strings.Repeat(",0", maxSteps) + `],"v":0}` + "\n"
	must.Equal(t, must.Get(readBytes(t, "copilot", []byte(deep)))(t).skipped[Damaged], 1, "deep")
}

// TestPacked checks that a compressed or archived file gives the same result as a plain one.
func TestPacked(t *testing.T) {
	rollout := must.Get(os.ReadFile("testdata/codex-more.jsonl"))(t)
	enc := must.Get(zstd.NewWriter(nil))(t)
	packed := enc.EncodeAll(rollout, nil)
	plain, _ := readBytes(t, "codex", rollout)
	must.Same(t, plain.lines, must.Get(readBytes(t, "codex", packed))(t).lines)
	for n := 5; n < len(packed); n += 11 {
		if got, err := readBytes(t, "codex", packed[:n]); err == nil && len(got.places) <= len(plain.places) {
			t.Errorf("%d of %d bytes, and nothing is told: %v", n, len(packed), got.places)
		}
	}
	export := must.Get(os.ReadFile("testdata/chatgpt-more.json"))(t)
	list := slices.Concat([]byte("["), export, []byte("]"))
	archive := archiveOf(t, map[string]string{
		"export/conversations-000.json": string(list), "export/conversations-001.json": "[]", "chat.html": "<p>",
		"user.json": "{}", "file-1.dat": "x",
	})
	plain, _ = readBytes(t, "chatgpt", export)
	got := must.Get(readBytes(t, "chatgpt", archive))(t)
	must.Same(t, plain.lines, got.lines)
	for _, kind := range []string{".html file", ".dat file", "user.json"} {
		must.Equal(t, got.skipped[kind], 1, kind, ": ", got.skipped)
	}
	for _, bad := range [][]byte{archive[:len(archive)-30], archiveOf(t, map[string]string{"x.json": "[]"})} {
		_, err := readBytes(t, "chatgpt", bad)
		must.Fail(t, err, ErrFormat)
	}
	must.Fail(t, Read("chatgpt", "", io.MultiReader(bytes.NewReader(archive)), &recorder{}), ErrFormat)
}

func archiveOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range sortedKeys(files) {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, files[name])
		}
		must.OK(t, err)
	}
	must.OK(t, z.Close())
	return b.Bytes()
}

// TestUnpackedIsBounded has more in a packed file than is read.
func TestUnpackedIsBounded(t *testing.T) {
	u := &unpacked{in: strings.NewReader("abcdef"), left: 4}
	data, err := io.ReadAll(u)
	must.True(t, err == nil && string(data) == "abcd" && errors.Is(u.err, errUnpacked),
		"%q, %v, %v", data, err, u.err)
}

// TestForks reads a session and a fork of it: they share their common turns and no others.
func TestForks(t *testing.T) {
	item := func(role, text string) string {
		return `{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"` + role +
			`","content":[{"type":"input_text","text":"` + text + `"}]}}` + "\n"
	}
	meta := func(id, from string) string {
		return `{"type":"session_meta","payload":{"id":"` + id + `","forked_from_id":"` + from + `"}}` + "\n"
	}
	common := item("user", "a") + item("assistant", "b")
	files := []string{
		meta("p", "") + common + item("user", "c") + item("assistant", "done"),
		meta("f", "p") + common + item("user", "d") + item("assistant", "done"),
		meta("g", "f") + meta("f", "p") + meta("p", "") + common + item("user", "d") + item("user", "e"),
		meta("other", "") + common,
	}
	ids := make(map[string]int)
	for _, file := range files {
		r := must.Get(readBytes(t, "codex", []byte(file)))(t)
		for id := range r.turns {
			ids[id]++
		}
	}
	// Of a, b, c, done, d, done, e of one root, and a, b of the other.
	must.Equal(t, len(ids), 9, "turns")
}

// TestWants chooses files of directories by their names.
func TestWants(t *testing.T) {
	for _, c := range []struct {
		format, name string
		wants        bool
		left         string
	}{
		{"gemini", "chats/session-1.jsonl", true, ""}, {"gemini", "chats/session-1.json", true, ""},
		{"gemini", "tmp/logs.json", false, "logs.json"}, {"codex", "2026/rollout-1.jsonl.zst", true, ""},
		{"codex", "history.json", false, ""}, {"server-memory", "memory.json", true, ""},
		{"chatgpt", "export.zip", true, ""}, {"chatgpt", "user.json", false, "user.json"},
		{"claude-code", "a.json", false, ""},
	} {
		wants, left := Wants(c.format, c.name)
		must.True(t, wants == c.wants && left == c.left, "%s %s: %v, %q", c.format, c.name, wants, left)
	}
}
