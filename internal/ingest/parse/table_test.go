package parse

import (
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func columns(t *testing.T, list ...string) *Columns {
	t.Helper()
	c := must.Get(ParseColumns(list))(t)
	must.Same(t, c.List(), list, "became")
	return c
}

func tabled(t *testing.T, format Format, text string, list ...string) *Document {
	t.Helper()
	return must.Get(Parse(format, text, &ReadOptions{Columns: columns(t, list...)}))(t)
}

func TestCSV(t *testing.T) {
	text := "id, name ,body,note,when\n" +
		"7,\"A, **b**\",\"one\n\ntwo\",x,2024-05-01 10:00:00\n\n" +
		"8,,three,y,2024-05-02\n9,only a name,,,\n"
	d := tabled(t, CSV, text, "text=body", "title=name", "id=id", "time=when")
	want := []string{"# A, **b**", "2-2 one", "4-4 two", "# 8", "6-6 three", "# only a name"}
	must.Same(t, shown(d), want)
	if s := d.Sections[0]; s.ID != "7" || s.Time != "2024-05-01T10:00:00Z" {
		t.Errorf("%+v", s)
	}
	want = []string{"2-2 one", "4-4 two", "4-4 x", "6-6 three", "6-6 y"}
	must.Same(t, shown(tabled(t, CSV, text, "text=body", "text=note")), want)
	for _, sep := range []string{";", "\t"} {
		d := tabled(t, CSV, "a"+sep+"b"+sep+"c, d\n1"+sep+"2,3"+sep+"4\n", "text=b")
		must.Same(t, shown(d), []string{"2-2 2,3"}, sep)
	}
}

func TestJSONL(t *testing.T) {
	text := `{"q": "why?", "n": 12, "tags": ["a", {"b": 1}], "a": "first\n\nsecond"}` + "\n\n" +
		`{"a": null, "n": true, "q": "x"}` + "\n" + `{"a": "last"}`
	d := tabled(t, JSONL, text, "text=a", "text=tags", "title=q", "id=n")
	want := []string{"# why?", "1-1 first", "1-1 second", `1-1 ["a", {"b": 1}]`, "# x", "4-4 last"}
	must.Same(t, shown(d), want)
	must.Equal(t, d.Sections[0].ID, "12")
	must.Equal(t, d.Sections[1].ID, "true")
}

func TestColumns(t *testing.T) {
	for list, want := range map[string]string{
		"title=a": "no column is the text", "text": `"text": want FIELD=COLUMN`, "text=": `"text=": want FIELD=COLUMN`,
		"text=a,id=b,id=c": "id is said twice", "text=a,size=b": `"size": want one of text, title, id, time`, "": `"": want FIELD=COLUMN`,
	} {
		_, err := ParseColumns(strings.Split(list, ","))
		must.Check(t, err != nil && err.Error() == want, "%q: %v, want %s", list, err, want)
	}
}

func TestTableErrors(t *testing.T) {
	never := func(string) error { return errors.New("no time") }
	tests := []struct {
		format  Format
		in      string
		columns []string
		want    string
	}{
		{CSV, "a,b\n1,2\n", nil, `nothing says what its columns are: "a", "b"`},
		{JSONL, "{\"a\": 1}\n{\"b\": 2}\n", nil, `nothing says what its columns are: "a", "b"`},
		{CSV, "a,b\n", []string{"text=c"}, `no column "c" among "a", "b"`},
		{JSONL, `{"a": 1}`, []string{"text=a", "id=c"}, `no column "c" among "a"`},
		{CSV, "a,a\n", []string{"text=a"}, ErrForm.Error() + `: two columns are called "a"`},
		{CSV, "a,b\n1\n", []string{"text=a"}, ErrForm.Error() + ": record on line 2: wrong number of fields"},
		{CSV, "a\n\"1\n", []string{"text=a"}, ErrForm.Error() + ": parse error on line 2, column 4: extraneous or missing \" in quoted-field"},
		{JSONL, "{\"a\": 1}\n[1]\n", []string{"text=a"}, "line 2: " + ErrForm.Error() + ": want an object"},
		{JSONL, "{\"a\": 1}\n{\"a\"\n", []string{"text=a"}, "line 2: " + ErrForm.Error() + ": unexpected EOF"},
		{JSONL, "{\"a\": 1} {}\n", []string{"text=a"}, "line 1: " + ErrForm.Error() + ": something behind its end"},
		{CSV, "a,t\n1,\n2,soon\n", []string{"text=a", "time=t"}, "line 3: no time"},
		{CSV, "a,t\n1," + strings.Repeat("x", maxTitle+1) + "\n", []string{"text=a", "title=t"}, "line 2: a title or id of 1001 bytes, limit 1000"},
		{CSV, "a\n" + strings.Repeat("x\n", MaxSections+1), []string{"text=a", "title=a"}, ErrTooMany.Error()},
	}
	for _, test := range tests {
		o := &ReadOptions{Time: never}
		if test.columns != nil {
			o.Columns = columns(t, test.columns...)
		}
		_, err := Parse(test.format, test.in, o)
		must.Check(t, err != nil && err.Error() == test.want, "%.40q: %v, want %s", test.in, err, test.want)
	}
	for _, format := range []Format{CSV, JSONL} {
		d := must.Get(Parse(format, "", nil))(t)
		must.Check(t, len(d.Blocks) <= 0, "%s, empty", format)
	}
	if many := tabledNames(t); len(many) > 1000 {
		t.Errorf("%d bytes of columns", len(many))
	}
}

// tabledNames returns the error for a table of many columns.
func tabledNames(t *testing.T) string {
	t.Helper()
	_, err := Parse(CSV, strings.Repeat("column,", 9999)+"a\n", nil)
	must.Require(t, err != nil, "no error")
	return err.Error()
}

// FuzzTable reads any table: parsing ends, and the chunks' lines exist.
func FuzzTable(f *testing.F) {
	f.Add("a,b\n1,\"2\n3\"\n")
	f.Add(`{"a": "x", "b": [1]}` + "\n" + `{"a": "y\nz"}`)
	f.Fuzz(func(t *testing.T, in string) {
		for _, list := range [][]string{{"text=a"}, {"text=a", "title=b"}} {
			o := &ReadOptions{Columns: columns(t, list...)}
			fuzzDerived(t, CSV, in, o)
			fuzzDerived(t, JSONL, in, o)
		}
	})
}
