package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/model/minilm/weights"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestKeptVectorsAreTheSame(t *testing.T) {
	m := New(weights.File)
	if m == nil {
		t.Skip("built without the model")
	}
	texts := []string{"who owns billing?", "☃☃", "the pipeline runs at night"}
	first := must.Get(m.Vectors(t.Context(), texts))(t)
	if len(first[0]) != m.Dim() || first[1] != nil {
		t.Fatalf("%d dimensions, and %v of a text without words", len(first[0]), first[1])
	}
	slices.Reverse(texts)
	again, err := m.Vectors(t.Context(), texts)
	must.True(t, err == nil && &again[2][0] == &first[0][0] && &again[0][0] == &first[2][0],
		"vectors that are kept were made again, %v", err)
	other := must.Get(New(weights.File).Vectors(t.Context(), texts[2:]))(t, "another vector of the same text")
	must.Same(t, other[0], first[0], "another vector of the same text")
}

func TestKeepsLittle(t *testing.T) {
	m := New("not read")
	for i := range 2 * keepTexts {
		m.keep(fmt.Sprint(i), []int8{1})
	}
	if len(m.kept) != keepTexts || len(m.order) != keepTexts || m.kept["0"] != nil || m.kept[fmt.Sprint(2*keepTexts-1)] == nil {
		t.Errorf("%d vectors kept, in an order of %d", len(m.kept), len(m.order))
	}
	for i := range 10 {
		m.keep(fmt.Sprint(i)+strings.Repeat("x", keepBytes/4-8), []int8{1})
	}
	must.True(t, m.bytes <= keepBytes && len(m.kept) <= 4, "%d bytes of %d texts kept", m.bytes, len(m.kept))
	m.keep(strings.Repeat("y", keepBytes), []int8{1})
	must.True(t, len(m.kept) != 0, "a long text took the place of all others")
}

func TestNoModel(t *testing.T) {
	must.True(t, New("") == nil, "a model of no file")
	must.True(t, must.Err(New("damaged").Vectors(t.Context(), []string{"a"})) != nil, "a damaged file was read")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if weights.File != "" {
		must.True(t, must.Err(New(weights.File).Vectors(ctx, []string{"a"})) != nil,
			"an ended context was not told")
	}
}

func TestAsEmbedder(t *testing.T) {
	m := New(weights.File)
	if m == nil {
		t.Skip("built without the model")
	}
	var told []int
	e := embed.OpenExact(m, func(done, total int) { told = append(told, done, total) })
	texts := []string{"the cat sits on the mat", "", "a feline rests on a rug", " \t\u0301", "invoices are due in March"}
	for len(texts) < 100 {
		texts = append(texts, "")
	}
	got, err := e.Embed(t.Context(), texts, embed.Document)
	must.Require(t, err == nil && len(got) == len(texts) && slices.Equal(told, []int{64, 100, 100, 100}),
		"%d vectors, told %v, %v", len(got), told, err)
	if got[1] != nil || got[3] != nil || len(got[4]) != e.Dim() {
		t.Errorf("%d and %d numbers of texts without words", len(got[1]), len(got[3]))
	}
	if near, far := product(got[0], got[2]), product(got[0], got[4]); near <= far {
		t.Errorf("cat and feline: %d, cat and invoices: %d", near, far)
	}
	for _, text := range []string{"\xff", strings.Repeat("a", embed.MaxText+1)} {
		_, err := e.Embed(t.Context(), []string{"fine", text}, embed.Document)
		must.Fail(t, err, embed.ErrText, text)
	}
}

func product(a, b []int8) (sum int) {
	for i := range a {
		sum += int(a[i]) * int(b[i])
	}
	return sum
}

// TestWhole: an English question is known, a German one falls apart, and of marks alone there is nothing to tell.
func TestWhole(t *testing.T) {
	if share, ok := New("damaged").Whole("who owns billing?"); ok {
		t.Errorf("%d of a damaged file", share)
	}
	m := New(weights.File)
	if m == nil {
		t.Skip("built without the model")
	}
	for text, want := range map[string]int{
		"who owns billing?":                         1000,
		"Welche Rechnungsnummer hat Straßenbauamt?": 66, // hat is a word, of fifteen pieces
		"?!": -1,
		"":   -1,
	} {
		share, ok := m.Whole(text)
		if ok != (want >= 0) || ok && share != want {
			t.Errorf("%q: %d, %v", text, share, ok)
		}
	}
	if share, ok := m.Whole("who owns", "☃☃☃ billing ☃☃☃"); !ok || share != 600 {
		t.Errorf("two texts: %d, %v", share, ok)
	}
}
