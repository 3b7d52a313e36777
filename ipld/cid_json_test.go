package ipld

import (
	"encoding/json"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestCIDAsJSON(t *testing.T) {
	some := Sum(DagCBOR, []byte{0xa0})
	for _, c := range []CID{some, {}} {
		data := must.Get(json.Marshal(c))(t)
		back := some
		must.OK(t, json.Unmarshal(data, &back), data, " reads as")
		must.Equal(t, back, c, data, " reads as")
	}
	for _, bad := range []string{`""`, `7`, `{}`, `"bafy"`, `["x"]`} {
		var c CID
		must.True(t, json.Unmarshal([]byte(bad), &c) != nil, "%s was read as %v", bad, c)
	}
}
