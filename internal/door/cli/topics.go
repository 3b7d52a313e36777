package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// topic is a page of help that belongs to no command.
type topic struct{ Name, Short, Long string }

func topics() []topic {
	return []topic{
		{"changes", "The form of change lines", changesTopic[1:]},
		{"revisions", "How commits and nodes are named", revisionsTopic},
		{"sharing", "How many processes use one repository", sharingTopic},
		{"exit-codes", "What exit codes and error codes mean", exitCodesTopic()},
		{"parameters", "What --set NAME=VALUE sets for retrieve and recall", parametersTopic()},
		{"environment", "The variables that commands read", environmentTopic()},
	}
}

const changesTopic = `
Changes enter as JSON Lines: one change a line, all applied or none. Errors name file and line.

  {"node":{"key":"alice","type":"Person","summary":"Alice leads infra","props":{"team":"infra"}}}
  {"edge":{"type":"owns","src":"alice","dst":"svc/billing","weight":0.5,"props":{"since":2024}}}
  {"embedding":{"node":"alice","model":"m","vector":[0.1,-0.2]}}
  {"embedding":{"node":"alice","model":"s","sparse":{"infra":0.7}}}
  {"mark":{"node":"alice","state":"stale","reason":"left in May"}}
  {"remove":{"node":"bob"}}
  {"remove":{"edge":{"type":"owns","src":"alice","dst":"svc/billing"}}}

References (src, dst, node) are exact keys or full ids, and are resolved when all lines are read.
A node without key and id is a fact: the same fact twice is one node, counted as a duplicate. A
line for a node that exists replaces the fields it gives and keeps the rest; props are merged one
by one; "unset":["summary","props.team"] removes fields, "replace":true all that are not given.

  node       key, id, type (needed for a new one), summary, context, content (a string, or an
             object of text and media), cues (a list of phrases to be found by), props, created,
             validFrom, validTo, sources, unset, replace
  edge       src, dst, type, key, id, weight (above 0 to 1), props, created, validFrom, validTo,
             sources, unset, replace
  embedding  node, model, and vector (numbers) or sparse (weights by term)
  mark       node or edge, state (stale, superseded, retired, forgotten, expired, contradicted), by,
             reason, actor, time
  remove     node, edge (its ends and type with "key" or "all":true, or its id), mark or embedding

Lines are at most 4 MiB of UTF-8; unknown and repeated names are refused. Integers stay integers,
numbers with a point or exponent are 64-bit floats. Times are RFC 3339 or YYYY-MM-DD.`

const revisionsTopic = `A revision names a commit:

  HEAD, @        the newest commit of the current branch
  NAME           a branch, else a tag, else what was imported as imported/NAME/heads/BRANCH or
                 .../tags/TAG, or a full ref name (refs/...)
  CID            a commit's CID or a unique prefix of it, at least 4 digits; bafyrei may be left out
  NAME@{N}       where a branch, tag or HEAD was before its N newest moves
  NAME@{TIME}    where it was at a time: main@{2026-11-01T10:00Z}, main@{2026-11-01}
  NAME@{op:OP}   where it was after an operation of 'mnem op log'; op:OP is HEAD@{op:OP}
  REV~N          the N-th first parent of REV; ~ alone is ~1. Commits of vectors that mnem makes by
                 itself do not count, as in 'mnem log'
  REV^N          the N-th parent of REV; ^ alone is ^1; REV^{} is REV

@{...} without a name is the current branch. A range A..B is what B reaches and A does not; a side
that is left out is HEAD. An operation OP is its number, its CID or a unique prefix of it, or @ for
the newest; OP~N is the N-th before it.

A node is named by its exact key, else its full id, else a unique prefix of its id of at least 4
digits. "key:" and "id:" before the name force one reading.`

const sharingTopic = `Many processes can use one repository at the same time, without any set-up. The
database admits one at a time, also for reading. A command on its own has it while it runs, and the
next one waits as long as --wait says; those that wait have it in the order in which they came.
A process that lives long, as 'mnem mcp' and 'mnem serve', answers the others on the socket
.mnem/socket: they have it run their commands and print what it answers, so that each command
does what it would have done alone. Writers take turns there, and a verb that decides on
what is stored does so in its turn: only one that was given --expect is refused because others write.

When that process ends, or is killed, the next one takes over. A command under way is given to it,
unless it had printed something or could have written: then it ends with exit code 6, and
'mnem op log' tells whether the change was made. What was acknowledged is never lost.

All must speak one protocol, as versions of mnem that are near each other do, belong to one user,
and see the same files: a process in a container is not answered by one outside. 'mnem fsck
--repair --accept' needs the repository closed by all others.`

func parametersTopic() string {
	return "'mnem retrieve' and 'mnem recall' take these by --set NAME=VALUE, and some of them as a flag; programs give\n" +
		"them as members of a request. A list is given one value at a time.\n\n" +
		reach.ParametersHelp(&asking.Retrieve.Spec)
}

