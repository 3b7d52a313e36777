package repokit

import (
	"github.com/mnem-project/mnem/internal/state"
)

var RecordBy = state.Stamp{Author: "erin", Time: 1_780_000_000_000_000, Command: []string{"retrieve"}}
