package verb

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

type streamed struct {
	Commit ipld.CID      `json:"commit" shape:"null"`
	Inner  *streamedPart `json:"inner"`
	Note   string        `json:"note,omitempty"`
}

type streamedPart struct {
	Items Each[Text] `json:"items"`
	None  Each[Text] `json:"none"`
	Count int        `json:"count"`
	Skip  func()     `json:"-"`
}

func streamOf(items ...Text) *streamed {
	p := &streamedPart{None: func(func(Text) error) error { return nil }}
	p.Items = func(yield func(Text) error) error {
		for _, item := range items {
			p.Count++
			if err := yield(item); err != nil {
				return err
			}
		}
		return nil
	}
	return &streamed{Inner: p}
}

// TestWriteJSON writes members in order, so that what a list counts can follow it.
func TestWriteJSON(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{streamOf("a<b", "", "c"), `{"commit":null,"inner":{"items":["a<b",null,"c"],"none":[],"count":3}}`},
		{streamOf(), `{"commit":null,"inner":{"items":[],"none":[],"count":0}}`},
		{[]int(nil), `[]`}, {nil, `null`}, {FieldValue{"x"}, `"x"`},
	} {
		var b strings.Builder
		if err := WriteJSON(&b, tt.v); err != nil || b.String() != tt.want+"\n" || !json.Valid([]byte(b.String())) {
			t.Errorf("%s, %v, want %s", &b, err, tt.want)
		}
	}
}

// TestWriteJSONStops ends at the first error, of a list or of the writer.
func TestWriteJSONStops(t *testing.T) {
	failed := errors.New("failed")
	v := streamOf("a")
	v.Inner.None = func(func(Text) error) error { return failed }
	must.Fail(t, WriteJSON(&strings.Builder{}, v), failed, "want that of the list")
	must.Fail(t, WriteJSON(failingWriter{failed}, streamOf("a")), failed, "want that of the writer")
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
