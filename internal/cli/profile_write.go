package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// profileWrite are the flags of commands that change profiles.
type profileWrite struct{ message, expect string }

func (c *cli) profileFlags(cmd *cobra.Command, f *profileWrite) {
	c.writeFlags(cmd)
	c.branchFlag(cmd)
	c.signFlags(cmd)
	cmd.Flags().StringVarP(&f.message, "message", "m", "", "what the change is about")
	cmd.Flags().StringVar(&f.expect, "expect", "", "the `CID` of the commit that the branch must be "+
		"at, or \"none\" for a branch without one; else exit code 5")
}

// writeProfiles makes one commit of a change of profiles, and tells what changed.
func (c *cli) writeProfiles(
	cmd *cobra.Command, f profileWrite, message string,
	change func(context.Context, *repo.Repo, *retrieve.Profiles) error,
) error {
	by, err := c.signedStamp(cmd)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Branch: c.branch(), Message: firstOf(f.message, message)}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
		return err
	}
	return c.withRepo(cmd, true, func(ctx context.Context, r *repo.Repo) error {
		res, err := r.SetProfiles(ctx, func(p *retrieve.Profiles) error {
			return change(ctx, r, p)
		}, opt)
		if err != nil {
			return ops.ProfileHint(err)
		}
		out, err := ops.ProfilesChangedOf(ctx, r, res)
		switch {
		case err != nil:
			return err
		case c.global.json:
			return c.printJSON(out)
		}
		return c.printProfilesChanged(out)
	})
}

func (c *cli) profileSet() *cobra.Command {
	var f profileWrite
	var forTypes []string
	opt := &retrieveOptions{}
	cmd := &cobra.Command{
		Use:   "set NAME [flags]",
		Short: "Make a profile, or change what it says",
		Long: "Set parameters of a profile by the flags that 'mnem retrieve' has for them; what is not given\n" +
			"stays. A new profile of a built-in name begins with what that one says. A parameter that is\n" +
			"set to nothing, as with --dedup=false, is taken out. Each change is one commit.\n\n" +
			"What goes only with another flag, as --damping with --expansion ppr, is refused where the\n" +
			"profile does not have that too.",
		Example: "  mnem profile set docs --budget 4000 --show content --for-type Document\n" +
			"  mnem profile set team --edge-weight owns=2 --edge-weight mentions=0.25\n" +
			"  mnem profile set far --expansion ppr --expand 30 --damping 0.9\n" +
			"  mnem profile set default --limit 20 -m 'longer answers'",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeArg(completeProfiles),
	}
	c.requestFlags(cmd, opt)
	hideOwn(cmd.Flags())
	cmd.Flags().StringArrayVar(&forTypes, "for-type", nil,
		"choose the profile for requests of this `TYPE` (repeatable)")
	c.profileFlags(cmd, &f)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		set, unset, err := c.profileChange(cmd, opt)
		if err != nil {
			return err
		}
		name := args[0]
		return c.writeProfiles(cmd, f, "set profile "+name,
			func(_ context.Context, _ *repo.Repo, p *retrieve.Profiles) error {
				profile, _, _ := p.Get(name)
				profile.Params = slices.DeleteFunc(profile.Params, func(e ipld.Entry) bool {
					_, again := ipld.FindEntry(set, e.Key)
					return again || slices.Contains(unset, e.Key)
				})
				profile.Params = append(profile.Params, set...)
				ipld.SortEntries(profile.Params)
				if forTypes != nil {
					profile.Types = slices.Compact(slices.Sorted(slices.Values(forTypes)))
				}
				p.Named[name] = profile
				return nil
			})
	})
}

// profileChange returns what the flags of a request change of a profile.
func (c *cli) profileChange(
	cmd *cobra.Command, opt *retrieveOptions,
) (set []ipld.Entry, unset []string, err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Hidden && err == nil { // by hideOwn
			err = usagef("no profile can hold --%s: %s", flag.Name, whyOwn(flag.Name))
		}
	})
	if err != nil {
		return nil, nil, err
	}
	req, err := c.request(cmd, opt)
	if err != nil {
		return nil, nil, err
	}
	if name := req.Tokenizer; name != "" && name != retrieve.Estimate && counters()[name] == nil {
		return nil, nil, usagef("--tokenizer: %q is not estimate, cl100k or o200k", name)
	}
	return req.Explicitly(givenParams(cmd)...).ProfileChange()
}
