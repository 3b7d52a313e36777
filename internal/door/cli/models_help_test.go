package cli

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestHelpNamesModels holds that every placeholder of a help text becomes the models there are, and that a text without
// one costs nothing: --help passes thousands of texts.
func TestHelpNamesModels(t *testing.T) {
	const plain = "Give the nodes of a branch's newest commit embeddings by a model, and commit these."
	if n := testing.AllocsPerRun(100, func() { reach.WithModels(plain) }); n != 0 {
		t.Errorf("%v allocations for a text without a placeholder", n)
	}
	must.Equal(t, reach.WithModels("costs $5"), "costs $5")
	for _, name := range []string{"$EMBEDDERS", "$REMOTE_EMBEDDERS", "$RERANKERS", "$REWRITERS"} {
		got := reach.WithModels("one of " + name + ".")
		if strings.Contains(got, "$") || len(got) <= len("one of .") || !strings.HasPrefix(got, "one of ") ||
			!strings.HasSuffix(got, ".") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := reach.WithModels("$REMOTE_EMBEDDERS and $EMBEDDERS"); strings.Contains(got, "$") || !strings.Contains(got, " and ") {
		t.Errorf("%q", got)
	}
}