func exitCodesTopic() string {
	var b strings.Builder
	b.WriteString("With --json an error is on standard error:\n\n" +
		`  {"error":{"code":...,"message":...,"hint":...,"kind":...}}` + "\n\nThe hint is there where one is, and " +
		"candidates, a list of id and title, where a text may mean\nseveral nodes. " +
		"The kind says what to do next: validation_failed (say it\ndifferently), not_allowed (a rule forbids it), " +
		"version_conflict (read what is there now, then\nwrite again), not_found, exec_failed (anything else).\n\n")
	fmt.Fprintf(&b, "  %-16s %-4s  %s\n", "code", "exit", "when")
	for _, o := range operation.Outcomes() {
		fmt.Fprintf(&b, "  %-16s %-4d  %s\n", o.Code, o.Exit, o.When)
	}
	return strings.TrimRight(b.String(), "\n")
}

func variables() []line.Variable {
	return slices.Concat([]line.Variable{
		{Name: "MNEM_REPO", Means: "the repository, as --repo"},
		{Name: "MNEM_BRANCH", Means: "the branch to write to, as --branch"},
		{Name: "MNEM_STAGE", Means: "the stage to use, as --stage"},
		{Name: "MNEM_IDENTITY", Means: "the file with the identity, of age or ssh, that opens encrypted remotes"},
		{Name: "MNEM_PASSPHRASE", Means: "the passphrase of encrypted remotes, or of that identity; else a terminal is asked"},
		{Name: "MNEM_BUCKET_PATH_STYLE", Means: "of s3:// remotes: 1 for the bucket in the path, 0 for one in the host's name"},
		{Name: "MNEM_BUCKET_ENCRYPTION", Means: "of s3:// remotes: the x-amz-server-side-encryption of what is written"},
		{Name: "MNEM_SESSION", Means: "the session to answer in, as --session"},
		{Name: "MNEM_AUTHOR", Means: "who makes changes, as --author"},
		{Name: "MNEM_AGENT", Means: "the program that acts for the author, as --agent"},
		{Name: settings.ClientVariable, Means: "what this process is called in databases, where HEAD and the stage are each client's own"},
		{Name: "MNEM_TASK", Means: "what the agent works on, as --task"},
		{Name: "TZ", Means: "the time zone of days in questions, as the parameter zone of 'mnem retrieve'"},
		{Name: "MNEM_WAIT", Means: "how long to wait for another process, as --wait"},
		{Name: "MNEM_CREDENTIALS", Means: "tokens for servers of remotes, a line each: URL TOKEN; see 'mnem help remote'"},
		{Name: "MNEM_SSH", Means: "the program that ssh:// remotes are reached by, with its first arguments (default: ssh)"},
		{Name: "MNEM_SIGN", Means: "true or false: whether commits are signed, as --sign"},
		{Name: "MNEM_KEY", Means: "the name of the key to sign with, as --key"},
		{Name: settings.ConflictsVariable, Means: "stop, newest, ours or theirs: what 'mnem sync' takes where both sides changed one thing"},
		{Name: place.HelperVariable, Means: "a program that tells tokens of servers, as git's credential helpers do"},
		{Name: "MNEM_REQUIRE_SIGNED", Means: "none, merge, import or all: what refuses commits that no key you trust " +
			"has signed"},
		{Name: "MNEM_MCP_FALLBACK", Means: "what 'mnem mcp' serves where there is no repository: none or global"},
		{Name: "MNEM_GLOBAL_TYPES", Means: "types of memories that your own repository keeps, as preference,rule; or none"},
		{Name: "MNEM_HOOKS", Means: "true or false: whether hooks note what is said and tell what is known"},
		{Name: "MNEM_GIT_FOLLOW", Means: "true or false: whether the memory follows the branch of git; see 'mnem git'"},
		{Name: "MNEM_PRIVATE", Means: "true or false: whether hooks note nothing of what is said in this session"},
		{Name: "MNEM_CAPTURE_KEEP_DAYS", Means: "after how many days turns of conversations are retired; 0 for never"},
		{Name: "MNEM_GC_KEEP_OPS", Means: "how many operations a collection keeps, as --keep; 0 if writes collect nothing"},
		{Name: "MNEM_GC_GRACE", Means: "how long a collection keeps operations, as --grace"},
		{Name: "MNEM_CACHE", Means: "most memory for what is kept of a repository, a size like 64MiB; half of GOMEMLIMIT unless given"},
	}, reach.ModelVariables(), []line.Variable{
		{Name: "MNEM_KEYS", Means: "the directory of keys and the trust list (default: the user's)"},
		{Name: settings.ProfileVariable, Means: "the retrieval profile, as --profile"},
		{Name: "MNEM_RENDER_SUMMARY_CAP_CHARS", Means: "longest summary, context and property printed, " +
			"as the parameter summary-cap"},
		{Name: "SOURCE_DATE_EPOCH", Means: "the time of changes in seconds since 1970, unless --time is given"},
		{Name: "CODEX_HOME", Means: "the directory of Codex's configuration"},
		{Name: "XDG_CONFIG_HOME", Means: "the directory of the user's configurations"},
		{Name: "XDG_DATA_HOME", Means: "the directory of the user's data, where --global finds the user's repository"},
		{Name: "MNEM_PAGER", Means: "what a terminal shows long results by, before PAGER; default: less; cat for none"},
		{Name: "NO_COLOR", Means: "when not empty, no colour on terminals"},
	})
}

