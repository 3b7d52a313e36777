package verb

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
)

type part struct {
	Name  string `json:"name"`
	Depth int    `json:"depth"`
}

type whole struct {
	part
	*Empty
	Name     string `json:"name"` // hides that of part
	Untagged bool
	CID      ipld.CID      `json:"cid"`
	At       graph.Time    `json:"at"`
	ID       graph.ID      `json:"id"`
	Kind     time.Duration `json:"kind"`
	Left     []string      `json:"left,omitempty"`
	Zero     ipld.CID      `json:"zero,omitzero"`
	Secret   string        `json:"-"`
	hidden   int
	Map      map[string]uint32 `json:"map"`
	Any      any               `json:"any"`
	Inner    *part             `json:"part"`
	List     []part            `json:"list"`
	Bytes    []byte            `json:"bytes"`
	Raw      json.RawMessage   `json:"raw"`
	X        float64           `json:"x"`
}

// Empty is embedded by a pointer.
type Empty struct {
	More string `json:"more"`
}

func written(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, WriteJSON(&b, v))
	parts, size, err := Answer{v}.Value(1 << 20)
	must.OK(t, err)
	got := strings.TrimSuffix(b.String(), "\n")
	must.Equal(t, string(text.EscapeJSON(parts.Append(nil))), got, v, ": part by part , as bytes")
	if _, _, err := (Answer{v}).Value(size - 1); !errors.Is(err, operation.ErrTooLarge) {
		t.Errorf("%T: of %d bytes %d are enough: %v", v, size, size-1, err)
	}
	return got
}

// TestWriteJSONAsStandard compares what is written with what the standard library writes.
func TestWriteJSONAsStandard(t *testing.T) {
	full := whole{
		part: part{"x", 1}, Empty: &Empty{"y"}, Name: "a \"b\" <c> \\ ü\n", CID: ipld.Sum(ipld.Raw, []byte("x")),
		At: 5, Kind: time.Second, Left: []string{"l"}, Zero: ipld.Sum(ipld.Raw, nil), Secret: "s", hidden: 1,
		Map: map[string]uint32{"b": 1, "a": 2}, Any: []any{"x", 1.5, nil, map[string]any{"k": "v"}}, Inner: &part{"i", 2},
		List: []part{{"l", 3}, {}}, Bytes: []byte("abc"), Raw: json.RawMessage(`{"r": 1}`), X: 1e-9,
	}
	for _, v := range []any{
		full, &full, whole{List: []part{}}, []whole{full, {List: []part{}}}, "text", 5, true, nil, 1.25, []string{}, map[string]int{},
		(*whole)(nil), struct{}{}, [2]int{1, 2},
	} {
		want := must.Get(Encode(v))(t)
		must.Equal(t, written(t, v), string(want), v, ": written , want ", want)
	}
}

// TestWriteJSONApart writes what the standard library writes otherwise: a list that is nil, and a text that may be null.
func TestWriteJSONApart(t *testing.T) {
	v := struct {
		List []int  `json:"list"`
		None string `json:"none" shape:"null"`
		Some string `json:"some" shape:"null"`
		One  string `json:"one" shape:"a|b|null"`
		Two  string `json:"two" shape:"a|b|null"`
		Text string `json:"text"`
		Line int    `json:"line" shape:"null"`
		Last int    `json:"last" shape:"null"`

		Deep []struct {
			List []int `json:"list"`
		} `json:"deep"`
	}{Some: "x", Two: "b", Last: 7}
	v.Deep = append(v.Deep, struct {
		List []int `json:"list"`
	}{})
	if got, want := written(t, &v), `{"list":[],"none":null,"some":"x","one":null,"two":"b","text":"","line":null,"last":7,"deep":[{"list":[]}]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	type item struct {
		In   []int  `json:"in"`
		None string `json:"none" shape:"null"`
	}
	lists := struct {
		Items []item `json:"items"`
		None  []item `json:"none"`
		Given *[]int `json:"given,omitempty"`
		Left  *[]int `json:"left,omitempty"`
	}{Items: []item{{}}, Given: new([]int)}
	if got, want := written(t, &lists), `{"items":[{"in":[],"none":null}],"none":[],"given":[]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := WriteJSON(new(bytes.Buffer), make(chan int)); err == nil {
		t.Error("a channel was written")
	}
}

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
