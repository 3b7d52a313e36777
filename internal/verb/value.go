package verb

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Text is a text of an answer that is null if it is empty.
type Text string

// MarshalJSON writes null for the empty text.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return Encode(string(t))
}

// Weight is the weight of an edge, written as the shortest decimal fraction that means it.
type Weight uint32

// MarshalJSON writes the fraction.
func (w Weight) MarshalJSON() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalJSON reads a fraction.
func (w *Weight) UnmarshalJSON(data []byte) error {
	x, err := strconv.ParseFloat(string(data), 64)
	if err != nil {
		return err
	}
	units, err := graph.EdgeWeight(x)
	*w = Weight(units)
	return err
}

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

// Raw is a value in its JSON form, null if it is nil.
type Raw []byte

// MarshalJSON writes the value.
func (r Raw) MarshalJSON() ([]byte, error) {
	if r == nil {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON reads a value, null as none.
func (r *Raw) UnmarshalJSON(data []byte) error {
	if *r = nil; string(data) != "null" {
		*r = bytes.Clone(data)
	}
	return nil
}

// Value returns the JSON form of a value; nil, which is written as null, for none.
func Value(v *ipld.Value) Raw {
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

// UnmarshalJSON reads an object.
func (p *Props) UnmarshalJSON(data []byte) error {
	v, err := ipld.ParseJSON(data)
	*p = v.Entries()
	return err
}

// FieldValue is the value of one field alone.
type FieldValue struct{ Value any }

// MarshalJSON writes the value.
func (v FieldValue) MarshalJSON() ([]byte, error) { return Encode(v.Value) }

// UnmarshalJSON reads the value: a string is a text, and all else stays as it is.
func (v *FieldValue) UnmarshalJSON(data []byte) error {
	var text string
	if data[0] != '"' {
		v.Value = json.RawMessage(bytes.Clone(data))
		return nil
	}
	err := json.Unmarshal(data, &text)
	v.Value = text
	return err
}
