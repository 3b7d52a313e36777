package operation

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// FuzzReadValue reads values as a decoder does, and writes them so that they are read again.
func FuzzReadValue(f *testing.F) {
	for _, s := range []string{
		"{}", "[]", "null", " { } ", `{"a":1}`, `{"a":{"b":[1,"]}\\\""]},"c":null , "d" : -1.5e3}`, `[1,true,"x\\",{"y":[]},[[]]]`,
		`{"\u0061\n":"\xff"}`, "{\"a\":1}x", `{"a":}`, `["a"`, `{"a":1,"a":2}`, "[1 2]", `"[]"`, "[\t-0\r\n]", `1e400`, "",
		strings.Repeat("[", 20_000),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ReadValue(data)
		must.Equal(t, err == nil, json.Valid(data), data, ": ", err, ", a decoder reads it")
		if err != nil {
			return
		}
		again, err := ReadValue(got.Append(nil))
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%q: %v, %+v and then %+v", data, err, got, again)
		}
		read := func(data []byte) any {
			dec := json.NewDecoder(strings.NewReader(string(data)))
			dec.UseNumber()
			var v any
			must.OK(t, dec.Decode(&v))
			return v
		}
		if want, have := read(data), read(got.Append(nil)); !reflect.DeepEqual(want, have) {
			t.Errorf("%q: written as %v, want %v", data, have, want)
		}
	})
}

// elsewhere is a runner that another process answers through.
type elsewhere []string

func (r elsewhere) Run(_ context.Context, _ Call, out io.Writer) (Outcome, error) {
	for _, line := range r {
		for _, part := range []string{line[:len(line)/2], line[len(line)/2:] + "\n"} {
			if _, err := io.WriteString(out, part); err != nil {
				return Interrupted, err
			}
		}
	}
	return OK, nil
}

// typed is a runner that answers here.
type typed []string

func (r typed) Run(_ context.Context, c Call, _ io.Writer) (Outcome, error) {
	for _, line := range r {
		if err := c.Answer(Bytes(line)); err != nil {
			return Failed, err
		}
	}
	return OK, nil
}

// TestValuesAreBounded takes answers of as many bytes as may be, and one more.
func TestValuesAreBounded(t *testing.T) {
	two := []string{`{"a":"x"}`, `{"b":[1,2]}`}
	for name, r := range map[string]Runner{"bytes": elsewhere(two), "typed": typed(two)} {
		got, _, err := Values(t.Context(), r, Call{}, 22)
		if err != nil || len(got) != 2 || got[0].Find("a").Word() != "x" || len(got[1].Find("b").Items) != 2 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if _, _, err := Values(t.Context(), r, Call{}, 18); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: more than is taken: %v", name, err)
		}
	}
	if _, _, err := Values(t.Context(), elsewhere{`{"a":`}, Call{}, 100); err == nil {
		t.Error("half a value was taken")
	}
}
