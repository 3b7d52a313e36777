package asking

import (
	"strings"
	"testing"
)

// TestOwnFields sees to it that each parameter is one that a profile can hold, or that there is a reason why not.
func TestOwnFields(t *testing.T) {
	set := map[string]bool{}
	for _, f := range ProfileVerb.Fields() {
		set[f.Name] = f.Param() != nil
	}
	for _, f := range Retrieve.Fields() {
		if f.Param() == nil && f.Name != "rerank" && f.Name != "include" {
			continue
		}
		why := new(profileRequest).NoParameter(f.Name)
		if set[f.Name] == (why != nil) {
			t.Errorf("%s: can be set: %t, and cannot because %v", f.Name, set[f.Name], why)
		}
		if why != nil && !strings.Contains(why.Error(), "no profile can hold "+f.Name+": ") {
			t.Errorf("%s: %v", f.Name, why)
		}
	}
}
