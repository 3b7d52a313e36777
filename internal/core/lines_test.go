package core_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestReadChangesAsReader compares the changes of many lines, some long, blank or wrong, with those that
// a reader returns one by one.
func TestReadChangesAsReader(t *testing.T) {
	broken := errors.New("broken pipe")
	line := func(i int) string {
		switch {
		case i%31 == 5:
			return "  \n"
		case i%97 == 9:
			return fmt.Sprintf(`{"node":{"key":"n%d","type":"T","summary":%q}}`+"\n", i,
				strings.Repeat("long ", 10_000))
		}
		return fmt.Sprintf(`{"node":{"key":"n%d","type":"T","props":{"n":%d}}}`+"\r\n", i, i)
	}
	for _, n := range []int{0, 1, 2, 63, 64, 65, 500} {
		for name, end := range map[string]string{
			"nothing": "", "no line end": `{"edge":{"type":"t","src":"a","dst":"b"}}`,
			"wrong": "{\"node\":{}}\n{}\n", "no JSON": "x\n" + line(1),
		} {
			for _, cut := range []error{nil, broken} {
				var b strings.Builder
				for i := range n {
					b.WriteString(line(i))
				}
				b.WriteString(end)
				in := func() io.Reader {
					if cut == nil {
						return strings.NewReader(b.String())
					}
					return io.MultiReader(strings.NewReader(b.String()), iotest.ErrReader(cut))
				}
				want, wantErr := oneByOne(in())
				var got []string
				var gotErr error
				for c, err := range state.ReadChanges(in(), "f") {
					if gotErr = err; err == nil {
						got = append(got, show(c))
					}
				}
				if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) ||
					errors.Is(gotErr, broken) != errors.Is(wantErr, broken) {
					t.Errorf("%d lines, %s, %v: error %v, want %v", n, name, cut, gotErr, wantErr)
				}
				must.Same(t, got, want, n, " lines, ", name)
			}
		}
	}
}

func show(c graph.Change) string {
	if c.Node != nil {
		return fmt.Sprintf("%s:%d node %+v %d", c.File, c.Line, c.Node.Key, len(c.Node.Props))
	}
	return fmt.Sprintf("%s:%d edge %+v", c.File, c.Line, c.Edge)
}

func oneByOne(in io.Reader) (all []string, err error) {
	r := graph.NewReader(in, "f")
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, show(c))
	}
}
