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

	// ranking is what profiles can hold of a request.
	ranking = "adjacency budget community damping decay dedup direction edge-weight expand " +
		"expand-type expansion feedback fusion limit max-expand mmr order oversample pack " +
		"passage-tokens show spelling summarize summary-cap tokenizer weight "

	// asking is for what answers queries. Its models are those of the configuration.
	asking = "also at created-from created-to embed exclude explain follow include intent now profile " +
		"receipt rerank rerank-top rewrite rewrites session time type unseen updated-from updated-to " +
		"valid-at where " + ranking
)
