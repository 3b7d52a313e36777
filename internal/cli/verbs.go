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
		bind(ops.OpLog, (*cli).printOp),
		bind(ops.OpShow, (*cli).printOneOp),
		bind(ops.OpDiff, (*cli).printOpDiff),
		bind(ops.OpRestore, (*cli).printUndone),
		bind(ops.Undo, (*cli).printUndone),
		bind(ops.Redo, (*cli).printUndone),
		bind(ops.SessionStart, (*cli).printSession),
		bindTable(ops.SessionList, (*cli).sessionRow),
		bind(ops.SessionLog, (*cli).printSessionRecord),
		bind(ops.SessionAdvance, (*cli).printSession),
		bind(ops.SessionEnd, (*cli).printSession),
		bind(ops.SessionRemove, (*cli).printSessionRemoved),
		bindTable(ops.BranchVerb, (*cli).branchRow),
		bindTable(ops.TagVerb, (*cli).tagRow),
		bind(ops.Switch, (*cli).printSwitch),
		bind(ops.Reset, (*cli).printReset),
		bind(ops.NeighborsOf, (*cli).printNeighbors),
		bindAs(ops.Path, (*cli).printPath),
		bind(ops.Explore, (*cli).printExplored),
		bind(ops.Suggest, (*cli).printSuggested),
		bind(ops.RelatedTo, (*cli).printRelated),
		bind(ops.Communities, (*cli).printCommunities),
		bind(ops.Replay, (*cli).printReplay),
		bind(ops.IndexStatus, (*cli).printIndex),
		bind(ops.IndexRebuild, (*cli).printIndex),
	}
}
