package graph

import (
	"encoding/json"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestIDsAndTimesAsJSON(t *testing.T) {
	type all struct {
		ID   ID
		None ID
		Time Time
		At   OptTime
		No   OptTime
	}
	want := all{ID: NodeID("alice"), Time: 1_700_000_000_123_456, At: At(0)}
	data := must.Get(json.Marshal(want))(t)
	got := all{None: NodeID("x"), No: At(7)}
	must.OK(t, json.Unmarshal(data, &got), data, " reads as")
	must.Equal(t, got, want, data, " reads as")
	for _, bad := range []string{`{"ID":"x"}`, `{"ID":[1]}`, `{"Time":7}`, `{"Time":"soon"}`, `{"At":"soon"}`} {
		must.Check(t, json.Unmarshal([]byte(bad), &got) != nil, "%s was read", bad)
	}
}
