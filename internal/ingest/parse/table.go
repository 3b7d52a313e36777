package parse

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxColumns is the number of columns that the error for a refused file lists.
const maxColumns = 40

// Columns assign meanings to the columns of a table.
type Columns struct {
	Text            []string // one at least
	Title, ID, Time string   // "" for none
}

// ParseColumns reads columns as String writes them.
func ParseColumns(list []string) (*Columns, error) {
	var c Columns
	for _, item := range list {
		field, column, ok := strings.Cut(item, "=")
		if !ok || column == "" {
			return nil, fmt.Errorf("%q: want FIELD=COLUMN", item)
		}
		to := map[string]*string{"title": &c.Title, "id": &c.ID, "time": &c.Time}[field]
		switch {
		case len(column) > maxTitle:
			return nil, fmt.Errorf("a column's name has %d bytes, limit %d", len(column), maxTitle)
		case field == "text" && len(c.Text) < maxColumns:
			c.Text = append(c.Text, column)
		case to == nil:
			return nil, fmt.Errorf("%q: want one of text, title, id, time", field)
		case *to != "":
			return nil, fmt.Errorf("%s is said twice", field)
		default:
			*to = column
		}
	}
	if len(c.Text) == 0 {
		return nil, errors.New("no column is the text")
	}
	return &c, nil
}

// List is the columns as ParseColumns reads them, nil for nil.
func (c *Columns) List() []string {
	if c == nil {
		return nil
	}
	var out []string
	for _, name := range c.Text {
		out = append(out, "text="+name)
	}
	for _, f := range [][2]string{{"title", c.Title}, {"id", c.ID}, {"time", c.Time}} {
		if f[1] != "" {
			out = append(out, f[0]+"="+f[1])
		}
	}
	return out
}

// all returns the names of the columns that are wanted.
func (c *Columns) all() []string {
	return slices.DeleteFunc(append(slices.Clone(c.Text), c.Title, c.ID, c.Time), func(s string) bool { return s == "" })
}

// ColumnsError is returned for a table if nothing says what its columns are, or that lacks one.
type ColumnsError struct {
	Names []string // that it has
	Lacks string
}

func (e *ColumnsError) Error() string {
	names, more := e.Names, ""
	if len(names) > maxColumns {
		names, more = names[:maxColumns], " …"
	}
	list := fmt.Sprintf("%q", names)
	list = strings.ReplaceAll(strings.Trim(list, "[]"), `" "`, `", "`) + more
	if e.Lacks != "" {
		return fmt.Sprintf("no column %q among %s", e.Lacks, list)
	}
	return "nothing says what its columns are: " + list
}

type table struct {
	columns *Columns
	check   func(string) error // of times
	parts   []part
}

// tableValue is one value of a record, with its lines in the file.
type tableValue struct {
	text        string
	first, last int
}

// csv reads a table whose first record names the columns.
func (d *Document) csv(o *ReadOptions) error {
	r := csv.NewReader(strings.NewReader(d.text))
	r.ReuseRecord = true
	r.Comma = separator(d.text)
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForm, err)
	}
	var names []string
	for _, name := range head {
		names = append(names, strings.TrimSpace(name))
	}
	if o.Columns == nil {
		return &ColumnsError{Names: names}
	}
	for _, name := range o.Columns.all() {
		switch first := slices.Index(names, name); {
		case first < 0:
			return &ColumnsError{Names: names, Lacks: name}
		case slices.Contains(names[first+1:], name):
			return fmt.Errorf("%w: two columns are called %q", ErrForm, name)
		}
	}
	t := table{columns: o.Columns, check: o.Time}
	for {
		values, err := r.Read()
		if errors.Is(err, io.EOF) {
			return d.derive(t.parts, o)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrForm, err)
		}
		line, _ := r.FieldPos(0)
		err = t.record(line, func(name string) tableValue {
			i := slices.Index(names, name)
			if i < 0 {
				return tableValue{}
			}
			line, _ := r.FieldPos(i)
			return tableValue{values[i], line, line + strings.Count(values[i], "\n")}
		})
		if err != nil {
			return err
		}
	}
}

