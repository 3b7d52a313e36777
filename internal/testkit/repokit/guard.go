package repokit

import (
	"strings"

	"github.com/mnem-project/mnem/internal/state"
)

// Read returns the changes of a text of change lines, as of a file test.jsonl.
func Read(text string) state.Changes {
	return state.ReadChanges(strings.NewReader(text), "test.jsonl")
}
