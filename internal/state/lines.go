package state

import (
	"errors"
	"io"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
)

const (
	// lineGroup is how many lines are parsed at a time, and lineBytes how many bytes of them, unless
	// one alone has more. lineLimit bounds the bytes that are under way, beside one line of any length.
	lineGroup = 64
	lineBytes = 64 << 10
	lineLimit = 4 << 20
)

// ReadChanges returns the changes in lines of JSON. file names them in errors. Lines are read on the
// goroutine that asks for changes, some ahead of those that are yielded, and parsed on several.
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

// lines are some that follow each other, and what comes of them.
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

// parse returns the lines with their changes, up to the first that is refused.
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

// Changes is a stream of changes: what graph.Reader reads or a caller makes. An error in it
// refuses the whole batch. What a change holds must not be changed after it was yielded.
type Changes = iter.Seq2[graph.Change, error]
