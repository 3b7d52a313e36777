package ipld

import "testing"

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want float64
		ok   bool
	}{
		{IntValue(-3), -3, true}, {FloatValue(0.5), 0.5, true}, {IntValue(1<<53 + 1), 1 << 53, true},
		{StringValue("3"), 0, false}, {Value{}, 0, false}, {BoolValue(true), 0, false},
	} {
		if x, ok := c.v.Number(); x != c.want || ok != c.ok {
			t.Errorf("%v: %v, %v", c.v, x, ok)
		}
	}
}