// separator returns the most frequent separator between the names of the columns: a comma, semicolon or tab.
func separator(text string) rune {
	head, _, _ := strings.Cut(text, "\n")
	best := ','
	for _, c := range ";\t" {
		if strings.Count(head, string(c)) > strings.Count(head, string(best)) {
			best = c
		}
	}
	return best
}

// jsonl reads a table of JSON objects, one a line.
func (d *Document) jsonl(o *ReadOptions) error {
	t := table{columns: o.Columns, check: o.Time}
	var names []string
	seen := make(map[string]bool)
	number := 0
	for line := range strings.Lines(d.text) {
		number++
		if blank(line) {
			continue
		}
		values := make(map[string]string)
		j := newJSON(line, number)
		tok, err := j.token()
		if err == nil && tok != json.Delim('{') {
			err = fmt.Errorf("line %d: %w: want an object", number, ErrForm)
		}
		if err == nil {
			err = j.object(tok, func(name string, tok json.Token) error {
				if !seen[name] && len(names) < maxFields {
					seen[name] = true
					names = append(names, name)
				}
				var err error
				values[name], err = j.value(tok)
				return err
			})
		}
		if err == nil {
			err = j.done()
		}
		if err == nil && o.Columns != nil {
			err = t.record(number, func(name string) tableValue { return tableValue{values[name], number, number} })
		}
		if err != nil {
			return err
		}
		if o.Columns == nil && number == maxColumns {
			break // columns are named by the first lines
		}
	}
	switch {
	case len(names) == 0:
		return nil
	case o.Columns == nil:
		return &ColumnsError{Names: names}
	}
	for _, name := range o.Columns.all() {
		if !seen[name] && len(names) < maxFields {
			return &ColumnsError{Names: names, Lacks: name}
		}
	}
	return d.derive(t.parts, o)
}

// value returns a value as text: lists and objects as they are written.
func (j *jsonText) value(tok json.Token) (string, error) {
	switch v := tok.(type) {
	case json.Delim:
		from := j.at - 1
		err := j.skip(tok)
		return j.text[from:j.at], err
	case bool:
		return fmt.Sprint(v), nil
	}
	return scalar(tok), nil
}

// record adds a record that begins in a line.
func (t *table) record(line int, get func(string) tableValue) error {
	one := func(name string) string {
		if name == "" {
			return ""
		}
		return strings.Join(strings.Fields(get(name).text), " ")
	}
	heading := part{kind: title, level: 1, id: one(t.columns.ID), time: one(t.columns.Time)}
	if heading.time != "" {
		heading.time = zoned(heading.time)
		if t.check != nil {
			if err := t.check(heading.time); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
		}
	}
	name := one(t.columns.Title)
	for _, other := range []string{heading.id, heading.time} {
		name = cmp.Or(name, other)
	}
	if len(name) > maxTitle || len(heading.id) > maxTitle {
		return fmt.Errorf("line %d: a title or id of %d bytes, limit %d", line, max(len(name), len(heading.id)), maxTitle)
	}
	if name != "" {
		heading.lines = []partLine{{name, line, line}}
		t.parts = append(t.parts, heading)
	}
	for _, column := range t.columns.Text {
		f := get(column)
		var l lineList
		for text := range strings.Lines(f.text) {
			l.add(text, min(f.first+len(l.list), f.last))
		}
		l.end()
		if len(l.list) > 0 {
			t.parts = append(t.parts, part{kind: plain, lines: l.list})
		}
	}
	if len(t.parts) > MaxBlocks+MaxSections {
		return fmt.Errorf("line %d: %w", line, ErrTooMany)
	}
	return nil
}

// zoned returns a time with a T between date and time of day, in UTC if it names no zone.
func zoned(s string) string {
	if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + strings.ReplaceAll(s[11:], " ", "")
	}
	if len(s) > 10 && s[10] == 'T' && !strings.ContainsAny(s[11:], "Zz+-") {
		s += "Z"
	}
	return s
}
