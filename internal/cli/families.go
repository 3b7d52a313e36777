package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// family is a command that only holds verbs: those whose names begin with its own.
type family struct {
	use, group, short, long, example string
}

// families are the commands that only hold verbs.
var families = []family{
	{
		use:   "profile",
		group: groupChange,
		short: "Manage named sets of retrieval parameters",
		long: "A profile is a name for how answers are ranked, expanded, packed and printed: the flags of\n" +
			"'mnem retrieve' that say so, with their values. The memory keeps its profiles beside its facts,\n" +
			"in every commit: they are branched, merged, reverted and exported with it.\n\n" +
			"A request takes what its flags do not say from one profile: that of --profile, MNEM_PROFILE or\n" +
			"config retrieve.profile; else one whose types (--for-type) have all that the request asks for\n" +
			"with --type, the fewest first; else the one that 'mnem profile default' names; else the profile\n" +
			"default. What a flag says always holds, and what a profile says and does not fit it is left out:\n" +
			"rounds and --damping of ppr where --expansion says decay.\n\n" +
			"There are always default, chat, docs and code. A profile that is set under one of these names\n" +
			"takes its place, until it is removed.",
		example: "  mnem profile list\n  mnem profile set docs --budget 4000 --for-type Document\n" +
			"  mnem retrieve 'how to deploy' --profile docs",
	},
	{
		use:   "op",
		group: groupHistory,
		short: "Inspect the operation log and restore earlier states",
		long: "Every change of a ref is an operation: commits, branches, tags, what is staged, sessions. The\n" +
			"log keeps them in order, and each state of the refs can be seen and restored. An operation\n" +
			"is named by its number, its CID or a unique prefix of that, or @ for the newest; OP~N is the\n" +
			"N-th before it.",
		example: "  mnem op log -n 5\n  mnem op show @\n  mnem op diff @~1 @\n  mnem op restore @~1",
	},
	{
		use:   "session",
		group: groupRecord,
		short: "Pin a commit for a series of retrievals and record them",
		long: "A session pins one commit: whatever is committed meanwhile, 'mnem retrieve --session NAME'\n" +
			"answers from it and records a receipt, and 'mnem replay NAME' answers it all again.",
		example: "  mnem session start review --agent reviewer\n" +
			"  mnem retrieve 'open tasks' --session review\n" +
			"  mnem session log review\n  mnem replay review",
	},
	{
		use:   "pack",
		group: groupTrade,
		short: "Low-level steps of a transfer between repositories",
		long: "'mnem fetch', 'mnem push' and 'mnem sync' ask another repository these questions, in a\n" +
			"directory or by a server: what it has, to send what is lacking here, to take in what is\n" +
			"lacking there, and what was erased. They carry packs by any other way too, as on a disk.",
		example: "  mnem pack refs\n  mnem pack send --ref refs/heads/main -o main.pack\n" +
			"  mnem pack take --set refs/heads/old=any..none",
	},
	{
		use:   "index",
		group: groupCare,
		short: "Inspect and rebuild the text index",
		long: "Inspect and rebuild the text index. It is derived from the commits: each commit or the first\n" +
			"retrieval builds it, and rebuilding it never changes an answer.",
		example: "  mnem index status\n  mnem index rebuild",
	},
}

// familyCommand returns what makes the command of a family.
func familyCommand(name string) func(*cli) *cobra.Command {
	return func(c *cli) *cobra.Command {
		for _, f := range families {
			if f.use == name {
				cmd := &cobra.Command{Use: f.use, GroupID: f.group, Short: f.short, Long: f.long, Example: f.example}
				for _, v := range verbs() {
					if strings.HasPrefix(v.spec.Command, name+" ") {
						cmd.AddCommand(c.verb(v.spec.Command))
					}
				}
				return c.parent(cmd)
			}
		}
		panic("no family " + name) // seen by the first test that builds the commands
	}
}
