package retrieve

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
)

func TestSparseValidate(t *testing.T) {
	many := func(n, terms, length int) (list []SparseVector) {
		for i := range n {
			list = append(list, SparseVector{fmt.Sprint("m", i), manyTerms(terms, length)})
		}
		return list
	}
	for _, c := range []struct {
		name   string
		list   []SparseVector
		reason string // "" for none
	}{
		{"eight", many(8, 1, 5), ""},
		{"nine", many(9, 1, 5), "limit 8"},
		{"the most terms", many(8, MaxSparseTerms, 8), ""},
		{"one more", many(1, MaxSparseTerms+1, 8), "want 1 to 1024"},
		{"too many bytes", many(8, MaxSparseTerms, 9), "limit 65536"},
		{"none", sparseOf("m"), "want 1 to 1024"},
		{"weight 0", sparseOf("m", graph.Term{Term: "a"}), "outside 1 to"},
		{"weight 2^31", sparseOf("m", graph.Term{Term: "a", Weight: 1 << 31}), "outside 1 to"},
		{"empty term", sparseOf("m", graph.Term{Weight: 1}), "must not be empty"},
		{"long term", sparseOf("m", manyTerms(1, 256)...), "limit 255"},
		{"no UTF-8", sparseOf("m", graph.Term{Term: "\xff", Weight: 1}), "UTF-8"},
		{"order", sparseOf("m", graph.Term{Term: "aa", Weight: 1}, graph.Term{Term: "b", Weight: 1}),
			"not in its place"},
		{"term twice", sparseOf("m", slices.Repeat(manyTerms(1, 5), 2)...), "given twice"},
		{"NUL", sparseOf("a\x00b", manyTerms(1, 5)...), "NUL"},
		{"no name", sparseOf("", manyTerms(1, 5)...), "must not be empty"},
		{"twice", slices.Repeat(many(1, 1, 5), 2), "two vectors of the model"},
	} {
		err := Request{Sparse: c.list}.Validate()
		var re *RequestError
		if c.reason == "" && err != nil ||
			c.reason != "" && (!errors.As(err, &re) || re.Param != "sparse" ||
				!strings.Contains(re.Reason, c.reason)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.reason)
		}
	}
}
