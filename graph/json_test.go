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
	data, err := json.Marshal(want)
	must.OK(t, err)
	got := all{None: NodeID("x"), No: At(7)}
	if err := json.Unmarshal(data, &got); err != nil || got != want {
		t.Errorf("%s reads as %+v, %v", data, got, err)
	}
	for _, bad := range []string{`{"ID":"x"}`, `{"ID":[1]}`, `{"Time":7}`, `{"Time":"soon"}`, `{"At":"soon"}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
