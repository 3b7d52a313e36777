package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/retrieve"
)

func (c *cli) recallCommand() *cobra.Command {
	opt := &retrieveOptions{}
	cmd := &cobra.Command{
		Use:     "recall [QUERY…] [flags]",
		GroupID: groupRead,
		Short:   "Answer a question by what it asks for: why, when, who or what",
		Long: "Find what answers a question as 'mnem retrieve' does, and rank it anew by what the question asks\n" +
			"for. Its words tell the intent: why for a reason, when for a time, entity for who, what, which or\n" +
			"where, and general for anything else, in English, Chinese, German, French, Spanish and seven\n" +
			"more languages; --intent overrides them.\n\n" +
			"From the best nodes a beam search follows edges, those of the intent the furthest: causes, enables\n" +
			"and prevents for why; follows and near for when; mentions and about for entity; similar the\n" +
			"least; all others alike. What it reaches comes up or joins, the more the intent asks for links.\n" +
			"So do nodes that have the names, numbers and identifiers of the question, and those whose\n" +
			"vectors are close. For why, causes come before their effects where both fit the question on\n" +
			"their own.\n\n" +
			"Each item has four signals in units of 2^-16: keyword, its score before, as a share of the best;\n" +
			"entity, the share of the names that it has; similarity, of its vectors; and graph, what links\n" +
			"bring it. Where nothing has a signal its weight goes to the others. --explain shows the weights\n" +
			"and the way of each item. Where no item has the telling words of the question a warning says\n" +
			"that nothing relevant is known. Nodes that are nothing but the name of an entity or a tag are no\n" +
			"items, unless --type asks for them.\n\n" +
			"Filters, budget, sessions, receipts, profiles and batches are those of 'mnem retrieve', whose\n" +
			"help says what the other flags do; 'mnem retrieve --intent auto' is the same.",
		Example: "  mnem recall why did the deploy fail\n" +
			"  mnem recall 'when did Alice join?' --limit 5\n" +
			"  mnem recall '谁负责计费服务？'\n" +
			"  mnem recall 'deploy failure' --intent why --explain\n" +
			"  mnem recall 'who owns billing' --session review --json",
	}
	c.answerFlags(cmd, opt)
	cmd.Flags().Lookup("intent").DefValue = string(retrieve.IntentAuto)
	cmd.Flags().Lookup("intent").Usage = "what the query asks for: `INTENT` is auto, why, when, entity or general"
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if f := cmd.Flags(); !f.Changed("intent") {
			if err := f.Set("intent", string(retrieve.IntentAuto)); err != nil {
				return err
			}
		}
		return c.retrieve(cmd, opt, args)
	})
}

// signalsJSON are what a recall ranks by, in units of 2^-16.
type signalsJSON struct {
	Keyword    int64 `json:"keyword"`
	Entity     int64 `json:"entity"`
	Similarity int64 `json:"similarity"`
	Graph      int64 `json:"graph"`
}

func jsonSignals(r *retrieve.Recalled) *signalsJSON {
	if r == nil {
		return nil
	}
	return new(signalsJSON(r.Signals))
}

// beamWayJSON is the way of the beam search to an item.
type beamWayJSON struct {
	Seed string        `json:"seed"`
	Hops int           `json:"hops"`
	Path []wayStepJSON `json:"path"`
}

func jsonBeamWay(r *retrieve.Recalled) *beamWayJSON {
	if r == nil || r.Way == nil {
		return nil
	}
	return &beamWayJSON{r.Way.Seed.String(), r.Way.Hops, jsonPath(r.Way)}
}

// recollectionJSON is how a recall went.
type recollectionJSON struct {
	Weights signalsJSON `json:"weights"`
	Width   int         `json:"width"`
	Depth   int         `json:"depth"`
	Visited int         `json:"visited"`
	Limit   int         `json:"visited_limit"`
}

func jsonRecollection(r *retrieve.Recollection) recollectionJSON {
	return recollectionJSON{signalsJSON(r.Weights), r.Width, r.Depth, r.Visited, r.Limit}
}

// printRecollection says how a recall went, nil for none.
func (a *answerer) printRecollection(r *retrieve.Recollection) error {
	if r == nil {
		return nil
	}
	return a.c.printf("intent %s: weights %s; beam of width %d and depth %d, %d of at most %d nodes\n",
		r.Intent, signalsText(r.Weights), r.Width, r.Depth, r.Visited, r.Limit)
}

func signalsText(s retrieve.Signals) string {
	list := []string{
		fmt.Sprintf("keyword %s", shareText(s.Keyword)), fmt.Sprintf("entity %s", shareText(s.Entity)),
		fmt.Sprintf("similarity %s", shareText(s.Similarity)), fmt.Sprintf("graph %s", shareText(s.Graph)),
	}
	return strings.Join(list, ", ")
}

// recallText tells the signals of an item and the way of the beam search to it, nothing where it was
// not recalled.
func (a *answerer) recallText(it *retrieve.Item) []string {
	if it.Recall == nil {
		return nil
	}
	out := "signals " + signalsText(it.Recall.Signals)
	if it.Recall.Way != nil {
		out += " (" + a.wayText(it.Recall.Way) + ")"
	}
	return []string{out}
}
