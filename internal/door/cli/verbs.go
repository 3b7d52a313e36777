package cli

import (
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb/ops"
)

// verbs are the verbs of package ops, each with what prints its answers for people, in the order in which other
// surfaces list them.
func verbs() []*bound { return append(verbsOfMemory(), verbsOfHistory()...) }

// verbsOfMemory are the verbs that change or read the nodes of a memory.
func verbsOfMemory() []*bound {
	return []*bound{
		// Start
		bind(ops.Version, (*show.Console).Versions),
		// Change the memory
		bind(ops.Remember, (*show.Console).Remembered),
		bindIngest(),
		bindAs(ops.Capture, (*show.Console).Captured),
		bind(ops.CommitVerb, (*show.Console).Committed),
		bind(ops.Add, (*show.Console).Stage),
		bind(ops.Set, (*show.Console).Stage),
		bind(ops.Rm, (*show.Console).Stage),
		bind(ops.Link, (*show.Console).Stage),
		bind(ops.Unlink, (*show.Console).Stage),
		bind(ops.StatusVerb, (*show.Console).Status),
		bind(ops.Reset, (*show.Console).Reset),
		bind(ops.Merge, (*show.Console).MergeAnswer),
		bind(ops.Revert, (*show.Console).Merged),
		bind(ops.CherryPick, (*show.Console).Merged),
		bind(ops.Restore, (*show.Console).Committed),
		bind(ops.Forget, (*show.Console).Marked),
		bind(ops.Supersede, (*show.Console).Marked),
		bind(ops.Contradict, (*show.Console).Marked),
		bind(ops.Stale, (*show.Console).Marked),
		bind(ops.Retire, (*show.Console).Marked),
		bind(ops.Expire, (*show.Console).Marked),
		bindReview(),
		bind(ops.Pin, (*show.Console).Pinned),
		bind(ops.Unpin, (*show.Console).Pinned),
		bind(ops.Consolidate, (*show.Console).Consolidate),
		bind(ops.HalfLife, (*show.Console).HalfLives),
		bind(ops.DigestWrite, (*show.Console).DigestWritten),
		bind(ops.Embed, (*show.Console).Embedded),
		bindTable(ops.ProfileList, (*show.Console).ProfileRow),
		bind(ops.ProfileShow, (*show.Console).Profile),
		bind(ops.ProfileSet, (*show.Console).ProfilesChanged),
		bind(ops.ProfileUnset, (*show.Console).ProfilesChanged),
		bind(ops.ProfileDefault, (*show.Console).ProfilesChanged),
		bind(ops.ProfileRemove, (*show.Console).ProfilesChanged),
		bind(ops.ProfileRestore, (*show.Console).ProfilesChanged),
		// Read the memory
		bindAs(ops.Retrieve, (*show.Console).Answer),
		bindAs(ops.Recall, (*show.Console).Recalled),
		bind(ops.Check, (*show.Console).Check),
		bind(ops.Get, (*show.Console).Get),
		bindAs(ops.Show, (*show.Console).Shown),
		bind(ops.Ls, (*show.Console).List),
		bind(ops.SchemaVerb, (*show.Console).Schema),
		bind(ops.Cues, (*show.Console).Cues),
		bind(ops.NeighborsOf, (*show.Console).Neighbors),
		bindAs(ops.Path, (*show.Console).Path),
		bind(ops.Communities, (*show.Console).Communities),
		bind(ops.MapVerb, (*show.Console).Map),
		bind(ops.DigestVerb, (*show.Console).Digest),
		bind(ops.ResolveVerb, (*show.Console).Resolved),
		bindLast(),
		bind(ops.Sources, (*show.Console).Sources),
		bind(ops.SourcesDiffVerb, (*show.Console).SourcesDiff),
		bind(ops.SourcesRefresh, (*show.Console).Refreshed),
		bind(ops.Explore, (*show.Console).Explored),
		bind(ops.RelatedTo, (*show.Console).Related),
		bind(ops.Suggest, (*show.Console).Suggested),
		bindAs(ops.Log, (*show.Console).Log),
		bindAs(ops.Diff, (*show.Console).Diff),
		bind(ops.Blame, (*show.Console).Blame),
	}
}

// verbsOfHistory are those about its versions, sessions and store.
func verbsOfHistory() []*bound {
	return []*bound{
		// Branch, tag and undo
		bindTable(ops.BranchVerb, (*show.Console).BranchRow),
		bind(ops.Switch, (*show.Console).Switch),
		bindTable(ops.TagVerb, (*show.Console).TagRow),
		bind(ops.Undo, (*show.Console).Undone),
		bind(ops.Redo, (*show.Console).Undone),
		bind(ops.OpLog, (*show.Console).Op),
		bind(ops.OpShow, (*show.Console).OneOp),
		bind(ops.OpDiff, (*show.Console).OpDiff),
		bind(ops.OpRestore, (*show.Console).Undone),
		bind(ops.Watch, (*show.Console).Watched),
		// Record and replay
		bind(ops.SessionStart, (*show.Console).Session),
		bindTable(ops.SessionList, (*show.Console).SessionRow),
		bind(ops.SessionLog, (*show.Console).SessionRecord),
		bind(ops.SessionAdvance, (*show.Console).Session),
		bind(ops.SessionEnd, (*show.Console).Session),
		bind(ops.SessionRemove, (*show.Console).SessionRemoved),
		bind(ops.Replay, (*show.Console).Replay),
		// Exchange
		bindRedactions(),
		bind(ops.PackRefs, (*show.Console).PackRefs),
		bind(ops.PackSend, (*show.Console).PackSent),
		bind(ops.PackTake, (*show.Console).PackTaken),
		bind(ops.PackRedactions, (*show.Console).PackRedactions),
		bind(ops.PackRedact, (*show.Console).PackRedacted),
		bind(ops.Export, (*show.Console).Export),
		bindAs(ops.Import, (*show.Console).Import),
		// Care
		bind(ops.StatsVerb, (*show.Console).Stats),
		bind(ops.IndexStatus, (*show.Console).Index),
		bind(ops.IndexRebuild, (*show.Console).Index),
		bind(ops.Distill, (*show.Console).Distilled),
		bindDoctor(),
		bind(ops.Fsck, (*show.Console).Fsck),
		bind(ops.GC, (*show.Console).GC),
		bind(ops.Purge, (*show.Console).Purged),
		bind(ops.Verify, (*show.Console).Verified),
		bind(ops.CatFile, (*show.Console).Block),
	}
}
