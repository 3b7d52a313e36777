package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
)

// family is a command that only holds others: those whose names begin with its own.
type family struct {
	use, group, short, long, example string // use is all its words; one below another command has no group
	hidden                           bool   // as a verb may be
}

var families = []family{
	{
		use:   "config",
		group: line.GroupStart,
		short: "Get and set configuration values",
		example: "  mnem config set author 'Ada Lovelace'\n  mnem config get wait\n" +
			"  mnem config list --json",
	},
	{
		use:   "op",
		group: line.GroupHistory,
		short: "Inspect the operation log and restore earlier states",
		long: "Every change of a ref is an operation: commits, branches, tags, what is staged, sessions. The\n" +
			"log keeps them in order, and each state of the refs can be seen and restored. An operation\n" +
			"is named by its number, its CID or a unique prefix of that, or @ for the newest; OP~N is the\n" +
			"N-th before it.",
		example: "  mnem op log -n 5\n  mnem op show @\n  mnem op show @ --since @~1\n  mnem op restore @~1",
	},
	{
		use:   "session",
		group: line.GroupRecord,
		short: "Pin a commit for a series of retrievals and record them",
		long: "A session pins one commit: whatever is committed afterwards, 'mnem retrieve --session NAME' answers\n" +
			"from that commit and records a receipt, and 'mnem session replay NAME' answers everything again.",
		example: "  mnem session start review --agent reviewer\n" +
			"  mnem retrieve 'open tasks' --session review\n" +
			"  mnem session log review\n  mnem session replay review",
	},
	{
		use:   "pack",
		group: line.GroupTrade, hidden: true,
		short: "Low-level steps of a transfer between repositories",
		long: "'mnem fetch', 'mnem push' and 'mnem sync' ask another repository these questions, in a directory or\n" +
			"through a server: which refs it has, what this side lacks, what the other side lacks, and what was\n" +
			"erased. Packs can also travel in any other way, for example on a disk.",
		example: "  mnem pack refs\n  mnem pack send --ref refs/heads/main -o main.pack\n" +
			"  mnem pack take --set refs/heads/old=any..none",
	},
	{
		use:   "serve token",
		short: "Manage the access tokens of 'mnem serve'",
		long: "Programs that ask 'mnem serve' say who they are by a token: Authorization: Bearer TOKEN. A\n" +
			"server that others can reach refuses who has none. The repository keeps the SHA-256 of each, in\n" +
			".mnem/tokens, which only its user may read; one in a database keeps them there, for all its servers.\n" +
			"What is revoked counts no more from then on.",
		example: "  mnem serve token new notebook\n  mnem serve token list\n  mnem serve token revoke notebook",
	},
	{
		use:   "key",
		group: line.GroupCare,
		short: "Manage signing keys and the keys you trust",
		long: "Make and keep the keys with which you sign commits, and the list of keys whose signatures you trust.\n" +
			"Both are yours, not the repository's: files in mnem/keys under XDG_CONFIG_HOME or the system's\n" +
			"directory of configurations, which only you can read. Keys are Ed25519. A secret has no passphrase:\n" +
			"anyone who can read its file can sign as you. MNEM_KEYS names another directory.\n\n" +
			"To have others trust you, give them what 'mnem key export NAME' prints, in a way that lets them be\n" +
			"sure it comes from you. Then sign with 'mnem commit --sign', or always after 'mnem config set sign\n" +
			"true', and check with 'mnem key verify'.",
		example: "  mnem key new work\n  mnem key list\n  mnem key export work",
	},
	{
		use: "git", hidden: true,
		group: line.GroupHistory,
		short: "Let the memory follow the branch of a git work tree",
		long: "After 'mnem git follow', the memory uses the branch that git has checked out: each call reads git's\n" +
			"file HEAD, so no hook is needed. The program git runs only if that file does not say where to read\n" +
			"and write, for example on a new branch until its first write. A new git branch reads the memory of\n" +
			"the branch it came from, and gets a branch of the memory at its first write. 'mnem git sync' merges\n" +
			"the memory of git branches that were merged.\n\n" +
			"While HEAD of git is detached, the memory of the last branch can be read, and a write must name a\n" +
			"branch. A rebase uses the branch being rebased, a bisection the branch where it began. --branch,\n" +
			"MNEM_BRANCH and --at take precedence over git. --task defaults to the branch. MNEM_GIT_FOLLOW=false\n" +
			"turns following off for one command.",
		example: "  mnem git follow\n  mnem git hook\n  mnem git sync",
	},
	{
		use:   "remote",
		group: line.GroupTrade,
		short: "Manage other repositories of the same memory",
		long: "A remote is another repository of the same memory and the name it has here: 'mnem sync' brings\n" +
			"both to the same state. What it had at the last fetch or push is under refs/remotes/NAME. Its URL\n" +
			"is one of\n\n" +
			"  PATH, file:///PATH                 the directory that holds .mnem\n" +
			"  https://HOST[:PORT][/PATH]         'mnem serve' there, behind a server that speaks TLS; http:// too\n" +
			"  ssh://[USER@]HOST[:PORT]/PATH      a directory of another machine, where mnem is installed,\n" +
			"                                     reached by ssh or what MNEM_SSH names\n" +
			"  git+https://HOST/PATH              a git repository, which keeps the memory as one ref next to the\n" +
			"                                     code; git+ssh:// and git+file:// too; needs git\n" +
			"  s3://BUCKET[/PREFIX]               a bucket of an S3-compatible object store, with the AWS_ variables:\n" +
			"                                     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,\n" +
			"                                     AWS_REGION, AWS_ENDPOINT_URL; MNEM_BUCKET_PATH_STYLE=0 puts the bucket\n" +
			"                                     into the host's name there, MNEM_BUCKET_ENCRYPTION names what\n" +
			"                                     x-amz-server-side-encryption says\n\n" +
			"URLs are kept in .mnem/remotes.json and shown, so they hold no password. The token for a server is\n" +
			"in MNEM_CREDENTIALS, or in the file credentials next to the user's configuration, mode 0600: lines\n" +
			"of URL and TOKEN; the longest URL that is a prefix of the remote's counts. A\n" +
			"token goes to no other server, and without TLS to this machine alone.",
		example: "  mnem remote add origin /srv/memory\n  mnem remote list\n  mnem remote rm laptop",
	},
}

// familyOf returns the command of a family: there is one, the first test that builds the commands sees to it.
func familyOf(name string) *cobra.Command {
	f := families[slices.IndexFunc(families, func(f family) bool { return f.use == name })]
	words := strings.Fields(f.use)
	return &cobra.Command{Use: words[len(words)-1], GroupID: f.group, Short: f.short, Long: f.long, Example: f.example, Hidden: f.hidden}
}
