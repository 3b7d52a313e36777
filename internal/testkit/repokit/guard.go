package repokit

import (
	"strings"

	"github.com/mnem-project/mnem/internal/state"
)

func Read(text string) state.Changes {
	return state.ReadChanges(strings.NewReader(text), "test.jsonl")
}
