package chats

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

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
		must.Check(t, errors.Is(err, ErrFormat) && len(got.lines) <= 0, "%s: %v, %v", name, err, got.lines)
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
			must.Check(t, len(got.lines) <= 10*len(whole.lines), "%s: %d records", format, len(got.lines))
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
	must.Check(t, slices.Contains(got.places, "key pollen:1"), "places %q", got.places)
}
