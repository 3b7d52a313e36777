package verb

import (
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func TestWeightsAreShort(t *testing.T) {
	for units, want := range map[uint32]string{
		1: "0.00002", 65536: "1", 32768: "0.5", 58982: "0.9", 6554: "0.1", 45875: "0.7", 65535: "0.99998",
	} {
		got := Weight(units).String()
		v, err := ipld.ParseJSON([]byte(got))
		must.True(t, err == nil && got == want, "%d: %s, want %s (%v)", units, got, want, err)
		x := v.Float()
		if v.Kind() == ipld.Int {
			x = float64(v.Int())
		}
		if back, err := graph.EdgeWeight(x); err != nil || back != units {
			t.Errorf("%d is %s is %d (%v)", units, got, back, err)
		}
	}
}
