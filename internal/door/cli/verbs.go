package cli

import (
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/outlining"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// verbs are the verbs of package table, each with what prints its answers for people, in the order in which other
// surfaces list them.
func verbs() []*bound { return append(verbsOfMemory(), verbsOfHistory()...) }

// verbsOfMemory are the verbs that change or read the nodes of a memory.
func verbsOfMemory() []*bound {
	return []*bound{
		// Start
		bind(upkeep.Version, (*show.Console).Versions),
		// Change the memory
		bind(remembering.Remember, (*show.Console).Remembered),
		bindIngest(),
		bindAs(ingesting.Capture, (*show.Console).Captured),
		bind(editing.CommitVerb, (*show.Console).Committed),
		bind(editing.Add, (*show.Console).Stage),
		bind(editing.Set, (*show.Console).Stage),
		bind(editing.Rm, (*show.Console).Stage),
		bind(editing.Link, (*show.Console).Stage),
		bind(editing.Unlink, (*show.Console).Stage),
		bind(branching.StatusVerb, (*show.Console).Status),
		bind(branching.Reset, (*show.Console).Reset),
		bind(branching.Merge, (*show.Console).MergeAnswer),
		bind(branching.Revert, (*show.Console).Merged),
		bind(branching.CherryPick, (*show.Console).Merged),
		bind(editing.Restore, (*show.Console).Committed),
		bind(editing.Forget, (*show.Console).Marked),
		bind(editing.Supersede, (*show.Console).Marked),
		bind(editing.Contradict, (*show.Console).Marked),
		bind(editing.Stale, (*show.Console).Marked),
		bind(editing.Retire, (*show.Console).Marked),
		bind(editing.Expire, (*show.Console).Marked),
		bindReview(),
		bind(editing.Pin, (*show.Console).Pinned),
		bind(editing.Unpin, (*show.Console).Pinned),
		bind(remembering.Consolidate, (*show.Console).Consolidate),
		bind(remembering.HalfLife, (*show.Console).HalfLives),
		bind(outlining.DigestWrite, (*show.Console).DigestWritten),
		bind(ingesting.Embed, (*show.Console).Embedded),
		bindTable(asking.ProfileList, (*show.Console).ProfileRow),
		bind(asking.ProfileShow, (*show.Console).Profile),
		bind(asking.ProfileSet, (*show.Console).ProfilesChanged),
		bind(asking.ProfileUnset, (*show.Console).ProfilesChanged),
		bind(asking.ProfileDefault, (*show.Console).ProfilesChanged),
		bind(asking.ProfileRemove, (*show.Console).ProfilesChanged),
		bind(asking.ProfileRestore, (*show.Console).ProfilesChanged),
		// Read the memory
		bindAs(asking.Retrieve, (*show.Console).Answer),
		bindAs(asking.Recall, (*show.Console).Recalled),
		bind(asking.Check, (*show.Console).Check),
		bind(reading.Get, (*show.Console).Get),
		bindAs(branching.Show, (*show.Console).Shown),
		bind(reading.Ls, (*show.Console).List),
		bind(upkeep.SchemaVerb, (*show.Console).Schema),
		bind(remembering.Cues, (*show.Console).Cues),
		bind(reading.NeighborsOf, (*show.Console).Neighbors),
		bindAs(reading.Path, (*show.Console).Path),
		bind(reading.Communities, (*show.Console).Communities),
		bind(outlining.MapVerb, (*show.Console).Map),
		bind(outlining.DigestVerb, (*show.Console).Digest),
		bind(outlining.ResolveVerb, (*show.Console).Resolved),
		bindLast(),
		bind(ingesting.Sources, (*show.Console).Sources),
		bind(ingesting.SourcesDiffVerb, (*show.Console).SourcesDiff),
		bind(ingesting.SourcesRefresh, (*show.Console).Refreshed),
		bind(reading.Explore, (*show.Console).Explored),
		bind(reading.RelatedTo, (*show.Console).Related),
		bind(reading.Suggest, (*show.Console).Suggested),
		bindAs(branching.Log, (*show.Console).Log),
		bindAs(branching.Diff, (*show.Console).Diff),
		bind(branching.Blame, (*show.Console).Blame),
	}
}

// verbsOfHistory are those about its versions, sessions and store.
func verbsOfHistory() []*bound {
	return []*bound{
		// Branch, tag and undo
		bindTable(branching.BranchVerb, (*show.Console).BranchRow),
		bind(branching.Switch, (*show.Console).Switch),
		bindTable(branching.TagVerb, (*show.Console).TagRow),
		bind(branching.Undo, (*show.Console).Undone),
		bind(branching.Redo, (*show.Console).Undone),
		bind(branching.OpLog, (*show.Console).Op),
		bind(branching.OpShow, (*show.Console).OneOp),
		bind(branching.OpDiff, (*show.Console).OpDiff),
		bind(branching.OpRestore, (*show.Console).Undone),
		bind(branching.Watch, (*show.Console).Watched),
		// Record and replay
		bind(asking.SessionStart, (*show.Console).Session),
		bindTable(asking.SessionList, (*show.Console).SessionRow),
		bind(asking.SessionLog, (*show.Console).SessionRecord),
		bind(asking.SessionAdvance, (*show.Console).Session),
		bind(asking.SessionEnd, (*show.Console).Session),
		bind(asking.SessionRemove, (*show.Console).SessionRemoved),
		bind(upkeep.Replay, (*show.Console).Replay),
		// Exchange
		bindRedactions(),
		bind(transfer.PackRefs, (*show.Console).PackRefs),
		bind(transfer.PackSend, (*show.Console).PackSent),
		bind(transfer.PackTake, (*show.Console).PackTaken),
		bind(transfer.PackRedactions, (*show.Console).PackRedactions),
		bind(transfer.PackRedact, (*show.Console).PackRedacted),
		bind(transfer.Export, (*show.Console).Export),
		bindAs(transfer.Import, (*show.Console).Import),
		// Care
		bind(upkeep.StatsVerb, (*show.Console).Stats),
		bind(upkeep.IndexStatus, (*show.Console).Index),
		bind(upkeep.IndexRebuild, (*show.Console).Index),
		bind(outlining.Distill, (*show.Console).Distilled),
		bindDoctor(),
		bind(upkeep.Fsck, (*show.Console).Fsck),
		bind(upkeep.GC, (*show.Console).GC),
		bind(upkeep.Purge, (*show.Console).Purged),
		bind(branching.Verify, (*show.Console).Verified),
		bind(branching.CatFile, (*show.Console).Block),
	}
}
