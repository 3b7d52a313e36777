package sqlite

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func fileOf(data []byte) Sized { return Sized{bytes.NewReader(data), int64(len(data))} }

func load(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile("testdata/" + name))(t)
}

// rowsOf reads the rows of the table notes, and each of them again by its place.
func rowsOf(d *Database) (rows [][]any, err error) {
	notes, ok := d.Table("notes")
	if !ok {
		return nil, ErrDamaged
	}
	get := func(r *Row) []any {
		row := []any{nil, nil, nil, nil}
		for i, name := range []string{"id", "the text", "n", "later"} {
			if s, ok := r.Text(notes.Column(name), 1<<20); ok {
				row[i] = s
			} else if n, ok := r.Int(notes.Column(name)); ok {
				row[i] = float64(n)
			} else if !r.Null(notes.Column(name)) {
				row[i] = "neither a text nor a number"
			}
		}
		return row
	}
	var places []Place
	err = d.Each(notes, func(r *Row) error {
		rows, places = append(rows, get(r)), append(places, r.Place)
		return nil
	})
	for i, at := range places {
		r, err := d.At(at)
		if err != nil {
			return rows, err
		}
		if again := get(r); !cmp.Equal(again, rows[i]) {
			return rows, errors.New("another row at its place")
		}
	}
	return rows, err
}

// TestRows compares with what another program reads: one database has half of its rows in the log.
func TestRows(t *testing.T) {
	var want map[string][][]any
	if err := json.Unmarshal(load(t, "rows.json"), &want); err != nil || len(want) != 2 {
		t.Fatal(err)
	}
	for name, rows := range want {
		var log Sized
		if name == "log.db" {
			log = fileOf(load(t, "log.db-wal"))
		}
		d := must.Get(Open(fileOf(load(t, name)), log))(t)
		got := must.Get(rowsOf(d))(t)
		diff := cmp.Diff(rows, got)
		must.True(t, diff == "" && len(rows) >= 50, "%s, %d rows: %s", name, len(rows), diff)
		empty, ok := d.Table("empty")
		must.True(t, ok && d.Each(empty, func(*Row) error { return errors.New("a row") }) == nil,
			"%s: the empty table: %t", name, ok)
		if _, ok := d.Table("by_n"); ok {
			t.Error("an index is no table")
		}
	}
	d := must.Get(Open(fileOf(load(t, "log.db")), Sized{}))(t)
	must.Equal(t, len(must.Get(rowsOf(d))(t)), 30, "without its log")
}

// TestLog reads logs that end in the middle or belong to no database: complete commits count.
func TestLog(t *testing.T) {
	file, log := load(t, "log.db"), load(t, "log.db-wal")
	last := 0
	for n := 0; n <= len(log); n += 293 {
		d := must.Get(Open(fileOf(file), fileOf(log[:n])))(t)
		rows, err := rowsOf(d)
		must.Require(t, err == nil && len(rows) >= last,
			"%d bytes of the log: %d rows after %d, %v", n, len(rows), last, err)
		last = len(rows)
	}
	must.True(t, last >= 40, "%d rows", last)
	for _, at := range []int{0, 4, 8, 16, 24, 32 + 8, 32 + 16, 32 + 24 + 100} {
		other := bytes.Clone(log)
		other[at] ^= 1
		d := must.Get(Open(fileOf(file), fileOf(other)))(t)
		must.Equal(t, len(must.Get(rowsOf(d))(t)), 30, "byte ", at, " changed")
	}
}

// TestDamaged changes and cuts files anywhere: reading ends, without a panic, and an error wraps ErrDamaged.
func TestDamaged(t *testing.T) {
	whole := load(t, "plain.db")
	rng := rand.New(rand.NewPCG(3, 4))
	refused := 0
	check := func(data []byte) {
		d, err := Open(fileOf(data), Sized{})
		if err == nil {
			var rows [][]any
			if rows, err = rowsOf(d); len(rows) > 100_000 {
				t.Fatalf("%d rows", len(rows))
			}
		}
		must.Require(t, err == nil || errors.Is(err, ErrDamaged), "%v", err)
		if err != nil {
			refused++
		}
	}
	for range 1200 {
		data := bytes.Clone(whole)
		for range 1 + rng.IntN(4) {
			data[rng.IntN(len(data))] = byte(rng.IntN(256))
		}
		check(data)
	}
	for n := 0; n < len(whole); n += 509 {
		check(whole[:n])
	}
	must.True(t, refused >= 100, "%d refused", refused)
	// Each page leads to itself.
	for n := 1; n < len(whole)/512; n++ {
		data := bytes.Clone(whole)
		binary.BigEndian.PutUint32(data[n*512:], uint32(n+1))
		check(data)
	}
	utf16 := bytes.Clone(whole)
	utf16[59] = 2
	for name, data := range map[string][]byte{
		"no database": []byte(strings.Repeat("x", 4096)), "empty": nil, "texts of UTF-16": utf16,
		"its head alone": whole[:100],
	} {
		_, err := Open(fileOf(data), Sized{})
		must.Fail(t, err, ErrDamaged, name)
	}
}

func TestColumns(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE TABLE t (a, b)": "a|b",
		"CREATE TABLE `a (b` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`n` integer DEFAULT (unixepoch(),1)\n)": "id|n",
		`CREATE TABLE "x"(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`:                                  "key|value",
		"create table t(a numeric(10,2), [b c] int, 'd' , primary key (a), check (a in (1,2)))":              "a|b c|d",
		"CREATE TABLE t(a INT, FOREIGN KEY (a) REFERENCES x(y))":                                             "a",
		"CREATE TABLE t(a":                   "",
		"":                                   "",
		"CREATE TABLE t AS SELECT 1":         "",
		"CREATE TABLE t (\"a\", \"b":         "a",
		"CREATE TABLE t (unique_a INT, b)))": "unique_a|b",
	} {
		must.Equal(t, strings.Join(columnsOf(text), "|"), want, text)
	}
}

// FuzzOpen reads all rows of any database with any log: reading ends, and an error says that it is damaged.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"plain.db", "log.db"} {
		data := must.Get(os.ReadFile(filepath.Join("testdata", name)))(f)
		log, err := os.ReadFile(filepath.Join("testdata", name+"-wal"))
		must.Require(f, err == nil || errors.Is(err, fs.ErrNotExist), "%v", err)
		f.Add(data[:8*512], log[:min(len(log), logHead+8*(frameHead+512))]) // long ones take minutes to be minimized
	}
	f.Fuzz(func(t *testing.T, data, log []byte) {
		d, err := Open(fileOf(data), fileOf(log))
		rows := 0
		for i := 0; err == nil && i < min(len(d.tables), 3); i++ { // a reader asks for a few by name
			err = d.Each(&d.tables[i], func(r *Row) error {
				for c := range min(len(d.tables[i].Columns), 5) {
					text, ok := r.Text(c, 100)
					must.True(t, !ok || len(text) <= 100, "%d bytes of a text", len(text))
					_, _ = r.Int(c)
				}
				rows++
				return must.Err(d.At(r.Place))
			})
		}
		if most := 3 * (len(data) + len(log)) / leastRow; rows > most {
			t.Errorf("%d rows in %d bytes", rows, len(data)+len(log))
		}
		must.True(t, err == nil || errors.Is(err, ErrDamaged), "%v", err)
	})
}
