package state

import (
	"errors"
	"io"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
)

const (
	// lineGroup is how many lines are parsed at a time, and lineBytes how many bytes of them, unless a single line
	// has more. lineLimit bounds the bytes in flight, in addition to one line of any length.
	lineGroup = 64
	lineBytes = 64 << 10
	lineLimit = 4 << 20
)

// ReadChanges returns the changes in lines of JSON. file names them in errors. Lines are read ahead on the
// consumer's goroutine and parsed on several others.
func ReadChanges(in io.Reader, file string) Changes {
	return func(yield func(graph.Change, error) bool) {
		limit := parallel.Limit[*lines]{Bytes: lineLimit, Size: func(l *lines) int { return len(l.text) }}
		for l := range parallel.Map(groupLines(graph.NewReader(in, file)), limit, (*lines).parse) {
			for i := range l.changes {
				if !yield(l.changes[i], nil) {
					return
				}
			}
			if l.err != nil {
				yield(graph.Change{}, l.err)
				return
			}
		}
	}
}

// lines is a group of consecutive lines, with the changes parsed from them.
type lines struct {
	list    []graph.Line // without text
	ends    []int        // of each in text
	text    []byte
	changes []graph.Change
	err     error // after the changes
}

// groupLines yields the lines up to the first error.
func groupLines(in *graph.Reader) iter.Seq[*lines] {
	return func(yield func(*lines) bool) {
		for more := true; more; {
			group := &lines{list: make([]graph.Line, 0, lineGroup)}
			for more && len(group.list) < lineGroup && len(group.text) < lineBytes {
				line, err := in.NextLine()
				if err != nil {
					if !errors.Is(err, io.EOF) {
						group.err = err
					}
					more = false
					break
				}
				group.text = append(group.text, line.Text...)
				group.ends = append(group.ends, len(group.text))
				line.Text = nil
				group.list = append(group.list, line)
			}
			if !yield(group) {
				return
			}
		}
	}
}

// parse parses the lines into changes, up to the first invalid one.
func (l *lines) parse() *lines {
	from := 0
	l.changes = make([]graph.Change, 0, len(l.list))
	for i, line := range l.list {
		line.Text = l.text[from:l.ends[i]]
		from = l.ends[i]
		c, err := line.Change()
		if err != nil {
			l.err = err
			break
		}
		l.changes = append(l.changes, c)
	}
	return l
}

// Changes is a stream of changes, from graph.Reader or a caller. An error in it fails the whole batch. A yielded
// change must not be modified afterwards.
type Changes = iter.Seq2[graph.Change, error]
