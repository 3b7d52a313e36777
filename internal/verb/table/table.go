// Package table lists all verbs.
package table

import (
	"slices"

	"github.com/mnem-project/mnem/internal/verb"
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

var verbs = []*verb.Spec{
	&editing.Add.Spec,
	&branching.Blame.Spec,
	&branching.BranchVerb.Spec,
	&asking.TellBrief.Spec,
	&ingesting.Capture.Spec,
	&branching.CherryPick.Spec,
	&editing.CommitVerb.Spec,
	&remembering.HalfLife.Spec,
	&asking.ProfileVerb.Spec,
	&remembering.Consolidate.Spec,
	&branching.Diff.Spec,
	&upkeep.Doctor.Spec,
	&ingesting.Embed.Spec,
	&remembering.Cues.Spec,
	&reading.Explore.Spec,
	&transfer.Export.Spec,
	&editing.Forget.Spec,
	&upkeep.Fsck.Spec,
	&upkeep.GC.Spec,
	&transfer.Import.Spec,
	&ingesting.Ingest.Spec,
	&branching.Verify.Spec,
	&branching.Log.Spec,
	&reading.Ls.Spec,
	&outlining.MapVerb.Spec,
	&editing.Mark.Spec,
	&branching.Merge.Spec,
	&reading.Names.Spec,
	&branching.OpLog.Spec,
	&branching.OpRestore.Spec,
	&branching.OpShow.Spec,
	&branching.Watch.Spec,
	&transfer.PackRedact.Spec,
	&transfer.PackRedactions.Spec,
	&transfer.PackRefs.Spec,
	&transfer.PackSend.Spec,
	&transfer.PackTake.Spec,
	&editing.Pin.Spec,
	&upkeep.Purge.Spec,
	&asking.Recall.Spec,
	&remembering.Remember.Spec,
	&transfer.RemoteRedactions.Spec,
	&branching.Reset.Spec,
	&editing.Restore.Spec,
	&asking.Retrieve.Spec,
	&branching.Revert.Spec,
	&remembering.Review.Spec,
	&ingesting.Sources.Spec,
	&editing.Rm.Spec,
	&asking.SessionAdvance.Spec,
	&asking.SessionEnd.Spec,
	&asking.Last.Spec,
	&asking.SessionList.Spec,
	&asking.SessionLog.Spec,
	&upkeep.Replay.Spec,
	&asking.SessionRemove.Spec,
	&asking.SessionStart.Spec,
	&branching.Show.Spec,
	&upkeep.StatsVerb.Spec,
	&branching.StatusVerb.Spec,
	&branching.Switch.Spec,
	&branching.TagVerb.Spec,
	&branching.Undo.Spec,
	&upkeep.Version.Spec,
}

// Table returns every verb, by its command. The list must not be changed.
func Table() []*verb.Spec { return verbs }

// Named returns the verb of a name, nil for none.
func Named(name string) *verb.Spec {
	if i := slices.IndexFunc(verbs, func(s *verb.Spec) bool { return s.Name() == name }); i >= 0 {
		return verbs[i]
	}
	return nil
}

// Governed returns the names of the verbs that policies speak of.
func Governed() (names []string) {
	for _, s := range verbs {
		if s.Right == verb.OwnRight {
			names = append(names, s.Name())
		}
	}
	return names
}

// Recording reports whether operations of a name need no right: those of verbs that record what was read, and those
// of commands that make a repository, which has no policy yet.
func Recording(name string) bool {
	s := Named(name)
	return name == "init" || s != nil && s.Right == verb.NoRight
}
