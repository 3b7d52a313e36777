package line

import (
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

// Running is a verb that runs: here, or where the repository is open.
type Running struct {
	*verb.Job              // the run that it is at
	Top       any          // the request that was asked for
	Typed     bool         // whether emit is given answers, and not JSON printed as it comes
	Unshare   func() error // ends the sharing of the repository with other processes, nil if it is not shared
	Stamp     state.Stamp  // of a verb that writes, once it is made

	Rest verb.Resumer // the request of a verb without an end, nil of others
	Over bool         // whether no more answers are wanted
}
