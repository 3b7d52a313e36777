package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/retrieve"
)

// expansionOptions are the flags of retrieve about how nodes raise those linked to them.
type expansionOptions struct {
	expand, maxExpand int
	expansion         string
	decay, damping    float64
}

func (opt *expansionOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&opt.expansion, "expansion", string(retrieve.Lend),
		"how nodes raise those linked to them: `WAY` is lend, decay or ppr")
	f.IntVar(&opt.expand, "expand", retrieve.DefaultExpand, fmt.Sprintf(
		"expand in `N` rounds, 0 for none, at most %d; with ppr %d rounds, at most %d",
		retrieve.MaxExpand, retrieve.DefaultRounds, retrieve.MaxRounds))
	f.IntVar(&opt.maxExpand, "max-expand", retrieve.DefaultMaxExpand,
		"at most `N` nodes join that only expansion finds")
	f.Float64Var(&opt.decay, "decay", 0.7,
		"with --expansion decay: the `SHARE` that each hop keeps, above 0 to 1")
	f.Float64Var(&opt.damping, "damping", 0.85,
		"with --expansion ppr: the `SHARE` that moves on, between 0 and 1")
}

// set fills in what the flags ask for. The others stay at the defaults of the expansion, which a
// line of a batch may choose.
func (opt *expansionOptions) set(cmd *cobra.Command, r *retrieve.Request) error {
	f := cmd.Flags()
	if opt.expansion == "" {
		return usagef("--expansion: want lend, decay or ppr")
	}
	if f.Changed("expansion") {
		r.Expansion = retrieve.Expansion(opt.expansion)
	}
	if f.Changed("expand") {
		r.Expand = &opt.expand
	}
	if f.Changed("max-expand") {
		r.MaxExpand = &opt.maxExpand
	}
	for _, share := range []struct {
		name  string
		value float64
		to    **int
	}{{"decay", opt.decay, &r.Decay}, {"damping", opt.damping, &r.Damping}} {
		if !f.Changed(share.name) {
			continue
		}
		units, ok := retrieve.Lambda(share.value)
		if !ok {
			return &retrieve.RequestError{
				Param: share.name, Reason: fmt.Sprintf("%v is outside 0 to 1", share.value),
			}
		}
		*share.to = &units
	}
	return nil
}
