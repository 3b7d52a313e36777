package verb

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

type inner struct {
	Before int        `json:"before"`
	List   Each[*int] `json:"list"`
	After  Text       `json:"after"`
}

type outer struct {
	Head  string         `json:"head"`
	First Each[Text]     `json:"first"`
	Inner *inner         `json:"inner"`
	None  *inner         `json:"none"`
	Last  map[string]int `json:"last"`
	Ends  Each[[]Value1] `json:"ends"`
}

// Value1 is an item of a list in a list.
type Value1 struct {
	A Weight `json:"a"`
}

// TestListsAreReadAsTheyAreAskedFor reads an answer with lists, all of them, some, and in a wrong order.
func TestListsAreReadAsTheyAreAskedFor(t *testing.T) {
	const data = `"outer" {"head":"h","first":["a","b",null],"later":[{"x":[1]}],"inner":{"before":1,"list":[1,2],` +
		`"after":"z"},"none":null,"last":{"k":1},"ends":[[{"a":0.5}],[]]}` + "\n" + `"outer" {"head":"i"}`
	v := Define(Spec{Command: "lists", Effect: Reads}, func(context.Context, *Service, *struct{}) (*outer, error) {
		return nil, nil
	})
	read := func(fn func(o *outer) error) (heads string) {
		t.Helper()
		err := v.ReadAnswers(strings.NewReader(data), func(a any) error {
			o := a.(*outer)
			heads += o.Head
			if o.Head == "i" {
				return nil
			}
			return fn(o)
		})
		must.Fail(t, err, nil)
		return heads
	}
	var got []string
	all := func(o *outer) error {
		err := o.First(func(x Text) error { got = append(got, string(x)); return nil })
		must.True(t, err == nil && o.Inner.Before == 1 && o.Inner.After == "", "%+v, %v", o.Inner, err)
		if err := o.Inner.List(func(x *int) error { got = append(got, strings.Repeat("x", *x)); return nil }); err != nil {
			return err
		}
		must.True(t, o.Inner.After == "z" && o.Last["k"] == 1, "%+v", o)
		return o.Ends(func(x []Value1) error { got = append(got, string(rune('0'+len(x)))); return nil })
	}
	if heads := read(all); heads != "hi" || !cmp.Equal(got, []string{"a", "b", "", "x", "xx", "1", "0"}) {
		t.Errorf("%s %q", heads, got)
	}
	n := 0
	read(func(o *outer) error { return o.Ends(func([]Value1) error { n++; return nil }) })
	read(func(o *outer) error {
		if err := o.Ends(func([]Value1) error { return nil }); err != nil {
			return err
		}
		return o.First(func(Text) error { n += 100; return nil }) // it was passed over
	})
	if heads := read(func(*outer) error { return nil }); n != 2 || heads != "hi" {
		t.Errorf("%d items, %s", n, heads)
	}
	stop := errors.New("enough")
	err := v.ReadAnswers(strings.NewReader(data), func(a any) error {
		return a.(*outer).First(func(Text) error { return stop })
	})
	must.Fail(t, err, stop)
	for _, cut := range []string{`"outer" {"first":[1`, `"outer" {"inner":[]}`, `"outer" [`, `5`} {
		err := v.ReadAnswers(strings.NewReader(cut), func(a any) error {
			return a.(*outer).First(func(Text) error { return nil })
		})
		if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && cut == "5" {
			t.Errorf("%s: %v", cut, err)
		}
	}
}

// TestFailures sends errors and news.
func TestFailures(t *testing.T) {
	for _, err := range []error{
		nil, Bad("max-age", "%d is below 0", -1), &News{operation.Mismatch},
		Hint(errors.New("no luck"), "try 'mnem log'", "try log"),
		&operation.Error{Outcome: operation.Busy, Message: "m", Unknown: true},
	} {
		for _, remote := range []bool{false, true} {
			got := FailureOf(t.Context(), err, remote).Err()
			if (got == nil) != (err == nil) || OutcomeOf(t.Context(), got) != OutcomeOf(t.Context(), err) {
				t.Errorf("%v became %v", err, got)
			}
			var news *News
			if err == nil || errors.As(err, &news) && errors.As(got, &news) {
				continue
			}
			if MessageOf(got, remote) != MessageOf(err, remote) || HintOf(got, remote) != HintOf(err, remote) {
				t.Errorf("%v became %v, %s", err, got, HintOf(got, remote))
			}
		}
	}
	if got := (&Failure{Code: "later", Message: "m"}).Err(); OutcomeOf(t.Context(), got) != operation.Failed {
		t.Errorf("%v", got)
	}
}

// TestFailurePlace has an error name its line as a value, whichever process met it.
func TestFailurePlace(t *testing.T) {
	err := error(&graph.LineError{File: "a.jsonl", Line: 3, Err: errors.New("no good")})
	want := operation.Place{Line: 3, Name: "a.jsonl:3"}
	for range 2 {
		data, jsonErr := json.Marshal(FailureOf(t.Context(), err, false))
		var f Failure
		if jsonErr != nil || json.Unmarshal(data, &f) != nil || f.Place != want || f.Message != "a.jsonl:3: no good" {
			t.Errorf("%s, %v", data, jsonErr)
		}
		err = f.Err()
	}
	if f := FailureOf(t.Context(), errors.New("x"), false); f.Place != (operation.Place{}) {
		t.Errorf("%+v", f)
	}
}
