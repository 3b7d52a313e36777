package cli

import (
	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
)

// commitStamp says who commits, and signs what will be kept.
func (c *cli) commitStamp(cmd *cobra.Command, dryRun bool) (repo.Stamp, error) {
	if _, err := c.dir(); err != nil { // who writes where there is no repository has no other worry
		return repo.Stamp{}, err
	}
	if dryRun {
		return c.stamp(cmd)
	}
	return c.signedStamp(cmd)
}

// count shows the number of changes read.
func (p *progress) count(changes repo.Changes) repo.Changes {
	return func(yield func(graph.Change, error) bool) {
		n := 0
		for change, err := range changes {
			if !yield(change, err) {
				return
			}
			n++
			p.set("changes read:", n, 0)
		}
		p.say("writing")
	}
}
