package check

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Bounds of a file of labelled questions, in bytes.
const (
	maxLabelledLine = 256 << 10
	maxLabelledFile = 64 << 20
	maxEvidenceIDs  = 1000
)

// Labelled is a question of which it is known whether the memory answers it.
type Labelled struct {
	Question   string
	Answerable bool
	Evidence   []string // keys or ids of the memories that hold the answer, where they are known
	Line       int      // where it stands in its file
}

// ReadLabelled reads labelled questions, at most MaxLabelled: JSON objects, one a line, with the
// members question (text), answerable (true or false) and if wanted evidence (list of keys or ids).
// What breaks a rule is a *graph.LineError under the name file.
func ReadLabelled(in io.Reader, file string) ([]Labelled, error) {
	limited := &io.LimitedReader{R: in, N: maxLabelledFile + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxLabelledLine+1)
	var out []Labelled
	n := 0
	at := func(err error) error { return &graph.LineError{File: file, Line: n, Err: err} }
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		q, err := parseLabelled(lines.Bytes())
		switch {
		case limited.N == 0:
			err = graph.Fieldf("", "file of more than %d bytes", maxLabelledFile)
		case err == nil && len(out) == MaxLabelled:
			err = graph.Fieldf("", "more than %d questions", MaxLabelled)
		}
		if err != nil {
			return nil, at(err)
		}
		q.Line = n
		out = append(out, q)
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		n++
		return nil, at(graph.Fieldf("", "line of more than %d bytes", maxLabelledLine))
	}
	return out, err
}

func parseLabelled(line []byte) (Labelled, error) {
	var q Labelled
	v, err := ipld.ParseJSON(line)
	if err != nil {
		return q, err
	}
	if v.Kind() != ipld.Map {
		return q, graph.Fieldf("", "%s, want an object", v.Kind())
	}
	labelled := false
	for _, e := range v.Entries() {
		switch e.Key {
		case "question":
			q.Question = e.Value.Text()
			if len(q.Question) > retrieve.MaxText {
				return q, graph.Fieldf(e.Key, "%d bytes, limit %d", len(q.Question), retrieve.MaxText)
			}
		case "answerable":
			if labelled = e.Value.Kind() == ipld.Bool; !labelled {
				return q, graph.Fieldf(e.Key, "%s, want true or false", e.Value.Kind())
			}
			q.Answerable = e.Value.Bool()
		case "evidence":
			if q.Evidence, err = evidenceNames(e.Value); err != nil {
				return q, err
			}
		default:
			return q, graph.Fieldf(e.Key, "unknown member: want question, answerable and evidence")
		}
	}
	switch {
	case blankText(q.Question):
		err = graph.Fieldf("question", "want a text with words")
	case !labelled:
		err = graph.Fieldf("answerable", "missing: want true or false")
	case !q.Answerable && len(q.Evidence) > 0:
		err = graph.Fieldf("evidence", "of a question that has no answer")
	}
	return q, err
}

func evidenceNames(v ipld.Value) ([]string, error) {
	if v.Kind() != ipld.List || len(v.List()) > maxEvidenceIDs {
		return nil, graph.Fieldf("evidence", "want a list of at most %d keys or ids", maxEvidenceIDs)
	}
	var out []string
	for i, item := range v.List() {
		if item.Text() == "" {
			return nil, graph.Fieldf("evidence", "item %d is not a key or id", i+1)
		}
		out = append(out, item.Text())
	}
	return out, nil
}
