package verbs

import (
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/door/trade"
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

// Verbs are the verbs of package table, each with what prints its answers for people, in the order in which other
// surfaces list them.
func Verbs() []*line.Bound { return append(verbsOfMemory(), verbsOfHistory()...) }

// verbsOfMemory are the verbs that change or read the nodes of a memory.
func verbsOfMemory() []*line.Bound {
	return []*line.Bound{
		// Start
		reach.Bind(upkeep.Version, (*show.Console).Versions),
		// Change the memory
		reach.Bind(remembering.Remember, (*show.Console).Remembered),
		bindIngest(),
		reach.BindAs(ingesting.Capture, (*show.Console).Captured),
		reach.Bind(editing.CommitVerb, (*show.Console).Committed),
		reach.Bind(editing.Add, (*show.Console).Stage),
		reach.Bind(editing.Set, (*show.Console).Stage),
		reach.Bind(editing.Rm, (*show.Console).Stage),
		reach.Bind(editing.Link, (*show.Console).Stage),
		reach.Bind(editing.Unlink, (*show.Console).Stage),
		reach.Bind(branching.StatusVerb, (*show.Console).Status),
		reach.Bind(branching.Reset, (*show.Console).Reset),
		reach.Bind(branching.Merge, (*show.Console).MergeAnswer),
		reach.Bind(branching.Revert, (*show.Console).Merged),
		reach.Bind(branching.CherryPick, (*show.Console).Merged),
		reach.Bind(editing.Restore, (*show.Console).Committed),
		reach.Bind(editing.Forget, (*show.Console).Marked),
		reach.Bind(editing.Supersede, (*show.Console).Marked),
		reach.Bind(editing.Contradict, (*show.Console).Marked),
		reach.Bind(editing.Stale, (*show.Console).Marked),
		reach.Bind(editing.Retire, (*show.Console).Marked),
		reach.Bind(editing.Expire, (*show.Console).Marked),
		bindReview(),
		reach.Bind(editing.Pin, (*show.Console).Pinned),
		reach.Bind(editing.Unpin, (*show.Console).Pinned),
		reach.Bind(remembering.Consolidate, (*show.Console).Consolidate),
		reach.Bind(remembering.HalfLife, (*show.Console).HalfLives),
		reach.Bind(outlining.DigestWrite, (*show.Console).DigestWritten),
		reach.Bind(ingesting.Embed, (*show.Console).Embedded),
		reach.BindTable(asking.ProfileList, (*show.Console).ProfileRow),
		reach.Bind(asking.ProfileShow, (*show.Console).Profile),
		reach.Bind(asking.ProfileSet, (*show.Console).ProfilesChanged),
		reach.Bind(asking.ProfileUnset, (*show.Console).ProfilesChanged),
		reach.Bind(asking.ProfileDefault, (*show.Console).ProfilesChanged),
		reach.Bind(asking.ProfileRemove, (*show.Console).ProfilesChanged),
		reach.Bind(asking.ProfileRestore, (*show.Console).ProfilesChanged),
		// Read the memory
		reach.BindAs(asking.Retrieve, (*show.Console).Answer),
		reach.BindAs(asking.Recall, (*show.Console).Recalled),
		reach.Bind(asking.Check, (*show.Console).Check),
		reach.Bind(reading.Get, (*show.Console).Get),
		reach.BindAs(branching.Show, (*show.Console).Shown),
		reach.Bind(reading.Ls, (*show.Console).List),
		reach.Bind(upkeep.SchemaVerb, (*show.Console).Schema),
		reach.Bind(remembering.Cues, (*show.Console).Cues),
		reach.Bind(reading.NeighborsOf, (*show.Console).Neighbors),
		reach.BindAs(reading.Path, (*show.Console).Path),
		reach.Bind(reading.Communities, (*show.Console).Communities),
		reach.Bind(outlining.MapVerb, (*show.Console).Map),
		reach.Bind(outlining.DigestVerb, (*show.Console).Digest),
		reach.Bind(outlining.ResolveVerb, (*show.Console).Resolved),
		bindLast(),
		reach.Bind(ingesting.Sources, (*show.Console).Sources),
		reach.Bind(ingesting.SourcesDiffVerb, (*show.Console).SourcesDiff),
		reach.Bind(ingesting.SourcesRefresh, (*show.Console).Refreshed),
		reach.Bind(reading.Explore, (*show.Console).Explored),
		reach.Bind(reading.RelatedTo, (*show.Console).Related),
		reach.Bind(reading.Suggest, (*show.Console).Suggested),
		reach.BindAs(branching.Log, (*show.Console).Log),
		reach.BindAs(branching.Diff, (*show.Console).Diff),
		reach.Bind(branching.Blame, (*show.Console).Blame),
	}
}

// verbsOfHistory are those about its versions, sessions and store.
func verbsOfHistory() []*line.Bound {
	return []*line.Bound{
		// Branch, tag and undo
		reach.BindTable(branching.BranchVerb, (*show.Console).BranchRow),
		reach.Bind(branching.Switch, (*show.Console).Switch),
		reach.BindTable(branching.TagVerb, (*show.Console).TagRow),
		reach.Bind(branching.Undo, (*show.Console).Undone),
		reach.Bind(branching.Redo, (*show.Console).Undone),
		reach.Bind(branching.OpLog, (*show.Console).Op),
		reach.Bind(branching.OpShow, (*show.Console).OneOp),
		reach.Bind(branching.OpDiff, (*show.Console).OpDiff),
		reach.Bind(branching.OpRestore, (*show.Console).Undone),
		reach.Bind(branching.Watch, (*show.Console).Watched),
		// Record and replay
		reach.Bind(asking.SessionStart, (*show.Console).Session),
		reach.BindTable(asking.SessionList, (*show.Console).SessionRow),
		reach.Bind(asking.SessionLog, (*show.Console).SessionRecord),
		reach.Bind(asking.SessionAdvance, (*show.Console).Session),
		reach.Bind(asking.SessionEnd, (*show.Console).Session),
		reach.Bind(asking.SessionRemove, (*show.Console).SessionRemoved),
		reach.Bind(upkeep.Replay, (*show.Console).Replay),
		// Exchange
		trade.BindRedactions(),
		reach.Bind(transfer.PackRefs, (*show.Console).PackRefs),
		reach.Bind(transfer.PackSend, (*show.Console).PackSent),
		reach.Bind(transfer.PackTake, (*show.Console).PackTaken),
		reach.Bind(transfer.PackRedactions, (*show.Console).PackRedactions),
		reach.Bind(transfer.PackRedact, (*show.Console).PackRedacted),
		reach.Bind(transfer.Export, (*show.Console).Export),
		reach.BindAs(transfer.Import, (*show.Console).Import),
		// Care
		reach.Bind(upkeep.StatsVerb, (*show.Console).Stats),
		reach.Bind(upkeep.IndexStatus, (*show.Console).Index),
		reach.Bind(upkeep.IndexRebuild, (*show.Console).Index),
		reach.Bind(outlining.Distill, (*show.Console).Distilled),
		bindDoctor(),
		reach.Bind(upkeep.Fsck, (*show.Console).Fsck),
		reach.Bind(upkeep.GC, (*show.Console).GC),
		reach.Bind(upkeep.Purge, (*show.Console).Purged),
		reach.Bind(branching.Verify, (*show.Console).Verified),
		reach.Bind(branching.CatFile, (*show.Console).Block),
	}
}
