// Package verbs lists the verbs with how their answers are printed, and runs them for other surfaces than the
// command line.
package verbs

import (
	"context"

	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/trade"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/outlining"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/internal/verb/table"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// Verbs are the verbs of package table, each with what prints its answers for people, in the order in which other
// surfaces list them: first those with a printer of their own. Those without a command are left out.
func Verbs() []*line.Bound {
	list := append(verbsOfMemory(), verbsOfHistory()...)
	bound := map[*verb.Spec]bool{&reading.Names.Spec: true, &asking.TellBrief.Spec: true}
	for _, v := range list {
		bound[v.Spec] = true
	}
	for _, spec := range table.Table() {
		if !bound[spec] {
			list = append(list, reach.Plain(spec))
		}
	}
	return list
}

func verbsOfMemory() []*line.Bound {
	return []*line.Bound{
		// Start
		reach.Bind(upkeep.Version, answers.Versions),
		// Change the memory
		bindRemember(),
		bindIngest(),
		reach.BindAs(ingesting.Capture, answers.Captured),
		reach.Bind(editing.CommitVerb, answers.Committed),
		reach.Bind(editing.Add, answers.Stage),
		reach.Bind(editing.Rm, answers.Stage),
		reach.Bind(branching.StatusVerb, answers.Status),
		reach.Bind(branching.Reset, answers.Reset),
		reach.Bind(branching.Merge, answers.MergeAnswer),
		reach.Bind(branching.Revert, answers.Merged),
		reach.Bind(branching.CherryPick, answers.Merged),
		reach.Bind(editing.Restore, answers.Committed),
		reach.Bind(editing.Forget, answers.Marked),
		reach.Bind(editing.Mark, answers.Marked),
		bindReview(),
		reach.Bind(editing.Pin, answers.Pinned),
		reach.Bind(remembering.Consolidate, answers.Consolidate),
		reach.Bind(remembering.HalfLife, answers.HalfLives),
		reach.Bind(ingesting.Embed, answers.Embedded),
		reach.BindTable(asking.ProfileVerb, answers.ProfileRow),
		// Read the memory
		reach.BindAs(asking.Retrieve, answers.Answer),
		reach.BindAs(asking.Recall, answers.Recalled),
		reach.BindAs(branching.Show, answers.Shown),
		reach.BindAs(reading.Ls, answers.List),
		reach.Bind(remembering.Cues, answers.Cues),
		reach.Bind(outlining.MapVerb, answers.Map),
		bindLast(),
		reach.Bind(ingesting.Sources, answers.Sources),
		reach.BindAs(reading.Explore, answers.Explored),
		reach.BindAs(branching.Log, answers.Log),
		reach.BindAs(branching.Diff, answers.Diff),
		reach.Bind(branching.Blame, answers.Blame),
	}
}

// verbsOfHistory are those about its versions, sessions and store.
func verbsOfHistory() []*line.Bound {
	return []*line.Bound{
		// Branch, tag and undo
		reach.BindTable(branching.BranchVerb, answers.BranchRow),
		reach.Bind(branching.Switch, answers.Switch),
		reach.BindTable(branching.TagVerb, answers.TagRow),
		reach.Bind(branching.Undo, answers.Undone),
		reach.Bind(branching.OpLog, answers.Op),
		reach.Bind(branching.OpShow, answers.OneOp),
		reach.Bind(branching.OpRestore, answers.Undone),
		reach.Bind(branching.Watch, answers.Watched),
		// Record and replay
		reach.Bind(asking.SessionStart, answers.Session),
		reach.BindTable(asking.SessionList, answers.SessionRow),
		reach.Bind(asking.SessionLog, answers.SessionRecord),
		reach.Bind(asking.SessionAdvance, answers.Session),
		reach.Bind(asking.SessionEnd, answers.Session),
		reach.Bind(upkeep.Replay, answers.Replay),
		// Exchange
		trade.BindRedactions(),
		reach.Bind(transfer.PackSend, answers.PackSent),
		reach.Bind(transfer.Export, answers.Export),
		reach.BindAs(transfer.Import, answers.Import),
		// Care
		reach.Plain(&upkeep.StatsVerb.Spec),
		bindDoctor(),
		reach.Bind(upkeep.Fsck, answers.Fsck),
		reach.Bind(upkeep.GC, answers.GC),
		reach.Bind(upkeep.Purge, answers.Purged),
		reach.Bind(branching.Verify, answers.Verified),
	}
}

// bindLast binds the verb that tells what an agent was given, and says so if that is nothing.
func bindLast() *line.Bound {
	v := reach.Bind(asking.Last, answers.Last)
	v.Around = func(ctx context.Context, c *line.Line, _ any, run func(context.Context) error) error {
		err := run(ctx)
		if err == nil && c.Answers == 0 {
			c.Remark("nothing was given to an agent yet")
		}
		return err
	}
	return v
}

// Operations returns what remote callers may ask: the verbs that are not for this machine alone.
func Operations() (all []operation.Operation) {
	for _, v := range Verbs() {
		if !v.Spec.Local {
			all = append(all, v.Spec.Operations()...)
		}
	}
	return all
}
