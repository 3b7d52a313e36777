package repokit

import (
	"github.com/mnem-project/mnem/internal/state"
)

// RecordBy is the stamp of recorded receipts in tests.
var RecordBy = state.Stamp{Author: "erin", Time: 1_780_000_000_000_000, Command: []string{"retrieve"}}
