package parse

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

const notebook4 = `{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": [
    "# Barrels\n",
    "\n",
    "See [casks](casks.md) and #wood.\n",
    "` + "```" + `\n",
    "# open fence"
  ]},
  {"cell_type": "code", "execution_count": 3, "metadata": {"a": [1, {"b": null}]},
   "outputs": [
    {"output_type": "stream", "name": "stdout", "text": ["\u001b[31m10%\u001b[0m\r100%\n", "done\n"]},
    {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=", "text/html": "<b>x</b>", "text/plain": "<Figure>"}},
    {"output_type": "error", "ename": "E", "traceback": ["secret"]}
   ],
   "source": [
    "# not a heading\n",
    "x = 1"
   ]},
  {"cell_type": "markdown", "source": "## Empty\n\nText\u0000."},
  {"cell_type": "code", "execution_count": null, "outputs": [], "source": "y"},
  {"cell_type": "code", "outputs": [], "source": []},
  {"cell_type": "raw", "source": "raw"}
 ],
 "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
 "nbformat": 4, "nbformat_minor": 5
}
`

func TestNotebook(t *testing.T) {
	d := parsed(t, Notebook, notebook4)
	want := []string{
		"6-6 See [casks](casks.md) and #wood.", "7-8 ```|# open fence", "17-18 In [3]:|# not a heading|x = 1",
		"12-13 Out [3]:|100%|done|<Figure>", "# Empty", "20-20 Text\ufffd.", "21-21 In [ ]:|y", "23-23 raw",
	}
	must.Same(t, shown(d), want, "title")
	must.Equal(t, d.Title, "Barrels", "title")
	must.Same(t, d.Chunks(nil)[0].Links, []string{"casks.md"}, "links")
	must.Same(t, d.Tags, []string{"wood"}, "links")
	if c := d.Chunks(nil)[0]; c.First != 6 || c.Last != 18 {
		t.Errorf("a chunk of lines %d to %d", c.First, c.Last)
	}
	left := map[string]int{"error": 1, "image/png": 1, "text/html": 1}
	must.Same(t, d.Left, left, "left out")
	must.True(t, len(d.Meta) == 1 && d.Meta[0].Name == "language" && d.Meta[0].Value == "python", "%v", d.Meta)
}

func TestNotebook3(t *testing.T) {
	d := parsed(t, Notebook, `{"metadata": {"name": "Old one"}, "nbformat": 3, "worksheets": [{"cells": [
{"cell_type": "heading", "level": 2, "source": "A"},
{"cell_type": "code", "prompt_number": 7, "language": "python", "input": ["x"], "outputs": [{"output_type": "pyout", "text": ["1"]}]}]}, {"metadata": {}}]}`)
	want := []string{"# A", "3-3 In [7]:|x", "3-3 Out [7]:|1"}
	must.Same(t, shown(d), want, "title")
	must.Equal(t, d.Title, "Old one", "title")
}

func TestNotebookOutputIsBounded(t *testing.T) {
	text := fmt.Sprintf(`{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x", "outputs": [{"text": %q}, {"text": ["ü%s"]}]}]}`,
		strings.Repeat("out\n", 400), strings.Repeat("ü", maxOutput))
	chunks := parsed(t, Notebook, text).Chunks(nil)
	got := ""
	for _, c := range chunks {
		got += c.Text
	}
	if len(got) < maxOutput || len(got) > maxOutput+100 || !strings.HasSuffix(got, "ü\n…") {
		t.Errorf("%d bytes: …%q", len(got), got[max(0, len(got)-20):])
	}
}

func TestNotebookErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "line 1: " + ErrForm.Error() + ": unexpected EOF",
		"{\n\"cells\": [":                 "line 2: " + ErrForm.Error() + ": unexpected EOF",
		"{\"nbformat\": 4}\n x":           "line 2: " + ErrForm.Error() + ": something behind its end",
		"{\"nbformat\": 2}":               ErrForm.Error() + `: nbformat is "2", want 3 or 4`,
		"[]":                              ErrForm.Error() + `: nbformat is "", want 3 or 4`,
		"{\"cells\": [\n{\"source\" 1}]}": "line 2: " + ErrForm.Error() + ": invalid character '1' after object key",
	} {
		if _, err := Parse(Notebook, in, nil); !errors.Is(err, ErrForm) || err.Error() != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
	many := `{"nbformat": 4, "cells": [` + strings.Repeat(`{"cell_type": "raw", "source": "a"},`, MaxBlocks) + `{}]}`
	_, err := Parse(Notebook, many, nil)
	must.Fail(t, err, ErrTooMany)
}

func TestNotebookHostile(t *testing.T) {
	const n = 1 << 19
	wrap := func(s string) string {
		return `{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": ` + s + `}]}`
	}
	for name, text := range map[string]string{
		"deep":     `{"cells": ` + strings.Repeat("[", n),
		"objects":  strings.Repeat(`{"cells":`, n/9),
		"pieces":   wrap("[" + strings.Repeat(`"a",`, n/4) + `"a"]`),
		"lines":    wrap(`"` + strings.Repeat(`\n`, n/2) + `"`),
		"headings": wrap(`"` + strings.Repeat(`# a\n`, n/6) + `"`),
		"sources":  `{"cells": [{"source": "a"` + strings.Repeat(`,"source": "a"`, n/14) + `}], "nbformat": 4}`,
		"colours":  wrap(`"` + strings.Repeat(`\u001b[`, n/7) + `"`),
	} {
		begin := time.Now()
		if d, err := Parse(Notebook, text, nil); err == nil {
			d.Chunks(nil)
		}
		if took := time.Since(begin); took > 10*time.Second { // some .1 s on an idle machine
			t.Errorf("%s took %s", name, took)
		}
	}
}

// FuzzNotebook reads any notebook: parsing ends, and the chunks' lines exist.
func FuzzNotebook(f *testing.F) {
	f.Add(notebook4)
	f.Add(`{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "a\nb", "prompt_number": 1}]}]}`)
	f.Fuzz(func(t *testing.T, in string) { fuzzDerived(t, Notebook, in, nil) })
}

// fuzzDerived checks the chunks of a file of a derived format.
func fuzzDerived(t *testing.T, format Format, in string, o *ReadOptions) {
	text, err := Decode([]byte(in))
	if err != nil {
		return
	}
	d, err := Parse(format, text, o)
	if err != nil {
		return
	}
	lines := strings.Count(text, "\n") + 1
	var known []string
	for _, c := range d.Chunks(nil) {
		known = append(known, c.Text)
		must.Require(t, c.Text != "" && c.First >= 1 && c.Last >= c.First && c.Last <= lines,
			"%+v of %d lines", c, lines)
	}
	for _, c := range d.Chunks(NewKnown(known)) {
		must.Require(t, slices.Contains(known, c.Text), "the same text has a new chunk %q", c.Text)
	}
}
