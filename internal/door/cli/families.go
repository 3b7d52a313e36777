package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
)

// family is a command that only holds others: those whose names begin with its own.
type family struct {
	use, group, short, long, example string
	hidden                           bool // as a verb may be
}

// families are the commands that only hold others.
var families = []family{
	{
		use:   "config",
		group: line.GroupStart,
		short: "Get and set configuration values",
		example: "  mnem config set author 'Ada Lovelace'\n  mnem config get wait\n" +
			"  mnem config list --json",
	},
	{
		use:   "profile",
		group: line.GroupChange,
		short: "Manage named sets of retrieval parameters",
		long: "A profile is a name for how answers are ranked, expanded, packed and printed: the parameters of\n" +
			"'mnem retrieve' that say so, with their values. The memory keeps its profiles beside its facts,\n" +
			"in every commit: they are branched, merged, reverted and exported with it.\n\n" +
			"A request takes what it does not say from one profile: that of --profile, MNEM_PROFILE or\n" +
			"config retrieve.profile; else one whose types (--for-type) have all that the request asks for\n" +
			"with --type, the fewest first; else the one that 'mnem profile default' names; else the profile\n" +
			"default. What a request says always holds, and what a profile says and does not fit it is left out:\n" +
			"rounds and damping of ppr if the request says expansion=decay.\n\n" +
			"There are always default, chat, docs and code. A profile that is set under one of these names\n" +
			"takes its place, until it is removed.",
		example: "  mnem profile list\n  mnem profile set docs budget=4000 --for-type Document\n" +
			"  mnem retrieve 'how to deploy' --profile docs",
	},
	{
		use:   "op",
		group: line.GroupHistory,
		short: "Inspect the operation log and restore earlier states",
		long: "Every change of a ref is an operation: commits, branches, tags, what is staged, sessions. The\n" +
			"log keeps them in order, and each state of the refs can be seen and restored. An operation\n" +
			"is named by its number, its CID or a unique prefix of that, or @ for the newest; OP~N is the\n" +
			"N-th before it.",
		example: "  mnem op log -n 5\n  mnem op show @\n  mnem op diff @~1 @\n  mnem op restore @~1",
	},
	{
		use:   "session",
		group: line.GroupRecord,
		short: "Pin a commit for a series of retrievals and record them",
		long: "A session pins one commit: whatever is committed meanwhile, 'mnem retrieve --session NAME'\n" +
			"answers from it and records a receipt, and 'mnem session replay NAME' answers it all again.",
		example: "  mnem session start review --agent reviewer\n" +
			"  mnem retrieve 'open tasks' --session review\n" +
			"  mnem session log review\n  mnem session replay review",
	},
	{
		use:   "pack",
		group: line.GroupTrade, hidden: true,
		short: "Low-level steps of a transfer between repositories",
		long: "'mnem fetch', 'mnem push' and 'mnem sync' ask another repository these questions, in a\n" +
			"directory or by a server: what it has, to send what is lacking here, to take in what is\n" +
			"lacking there, and what was erased. They carry packs by any other way too, as on a disk.",
		example: "  mnem pack refs\n  mnem pack send --ref refs/heads/main -o main.pack\n" +
			"  mnem pack take --set refs/heads/old=any..none",
	},
	{
		use:   "token",
		group: line.GroupTrade,
		short: "Manage the access tokens of 'mnem serve'",
		long: "Programs that ask 'mnem serve' say who they are by a token: Authorization: Bearer TOKEN. A\n" +
			"server that others can reach refuses who has none. The repository keeps the SHA-256 of each, in\n" +
			".mnem/tokens, which only its user may read; one in a database keeps them there, for all its servers.\n" +
			"What is revoked counts no more from then on.",
		example: "  mnem token new notebook\n  mnem token list\n  mnem token revoke notebook",
	},
	{
		use:   "guard",
		group: line.GroupCare,
		short: "Find credentials before they are stored",
		long: "Everything that is written is searched for credentials first: whichever command writes it, and\n" +
			"for every caller of a server. What has the prefix of a provider's keys, a checksum, or the form\n" +
			"of a private key is refused, exit code 7, with its line and rule; --allow-secret RULE writes it\n" +
			"all the same. What may be a password, or is irregular and called a key, is reported. In commits\n" +
			"of more than 1000 changes everything is only reported, but with --strict; and merges and imports\n" +
			"keep their bytes, and report.",
		example: "  echo 'the password: Xk39-dq2' | mnem guard check -\n  mnem guard rules",
	},
	{
		use:   "policy",
		group: line.GroupCare,
		short: "Say what agents may change",
		long: "The file .mnem/policy.json says which agents may do which operations on which types of nodes\n" +
			"and edges. Where there is none, everybody may do everything. Where there is one, agents may do\n" +
			"what a rule allows and nothing else, whichever way they take: the command line, MCP or HTTP. A\n" +
			"file that cannot be read allows agents nothing. Reading is always allowed.\n\n" +
			"An agent is whoever says so, by --agent or MNEM_AGENT, and every caller of a server. People,\n" +
			"who say nothing, are not bound. So a policy keeps agents that play by the rules within them;\n" +
			"a program that may read and write the files of the repository itself is stopped by nothing.\n\n" +
			"  {\"version\": 1, \"rules\": [{\n" +
			"    \"agents\": [\"claude*\"], \"operations\": [\"remember\", \"commit\"],\n" +
			"    \"types\": [\"Note\", \"Decision\"], \"edges\": [\"*\"]}]}\n\n" +
			"With \"signed\": true the operations may take commits off branches and tags that the key of\n" +
			"somebody else has signed, as amend, undo, reset and branch --force do. Without it, and without\n" +
			"a policy, no agent may. To change settings, keys or tokens is an operation like the others.\n\n" +
			"Lists have patterns, where * stands for anything. Edges are those that leave nodes of these\n" +
			"types; without \"edges\" all types of them. Operations are commands that write, words joined by\n" +
			"_: " + "'mnem policy check --operations' lists them.",
		example: "  mnem policy init\n  mnem policy show\n" +
			"  mnem policy check --agent claude-code --operation commit --type Note",
	},
	{
		use:   "key",
		group: line.GroupCare,
		short: "Manage signing keys and the keys you trust",
		long: "Make and keep the keys with which you sign commits, and the list of keys whose\n" +
			"signatures you trust. Both are yours, not the repository's: files in mnem/keys under\n" +
			"XDG_CONFIG_HOME or the system's directory of configurations, where only you can read\n" +
			"them. Keys are Ed25519. A secret has no passphrase: who can read its file can sign as\n" +
			"you.\n\n" +
			"To have others trust you, give them what 'mnem key export NAME' prints, in a way that\n" +
			"they can be sure it is from you. Then sign with 'mnem commit --sign', or always after\n" +
			"'mnem config set sign true', and check with 'mnem key verify'.",
		example: "  mnem key new work\n  mnem key list\n  mnem key export work",
	},
	{
		use:   "git",
		group: line.GroupHistory,
		short: "Let the memory follow the branch of a git work tree",
		long: "In a git work tree 'mnem git follow' has the memory be on the branch that git is on: each call reads\n" +
			"git's file HEAD, so that no hook is needed and nothing is to be kept up to date. The program git is run\n" +
			"only if that does not tell where to read and write, as on a new branch until its first write. A new git\n" +
			"branch has the memory of the one that it was made from, and a branch of the memory of its own from\n" +
			"its first write on. 'mnem git sync' merges the memory of git branches that were merged.\n\n" +
			"While HEAD of git is detached the memory of the last branch can be read, and a write has to name a\n" +
			"branch. During a rebase the memory is that of the branch which is rebased, during a bisection that\n" +
			"of the branch where it began. --branch, MNEM_BRANCH and --at go before what git says. --task is the\n" +
			"branch where nothing else is said. MNEM_GIT_FOLLOW=false turns it off for one command.",
		example: "  mnem git follow\n  mnem git status\n  mnem git sync",
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
			"  git+https://HOST/PATH              a git repository, which keeps the memory as one ref beside the\n" +
			"                                     code; git+ssh:// and git+file:// too; needs git\n" +
			"  s3://BUCKET[/PREFIX]               a bucket of an S3-compatible object store, with the AWS_ variables:\n" +
			"                                     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,\n" +
			"                                     AWS_REGION, AWS_ENDPOINT_URL; MNEM_BUCKET_PATH_STYLE=0 puts the bucket\n" +
			"                                     into the host's name there, MNEM_BUCKET_ENCRYPTION names what\n" +
			"                                     x-amz-server-side-encryption says\n\n" +
			"URLs are kept in .mnem/remotes.json and shown, so they hold no password. The token for a server is\n" +
			"in MNEM_CREDENTIALS, or in the file credentials beside the user's configuration, mode 0600: lines\n" +
			"of URL and TOKEN, of which the one counts whose URL is the longest that begins the remote's. A\n" +
			"token goes to no other server, and without TLS to this machine alone.",
		example: "  mnem remote add origin /srv/memory\n  mnem remote list\n  mnem remote rm laptop",
	},
}

// familyOf returns the command of a family: there is one, the first test that builds the commands sees to it.
func familyOf(name string) *cobra.Command {
	f := families[slices.IndexFunc(families, func(f family) bool { return f.use == name })]
	return &cobra.Command{Use: f.use, GroupID: f.group, Short: f.short, Long: f.long, Example: f.example, Hidden: f.hidden}
}
