package cli

import "github.com/mnem-project/mnem/operation"

// exposed is a command as remote callers may run it. What is not in the table of them they cannot
// run: commands about this machine, its files, keys and configuration.
type exposed struct {
	command    string // its words
	name       string // of the operation, "" for the words joined
	effect     operation.Effect
	idempotent bool
	words      []operation.Param // what the words after the flags are
	// flags are those that callers may give, with spaces between; no other one.
	flags string
	// writes are flags that make a command which reads one that writes.
	writes []string
	lines  *operation.Param // what standard input is, nil for nothing
	answer string           // media type, "" for JSON, or lines of it where the command prints such
	title  string           // "" for what the help of the command says
}

const (
	reads    = operation.Reads
	writes   = operation.Writes
	destroys = operation.Destroys
)

// required and list are the parameters that words after the flags become.
func required(name, doc string) operation.Param {
	return operation.Param{Name: name, Kind: operation.String, Doc: doc, Required: true}
}

func list(name, doc string, required bool) operation.Param {
	return operation.Param{Name: name, Kind: operation.Strings, Doc: doc, Required: required}
}

// lines is the parameter that holds the lines of standard input, which a flag names.
func lines(flag, doc string, required bool) *operation.Param {
	return &operation.Param{
		Name: "lines", Flag: flag, Kind: operation.Lines, Doc: doc, Required: required,
	}
}

const (
	nodeDoc = "a node by key, id or at least 4 digits of an id"
)

// exposedCommands is the table, in the order of the help.
func exposedCommands() []exposed {
	return append(exposedChanges(), exposedRecords()...)
}

// exposedChanges are the commands that change the memory.
func exposedChanges() []exposed {
	return []exposed{
		{command: "remember", effect: writes, flags: remembering,
			words: []operation.Param{required("text", "the memory")}},
		{command: "remember", name: "remember_batch", effect: writes, answer: operation.MediaNDJSON,
			title: "Keep many texts as memories", flags: remembering,
			lines: lines("batch", "memories: objects with text and any parameter of remember", true)},
		{command: "consolidate", effect: reads, writes: []string{"apply", "decline"},
			flags: "apply at cap decline kind limit now " + marking,
			words: []operation.Param{list("picks", "ids of proposals", false)}},
	}
}

// exposedRecords are the commands about history, records and care.
func exposedRecords() []exposed {
	return []exposed{
		{command: "purge", effect: destroys, flags: "dry-run expect keep-queries reason time yes",
			words: []operation.Param{required("node", nodeDoc)}},
	}
}
