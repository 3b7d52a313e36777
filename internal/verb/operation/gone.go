package operation

import "strings"

// A Rename is a removed command or verb, with the words that replace it on the command line.
type Rename struct{ Name, Now string }

// renames lists every removed name once, by the words of its command.
var renames = []Rename{
	{"backup", "export --all"},
	{"calibrate", "recall"},
	{"cat-file", "show"},
	{"check", "recall"},
	{"communities", "explore --communities"},
	{"config cues", "embed cues"},
	{"config profile default", "config profile --default"},
	{"config profile list", "config profile"},
	{"config profile restore", "config profile --from"},
	{"config profile rm", "config profile --remove"},
	{"config profile set", "config profile"},
	{"config profile show", "config profile"},
	{"config profile unset", "config profile --unset"},
	{"contradict", "mark contradicted"},
	{"cues", "embed cues"},
	{"digest", "map"},
	{"digest-write", "map --write"},
	{"distill", "map --rebuild"},
	{"expire", "mark expired"},
	{"get", "show"},
	{"git status", "status"},
	{"git unfollow", "git follow --remove"},
	{"guard", "config secrets"},
	{"guard check", "config secrets"},
	{"guard rules", "config secrets"},
	{"half-life", "config half-life"},
	{"index", "stats"},
	{"index rebuild", "fsck --rebuild"},
	{"index status", "stats"},
	{"key untrust", "key trust --remove"},
	{"last", "session last"},
	{"link", "add --link"},
	{"neighbors", "explore"},
	{"op diff", "op show --since"},
	{"path", "explore --to"},
	{"policy", "config policy"},
	{"policy check", "config policy"},
	{"policy init", "config policy --write"},
	{"policy show", "config policy"},
	{"profile", "config profile"},
	{"pull", "fetch"},
	{"redo", "undo --redo"},
	{"related", "explore"},
	{"remote prune", "fetch --prune"},
	{"remote set-url", "remote add --force"},
	{"replay", "session replay"},
	{"resolve", "map --resolve"},
	{"retire", "mark retired"},
	{"schema", "stats --schema"},
	{"set", "add --set"},
	{"sources", "review sources"},
	{"sources diff", "review sources"},
	{"sources refresh", "review sources --accept"},
	{"stale", "mark stale"},
	{"suggest", "explore --tags"},
	{"supersede", "mark superseded"},
	{"token", "serve token"},
	{"token list", "serve token list"},
	{"token new", "serve token new"},
	{"token revoke", "serve token revoke"},
	{"unintegrate", "integrate --remove"},
	{"unlink", "rm --link"},
	{"unpin", "pin --remove"},
	{"verify", "key verify"},
	{"watch", "op watch"},
}

// Renames returns all removed names. The list must not be changed.
func Renames() []Rename { return renames }

// Renamed returns the words that replace a removed command or verb, "" for any other name. Words of a name may be
// separated as on the command line or as in the name of a verb.
func Renamed(name string) string {
	for _, r := range renames {
		if joined.Replace(r.Name) == joined.Replace(name) {
			return r.Now
		}
	}
	return ""
}

// flags lists the removed flags in the order of their commands, first those of no one command. Now replaces the flag,
// "" if nothing does.
var flags = []struct{ Command, Name, Now string }{
	{"", "keys", "MNEM_KEYS=DIR in the environment"},
	{"", "no-pager", "MNEM_PAGER=cat in the environment"},
	{"", "no-sign", "--sign=false"},
	{"add", "prop", "NAME=VALUE after --link SRC TYPE DST"},
	{"add", "weight", "weight=N after --link SRC TYPE DST"},
	{"branch", "verbose", ""},
	{"cherry-pick", "ours", "--conflicts ours"},
	{"cherry-pick", "theirs", "--conflicts theirs"},
	{"commit", "base", "--from"},
	{"config half-life", "reset", "--remove"},
	{"config policy", "init", "--write"},
	{"config policy", "operation", "the operation itself"},
	{"consolidate", "apply", "--accept"},
	{"consolidate", "cap", "--keep"},
	{"consolidate", "decline", "--reject"},
	{"doctor", "network", "--full"},
	{"embed", "status", "--dry-run"},
	{"explore", "edge-type", "--edge"},
	{"explore", "hops", "--depth"},
	{"forget", "before", "--until"},
	{"fsck", "accept-head", "--accept"},
	{"gc", "keep-ops", "--keep"},
	{"import", "as", "--branch"},
	{"init", "ignore", "done by itself"},
	{"integrate", "no-hooks", "--without hooks"},
	{"integrate", "no-rules", "--without rules"},
	{"integrate", "replace", "--force"},
	{"key trust", "note", "--message"},
	{"key trust", "purge", "--redactions"},
	{"ls", "all-types", "--all"},
	{"mcp", "debug", ""},
	{"mcp", "http", "--addr"},
	{"mcp", "no-session", "--without session"},
	{"merge", "newest", "--conflicts newest"},
	{"merge", "ours", "--conflicts ours"},
	{"merge", "theirs", "--conflicts theirs"},
	{"op watch", "diff", "--full"},
	{"pack redact", "redaction", "--redactions"},
	{"pack refs", "commit", "--have"},
	{"pack take", "place", "--session"},
	{"purge", "keep-queries", ""},
	{"purge", "text", "- in place of NODE"},
	{"push", "force-with-lease", "--force"},
	{"remember", "no-diff", "--without diff"},
	{"remember", "no-link", "--without"},
	{"remember", "valid-from", ""},
	{"remember", "valid-to", ""},
	{"remote readers", "add", "--encrypt"},
	{"remote redactions", "always", "--auto on"},
	{"remote redactions", "ask", "--auto off"},
	{"retrieve", "exit-code", "--strict"},
	{"revert", "ours", "--conflicts ours"},
	{"revert", "theirs", "--conflicts theirs"},
	{"review", "edit", "--set"},
	{"review", "no-note", "--dry-run"},
	{"review", "rest", "--all"},
	{"review", "rest-of", ""},
	{"serve", "drain", "--limit drain=TIME"},
	{"serve", "idle", "--limit idle=TIME"},
	{"serve", "many", "--all"},
	{"serve", "max-body", "--limit body=SIZE"},
	{"serve", "open", "--limit open=N"},
	{"serve", "quota", "--limit size=SIZE"},
	{"serve", "quota-blocks", "--limit blocks=N"},
	{"serve", "quota-commits", "--limit commits=N"},
	{"serve", "rate", "--limit rate=N"},
	{"serve", "socket", "--addr unix:PATH"},
	{"serve", "timeout", ""},
	{"show", "path", "--raw --field PATH"},
	{"sync", "every", "--auto TIME"},
	{"tag", "annotate", "--message"},
	{"view", "no-open", "--print"},
	{"view", "port", "--addr"},
}

// RenamedFlag returns what replaces a removed flag of a command, and whether there was one of this name.
func RenamedFlag(command, name string) (now string, gone bool) {
	for _, f := range flags {
		if f.Name == name && (f.Command == command || f.Command == "") {
			return f.Now, true
		}
	}
	return "", false
}

var joined = strings.NewReplacer("-", "_", " ", "_")

// FlagsGone returns the removed flags with their commands and replacements.
func FlagsGone() []struct{ Command, Name, Now string } { return flags }
