package differ

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		want, got any
		opts      []cmp.Option
		differ    bool
	}{
		{[]int{1, 2}, []int{1, 2}, nil, false},
		{[]int{1, 2}, []int{2, 1}, nil, true},
		{[]int{}, []int(nil), nil, true},
		{[]int{}, []int(nil), []cmp.Option{cmpopts.EquateEmpty()}, false},
		{1, int64(1), nil, true},
	} {
		if d := Diff(c.want, c.got, c.opts...); (d != "") != c.differ {
			t.Errorf("%#v and %#v: %q", c.want, c.got, d)
		}
	}
}
