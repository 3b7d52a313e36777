package graph

import (
	"encoding/json"
	"testing"

	"github.com/mnem-project/mnem/ipld"
)

// TestJSONBothWays: ids, CIDs and times in JSON are read as they were written, and nothing else is.
func TestJSONBothWays(t *testing.T) {
	type all struct {
		CID   ipld.CID
		ID    ID
		Time  Time
		Some  OptTime
		NoCID ipld.CID
		NoID  ID
		None  OptTime
	}
	want := all{
		CID: ipld.Sum(ipld.Raw, []byte("x")), ID: NodeID("x"), Time: 1_700_000_000_123_456,
		Some: At(-5),
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got all
	if err := json.Unmarshal(data, &got); err != nil || got != want {
		t.Errorf("%s: %+v, %v, want %+v", data, got, err, want)
	}
	for _, bad := range []string{`""`, `"x"`, `1`, `"\u0062"`, `{}`, `" 2026-01-01"`} {
		for _, to := range []any{new(ipld.CID), new(ID), new(Time), new(OptTime)} {
			if err := json.Unmarshal([]byte(bad), to); err == nil {
				t.Errorf("%s is read as %T %v", bad, to, to)
			}
		}
	}
}
