package cli

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/door/access"
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
	if !slices.Equal(got, want) {
		t.Errorf("policies know %q, the commands are %q", got, want)
	}
}
