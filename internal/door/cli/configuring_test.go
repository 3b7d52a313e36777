package cli

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/door/access"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb"
)

// TestConfiguring holds the operations that policies know against the commands that need a right.
func TestConfiguring(t *testing.T) {
	var want []string
	for _, v := range locals() {
		if v.Spec.Right == verb.OwnRight {
			want = append(want, v.Spec.Name())
		}
	}
	got := slices.Clone(access.Configuring)
	slices.Sort(got)
	slices.Sort(want)
	must.Same(t, got, want, "policies know, the commands")
}
