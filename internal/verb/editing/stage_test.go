package editing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/state"
)

// TestBulkMatchesHelp holds the help to the number.
func TestBulkMatchesHelp(t *testing.T) {
	for _, f := range CommitVerb.Fields() {
		if f.Name == "strict" && !strings.Contains(f.Doc, fmt.Sprintf(" %d changes", state.BulkChanges)) {
			t.Errorf("%q does not say %d", f.Doc, state.BulkChanges)
		}
	}
}
