package cli

import (
	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/tokens"
)

// trimOptions are the flags of retrieve that say how much of an item is printed, and how that is
// counted.
type trimOptions struct {
	pack, tokenizer string
	passageTokens   int
}

func (opt *trimOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&opt.pack, "pack", string(retrieve.PackWhole),
		"print `TEXTS` whole, or the passages of summary and content that fit the query best")
	f.IntVar(&opt.passageTokens, "passage-tokens", retrieve.DefaultPassageTokens,
		"with --pack passages: at most `N` tokens of each text")
	f.StringVar(&opt.tokenizer, "tokenizer", retrieve.Estimate,
		"count tokens by `NAME`: estimate, cl100k or o200k")
}

// set fills in what the flags ask for.
func (opt *trimOptions) set(cmd *cobra.Command, r *retrieve.Request) {
	r.Pack, r.Tokenizer = retrieve.Packing(opt.pack), opt.tokenizer
	if cmd.Flags().Changed("passage-tokens") {
		r.PassageTokens = &opt.passageTokens
	}
}

// counters are the token counters that requests may name. Nothing is loaded until one is used.
func counters() retrieve.Counters {
	out := retrieve.Counters{}
	for name, count := range tokens.Counters() {
		out[name] = count
	}
	return out
}
