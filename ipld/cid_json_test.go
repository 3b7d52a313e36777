package ipld

import (
	"encoding/json"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestCIDAsJSON(t *testing.T) {
	some := Sum(DagCBOR, []byte{0xa0})
	for _, c := range []CID{some, {}} {
		data, err := json.Marshal(c)
		must.OK(t, err)
		back := some
		if err := json.Unmarshal(data, &back); err != nil || back != c {
			t.Errorf("%s reads as %v, %v", data, back, err)
		}
	}
	for _, bad := range []string{`""`, `7`, `{}`, `"bafy"`, `["x"]`} {
		var c CID
		if err := json.Unmarshal([]byte(bad), &c); err == nil {
			t.Errorf("%s was read as %v", bad, c)
		}
	}
}
