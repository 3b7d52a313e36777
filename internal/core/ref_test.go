package core_test

import (
	"encoding/json"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestRefTravels reads back what a ref leads to.
func TestRefTravels(t *testing.T) {
	at := ipld.Sum(ipld.DagCBOR, []byte("x"))
	for want, ref := range map[string]core.RefTarget{
		`null`: {}, `"` + at.String() + `"`: {Ref: core.Ref{Target: at}},
		`"refs/heads/a<b"`: {Ref: core.Ref{Symbolic: "refs/heads/a<b"}},
	} {
		data := must.Get(ref.MarshalJSON())(t)
		must.Equal(t, string(data), want)
		back := core.RefTarget{Ref: core.Ref{Symbolic: "before"}}
		must.OK(t, json.Unmarshal(data, &back), data)
		must.Equal(t, back, ref, data)
	}
	must.Check(t, new(core.RefTarget).UnmarshalJSON([]byte(`5`)) != nil, "a number was read")
}
