package cli

import "github.com/mnem-project/mnem/ops"

// verbs are the verbs of package ops, each with what prints its answers for people.
func verbs() []*verb {
	return []*verb{
		bind(ops.Get, (*cli).printGet),
		bind(ops.Blame, (*cli).printBlame),
		bindAs(ops.Log, (*cli).printLog),
		bind(ops.Forget, (*cli).printMarked),
		bind(ops.Stale, (*cli).printMarked),
		bind(ops.Retire, (*cli).printMarked),
		bind(ops.Supersede, (*cli).printMarked),
		bind(ops.Contradict, (*cli).printMarked),
		bind(ops.Expire, (*cli).printMarked),
	}
}
