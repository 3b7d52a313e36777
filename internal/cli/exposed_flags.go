package cli

// The flags that remote callers may give, by name with spaces between, for commands that share them.
// A flag that is in none of these and not in the table either is for the command line of this
// machine alone: a new one stays there until it is declared. None may name a host, a file, a
// directory, a model or a key of this machine.
const (
	// written is for what makes one commit, and dry for what can be tried out before.
	written = "branch expect message time "
	dry     = "dry-run " + written

	// marking is for marks on nodes.
	marking = "allow-secret reason " + dry

	// remembering is for memories, in words or in lines.
	remembering = "about allow-secret embed entity expires explain importance no-diff no-link property source " +
		"strict supersedes tag type valid-from valid-to " + dry
)
