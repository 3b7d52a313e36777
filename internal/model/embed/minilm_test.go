package embed

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/model/minilm"
	"github.com/mnem-project/mnem/internal/model/minilm/weights"
)

func openMiniLM(t *testing.T, progress Progress) Embedder {
	t.Helper()
	e, err := Open("minilm", Options{MiniLM: weights.File, Progress: progress})
	if errors.Is(err, minilm.ErrNoFile) && weights.File == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestMiniLM(t *testing.T) {
	var told []int
	e := openMiniLM(t, func(done, total int) {
		if total != 40 {
			t.Errorf("told of %d texts", total)
		}
		told = append(told, done)
	})
	texts := []string{"the cat sits on the mat", "", "a feline rests on a rug", " \t\u0301", "invoices are due in March"}
	for len(texts) < 40 {
		texts = append(texts, "")
	}
	got, err := e.Embed(t.Context(), texts, Document)
	if err != nil || len(got) != len(texts) {
		t.Fatal(len(got), err)
	}
	if want := []int{16, 32, 40}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	for i, v := range got {
		if empty := strings.TrimSpace(texts[i]) == "" || i == 3; empty != (v == nil) || v != nil && len(v) != e.Dim() {
			t.Errorf("text %d: %d numbers", i, len(v))
		}
	}
	if near, far := product(got[0], got[2]), product(got[0], got[4]); near <= far {
		t.Errorf("cat and feline: %d, cat and invoices: %d", near, far)
	}
	e = openMiniLM(t, nil)
	asked, err := e.Embed(t.Context(), texts[:1], Query)
	if err != nil || !cmp.Equal(asked[0], got[0]) {
		t.Errorf("a query has another vector: %v", err)
	}
}

func product(a, b []int8) (sum int) {
	for i := range a {
		sum += int(a[i]) * int(b[i])
	}
	return sum
}

func TestMiniLMRefuses(t *testing.T) {
	if _, err := Open("minilm", Options{}); !errors.Is(err, minilm.ErrNoFile) {
		t.Errorf("without a file: %v", err)
	}
	for _, spec := range []string{"minilm:", "minilm:x"} {
		if _, err := Open(spec, Options{MiniLM: weights.File}); !errors.Is(err, ErrProvider) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	e := openMiniLM(t, nil)
	for _, text := range []string{"\xff", strings.Repeat("a", MaxText+1)} {
		if _, err := e.Embed(t.Context(), []string{"fine", text}, Document); !errors.Is(err, ErrText) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if v, err := e.Embed(ctx, []string{"fine"}, Document); !errors.Is(err, cause) || v != nil {
		t.Errorf("cancelled: %d vectors, %v", len(v), err)
	}
}