func environmentTopic() string {
	var b strings.Builder
	b.WriteString("A flag goes before its variable, then come the repository's configuration, the " +
		"user's and\nthe default. An empty variable counts as none.\n\n")
	for _, v := range variables() {
		fmt.Fprintf(&b, "  %-30s %s\n", v.Name, v.Means)
	}
	b.WriteString("\nReading a repository locks .mnem/db/LOCK, as writing does. If that file cannot be " +
		"written,\nas on a disk that is mounted for reading, readers share the lock.\n")
	return strings.TrimRight(b.String(), "\n")
}

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

// A ManPage is one page of the manual, in the macros of man(7).
type ManPage struct{ File, Text string }

// Manual returns a page for mnem, one for each command in section 1, and one for each topic of the help in section 7,
// ordered by file name. Commands that the help does not list have one too.
func Manual() []ManPage {
	top := root(&line.Line{App: &line.App{Getenv: func(string) string { return "" }}})
	var pages []ManPage
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" {
			return
		}
		if cmd.Runnable() || cmd.HasAvailableSubCommands() {
			pages = append(pages, ManPage{manName(cmd) + ".1", manCommand(cmd)})
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(top)
	for _, t := range topics() {
		pages = append(pages, ManPage{"mnem-" + t.Name + ".7", manTopic(t)})
	}
	slices.SortFunc(pages, func(a, b ManPage) int { return strings.Compare(a.File, b.File) })
	return pages
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func manCommand(cmd *cobra.Command) string {
	var b strings.Builder
	manHead(&b, manName(cmd), "1", cmd.Short)
	b.WriteString(".SH SYNOPSIS\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, ".B %s\n", roff(cmd.UseLine()))
	} else {
		fmt.Fprintf(&b, ".B %s \\fICOMMAND\\fR\n", roff(cmd.CommandPath()))
	}
	manText(&b, "DESCRIPTION", cmd.Long)
	manCommands(&b, cmd)
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	if cmd.HasParent() {
		manFlags(&b, "OPTIONS OF EVERY COMMAND", cmd.InheritedFlags())
	}
	manText(&b, "EXAMPLES", cmd.Example)
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", roff(strings.Join(manSee(cmd), ", ")))
	return b.String()
}

// manSee names the pages above a command's; that of mnem names the topics.
func manSee(cmd *cobra.Command) []string {
	var see []string
	for parent := cmd.Parent(); parent != nil; parent = parent.Parent() {
		see = append(see, manName(parent)+"(1)")
	}
	if see != nil {
		return append(see, "mnem-exit-codes(7)")
	}
	for _, t := range topics() {
		see = append(see, "mnem-"+t.Name+"(7)")
	}
	return see
}

func manTopic(t topic) string {
	var b strings.Builder
	manHead(&b, "mnem-"+t.Name, "7", t.Short)
	manText(&b, "DESCRIPTION", t.Long)
	b.WriteString(".SH SEE ALSO\nmnem(1)\n")
	return b.String()
}

// manHead has no date, so that a page changes only with its command.
func manHead(b *strings.Builder, name, section, short string) {
	fmt.Fprintf(b, ".TH %s %s \"\" mnem \"mnem manual\"\n.nh\n.ad l\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(name)), section,
		roff(name), roff(short))
}

// manText keeps the lines of a text as they are: texts of the help have tables and lists.
func manText(b *strings.Builder, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n.nf\n", title)
	for text := range strings.SplitSeq(text, "\n") {
		b.WriteString(roffLine(text) + "\n")
	}
	b.WriteString(".fi\n")
}

func manCommands(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	b.WriteString(".SH COMMANDS\n")
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			fmt.Fprintf(b, ".TP\n.B %s(1)\n%s\n", roff(manName(sub)), roffLine(sub.Short))
		}
	}
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" && f.ShorthandDeprecated == "" {
			fmt.Fprintf(b, "\\fB%s\\fR, ", roff("-"+f.Shorthand))
		}
		fmt.Fprintf(b, "\\fB%s\\fR", roff("--"+f.Name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		b.WriteString("\n")
		for text := range strings.SplitSeq(usage, "\n") {
			b.WriteString(roffLine(strings.TrimSpace(text)) + "\n")
		}
		if !slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) {
			fmt.Fprintf(b, "(default %s)\n", roff(f.DefValue))
		}
	})
}

// roffEscapes protect characters that formatters would obey or print as others.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

func roff(text string) string { return roffEscapes.Replace(text) }

// roffLine escapes a line of text, which may begin like a request, and may be empty.
func roffLine(text string) string {
	if text == "" {
		return `\&`
	}
	if text[0] == '.' {
		return `\&` + roff(text)
	}
	return roff(text)
}
