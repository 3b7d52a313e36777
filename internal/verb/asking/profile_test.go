package asking

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/internal/verb"
)

// TestOwnFields sees to it that each parameter is one that a profile can hold, or that there is a reason
// why not.
func TestOwnFields(t *testing.T) {
	set := map[string]bool{}
	for _, f := range ProfileSet.Fields() {
		set[f.Name] = true
		if f.Hidden != (whyOwn(f.Name) != "") || f.Hidden && f.Remote {
			t.Errorf("%s: hidden %t, because %q", f.Name, f.Hidden, whyOwn(f.Name))
		}
	}
	for _, f := range Retrieve.Fields() {
		if (f.Param() != nil || f.Name == "rerank" || f.Name == "include") && !set[f.Name] {
			t.Errorf("%s is refused without a reason", f.Name)
		}
	}
}

func TestProfileSetRefusesOwn(t *testing.T) {
	h := verbkit.NewHost(t)
	for flag, value := range map[string]string{"type": "Person", "include": "retired", "marks": "retired", "rerank": "x"} {
		q := &ProfileSetRequest{Name: "docs"}
		for _, f := range ProfileSet.Fields() {
			if f.Name == flag {
				if err := f.Set(q, []string{value}); err != nil {
					t.Fatal(err)
				}
			}
		}
		verb.SetGiven(q, []string{flag})
		if _, err := verbkit.Try(t, h, ProfileSet, q); err == nil || !strings.Contains(err.Error(), "no profile can hold --"+flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
