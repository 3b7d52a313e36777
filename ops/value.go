package ops

import (
	"encoding/json"
	"strconv"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Text is a text of an answer that is null where it is empty.
type Text string

// MarshalJSON writes null for the empty text.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return encode(string(t))
}

// List is a list of an answer, [] where it is nil.
type List[T any] []T

// MarshalJSON writes [] for nil.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return encode([]T(l))
}

// Weight is the weight of an edge, written as the shortest decimal fraction that means it.
type Weight uint32

// MarshalJSON writes the fraction.
func (w Weight) MarshalJSON() ([]byte, error) { return []byte(w.String()), nil }

func (w Weight) String() string {
	x := float64(w) / graph.MaxWeight
	for digits := range 6 {
		s := strconv.FormatFloat(x, 'f', digits, 64)
		short, err := strconv.ParseFloat(s, 64)
		if err != nil {
			break
		}
		if units, err := graph.EdgeWeight(short); err == nil && units == uint32(w) {
			return s
		}
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Value returns the JSON form of a value; nil, which is written as null, for none.
func Value(v *ipld.Value) json.RawMessage {
	if v == nil {
		return nil
	}
	return ipld.AppendJSON(nil, *v)
}

// Props is a map of properties, written as an object in canonical order.
type Props []ipld.Entry

// MarshalJSON writes the object.
func (p Props) MarshalJSON() ([]byte, error) {
	return ipld.AppendJSON(nil, ipld.MapValue(p...)), nil
}

const microsPerSecond = 1_000_000
