package cli

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

type droppedJSON struct {
	ID      string  `json:"id"`
	Reason  string  `json:"reason"`
	Tokens  int     `json:"tokens"`
	Repeats *string `json:"repeats"` // the item that a duplicate repeats
}

func jsonDropped(items []retrieve.DroppedItem) []droppedJSON {
	out := make([]droppedJSON, len(items))
	for i, d := range items {
		out[i] = droppedJSON{ID: d.ID.String(), Reason: d.Reason, Tokens: d.Tokens}
		if d.Reason == retrieve.ReasonDuplicate {
			out[i].Repeats = orNull(d.Repeats.String())
		}
	}
	return out
}

// dropCounts is how many nodes were dropped for each reason.
type dropCounts struct {
	Budget    int `json:"budget"`
	Duplicate int `json:"duplicate"`
}

func countDrops(items []retrieve.DroppedItem) (n dropCounts) {
	for _, d := range items {
		if d.Reason == retrieve.ReasonDuplicate {
			n.Duplicate++
		} else {
			n.Budget++
		}
	}
	return n
}

// droppedSummary says how many nodes were dropped, and why.
func droppedSummary(ans *retrieve.Answer) string {
	n := countDrops(ans.DroppedItems)
	var why []string
	if n.Budget > 0 {
		why = append(why, fmt.Sprintf("%d over budget", n.Budget))
	}
	if n.Duplicate > 0 {
		why = append(why, plural(n.Duplicate, "duplicate"))
	}
	text := fmt.Sprintf("%d dropped", ans.Dropped)
	if len(why) == 0 {
		return text
	}
	return text + " (" + strings.Join(why, ", ") + ")"
}

// whyDropped says why one node was dropped. items are those that it may repeat.
func whyDropped(d retrieve.DroppedItem, items []retrieve.Item) string {
	text := "dropped: " + d.Reason
	if d.Reason != retrieve.ReasonDuplicate {
		return text
	}
	return text + " of " + labelOf(d.Repeats, items)
}

// labelOf names one of the items.
func labelOf(id graph.ID, items []retrieve.Item) string {
	for i := range items {
		if items[i].ID == id {
			return firstOf(line(items[i].Key), id.String())
		}
	}
	return id.String()
}
