package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// importanceJSON is an effective importance and what it is made of, in units of 2^-16.
type importanceJSON struct {
	Value      int64 `json:"value"`
	Importance int   `json:"importance"`
	Base       int64 `json:"base"`
	Use        int64 `json:"use"`
	Decay      int64 `json:"decay"`
	Links      int64 `json:"links"`
	Uses       int64 `json:"uses"`
	Linked     int64 `json:"linked"`
	Age        int64 `json:"age_seconds"`
	HalfLife   int   `json:"half_life_days"`
}

func jsonImportance(e *memory.Effective) *importanceJSON {
	if e == nil {
		return nil
	}
	return &importanceJSON{
		Value: e.Value, Importance: e.Importance, Base: e.Base, Use: e.Use, Decay: e.Decay,
		Links: e.Links, Uses: e.Uses, Linked: e.Linked, Age: e.Age / microsPerSecond,
		HalfLife: e.HalfLife,
	}
}

// importanceText is an effective importance for people.
func importanceText(e *memory.Effective) string {
	q := func(n int64) string { return strconv.FormatFloat(float64(n)/65536, 'f', 2, 64) }
	return fmt.Sprintf("%s = importance %d (%s) × use %s × age %s × links %s", q(e.Value), e.Importance,
		q(e.Base), q(e.Use), q(e.Decay), q(e.Links))
}

// importanceOptions returns what importance is made of beside the snapshot: the half-lives of its
// commit, and how often memories were used, where that is counted.
func (c *cli) importanceOptions(
	ctx context.Context, s *repo.Snapshot,
) (opt memory.ImportanceOptions, err error) {
	if opt.HalfLives, err = memory.HalfLivesAt(ctx, s); err != nil {
		return opt, err
	}
	opt.Accesses, err = c.accesses()
	return opt, err
}

// importantJSON is a node with its effective importance.
type importantJSON struct {
	wholeNodeJSON
	Importance *importanceJSON `json:"importance"`
	Now        string          `json:"now"`
}

// printImportant prints a node and its effective importance.
func (c *cli) printImportant(
	ctx context.Context, s *repo.Snapshot, w *wholeNode, now graph.Time,
) error {
	opt, err := c.importanceOptions(ctx, s)
	if err != nil {
		return err
	}
	e, err := memory.Importance(ctx, s, w.node.ID, now, opt)
	if err != nil {
		return err
	}
	if c.global.json {
		return c.printJSON(importantJSON{w.json(), jsonImportance(&e), now.String()})
	}
	if err := c.printf("%s\n", w.text(retrieve.Adjacency{})); err != nil {
		return err
	}
	return c.printf("%s\n%s, %s, %d days old, half-life %d days\n", importanceText(&e),
		plural(int(e.Uses), "use"), plural(int(e.Linked), "link"), max(e.Age, 0)/(86400*microsPerSecond),
		e.HalfLife)
}
