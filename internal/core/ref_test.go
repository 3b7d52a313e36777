package core_test

import (
	"encoding/json"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/ipld"
)

// TestRefTravels reads back what a ref leads to.
func TestRefTravels(t *testing.T) {
	at := ipld.Sum(ipld.DagCBOR, []byte("x"))
	for want, ref := range map[string]core.RefTarget{
		`null`: {}, `"` + at.String() + `"`: {Ref: core.Ref{Target: at}},
		`"refs/heads/a<b"`: {Ref: core.Ref{Symbolic: "refs/heads/a<b"}},
	} {
		data, err := ref.MarshalJSON()
		if err != nil || string(data) != want {
			t.Errorf("%s, %v, want %s", data, err, want)
		}
		back := core.RefTarget{Ref: core.Ref{Symbolic: "before"}}
		if err := json.Unmarshal(data, &back); err != nil || back != ref {
			t.Errorf("%s: %+v, %v", data, back, err)
		}
	}
	if err := new(core.RefTarget).UnmarshalJSON([]byte(`5`)); err == nil {
		t.Error("a number was read")
	}
}
