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
	{"contradict", "mark contradicted"},
	{"cues", "config cues"},
	{"digest", "map"},
	{"digest-write", "map --write"},
	{"distill", "map --rebuild"},
	{"expire", "mark expired"},
	{"get", "show"},
	{"half-life", "config half-life"},
	{"index", "stats"},
	{"index rebuild", "fsck --rebuild"},
	{"index status", "stats"},
	{"last", "session last"},
	{"link", "add --link"},
	{"neighbors", "explore"},
	{"path", "explore --to"},
	{"profile", "config profile"},
	{"profile default", "config profile default"},
	{"profile list", "config profile list"},
	{"profile restore", "config profile restore"},
	{"profile rm", "config profile rm"},
	{"profile set", "config profile set"},
	{"profile show", "config profile show"},
	{"profile unset", "config profile unset"},
	{"redo", "undo --redo"},
	{"related", "explore"},
	{"replay", "session replay"},
	{"resolve", "map --resolve"},
	{"retire", "mark retired"},
	{"schema", "stats --schema"},
	{"set", "add --set"},
	{"sources diff", "sources"},
	{"sources refresh", "sources --accept"},
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

var joined = strings.NewReplacer("-", "_", " ", "_")
