package evaluate

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// maxLine is the longest line of a file in bytes: the longest text, escaped, and the most and longest keys fit.
	maxLine = 1 << 20
	// maxFile is the longest file in bytes.
	maxFile = 16 << 20
)

var errFileSize = graph.Fieldf("", "file of more than %d bytes", maxFile)

// readLines calls parse with each line of a file that is not blank, and its number from 1. What parse
// returns, and what breaks a bound, is a *graph.LineError under the name file.
func readLines(in io.Reader, file string, parse func(line []byte, n int) error) error {
	limited := &io.LimitedReader{R: in, N: maxFile + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxLine+1)
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		err := parse(lines.Bytes(), n)
		if limited.N == 0 {
			err = errFileSize // whatever the cut made of this line
		}
		if err != nil {
			return &graph.LineError{File: file, Line: n, Err: err}
		}
	}
	err := lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		err = graph.Fieldf("", "line of more than %d bytes", maxLine)
	case err == nil && limited.N == 0:
		err = errFileSize
	}
	if err != nil {
		return &graph.LineError{File: file, Line: n + 1, Err: err}
	}
	return nil
}

// members are the members that an object has, each with what reads it. Those whose name ends with a
// question mark may be missing; "meta" may be there and say anything.
type members map[string]func(ipld.Value) error

func (m members) read(line []byte) error {
	v, err := ipld.ParseJSON(line)
	if err != nil {
		return err
	}
	if v.Kind() != ipld.Map {
		return graph.Fieldf("line", "%s, want an object", v.Kind())
	}
	for _, e := range v.Entries() {
		read := m[e.Key]
		if read == nil {
			read = m[e.Key+"?"]
		}
		switch {
		case read != nil:
			err = read(e.Value)
		case e.Key != "meta":
			err = graph.Fieldf("", "unknown member")
		}
		if err != nil {
			return graph.Fieldf(e.Key, "%v", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if _, there := v.Get(name); !there && !strings.HasSuffix(name, "?") {
			return graph.Fieldf(name, "missing")
		}
	}
	return nil
}

// intoText reads a text that is not blank.
func intoText(to *string) func(ipld.Value) error {
	return func(v ipld.Value) error {
		if *to = v.Text(); v.Kind() != ipld.String || strings.TrimSpace(*to) == "" {
			return graph.Fieldf("", "want a text that is not blank")
		}
		return nil
	}
}

// intoTexts reads a list of texts that are not blank, each once.
func intoTexts(to *[]string) func(ipld.Value) error {
	return func(v ipld.Value) error {
		if v.Kind() != ipld.List || len(v.List()) > maxGold {
			return graph.Fieldf("", "want a list of at most %d texts", maxGold)
		}
		for i, item := range v.List() {
			switch s := item.Text(); {
			case item.Kind() != ipld.String || strings.TrimSpace(s) == "":
				return graph.Fieldf("", "item %d is not a text, or blank", i+1)
			case slices.Contains(*to, s):
				return graph.Fieldf("", "%q is given twice", s)
			default:
				*to = append(*to, s)
			}
		}
		return nil
	}
}
