package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

const profileDoc = "A profile is a name for how answers are ranked, expanded, packed and printed: the flags of\n" +
	"'mnem retrieve' that say so, with their values. The memory keeps its profiles beside its facts,\n" +
	"in every commit: they are branched, merged, reverted and exported with it.\n\n" +
	"A request takes what its flags do not say from one profile: that of --profile, MNEM_PROFILE or\n" +
	"config retrieve.profile; else one whose types (--for-type) have all that the request asks for\n" +
	"with --type, the fewest first; else the one that 'mnem profile default' names; else the profile\n" +
	"default. What a flag says always holds, and what a profile says and does not fit it is left out:\n" +
	"rounds and --damping of ppr where --expansion says decay.\n\n" +
	"There are always default, chat, docs and code. A profile that is set under one of these names\n" +
	"takes its place, until it is removed."

func (c *cli) profileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "profile",
		GroupID: groupChange,
		Short:   "Manage named sets of retrieval parameters",
		Long:    profileDoc,
		Example: "  mnem profile list\n  mnem profile set docs --budget 4000 --for-type Document\n" +
			"  mnem retrieve 'how to deploy' --profile docs",
	}
	return c.parent(cmd, c.verb("profile list"), c.verb("profile show"), c.verb("profile set"),
		c.verb("profile unset"), c.verb("profile default"), c.verb("profile rm"), c.verb("profile restore"))
}

// profiles returns those of the revision of --at.
func (c *cli) profiles(ctx context.Context, r *repo.Repo) (*retrieve.Profiles, error) {
	s, err := c.snapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	return s.Profiles(ctx)
}
