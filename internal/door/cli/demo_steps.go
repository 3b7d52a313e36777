package cli

// demoStepText is one step of the demo: what a reader should know, and a command line.
type demoStepText struct {
	say  string
	args []string
}

// demoSteps tell how mnem is used, from an empty repository to a replayed session.
func demoSteps() []demoStepText {
	return append(demoHistory(), demoReading()...)
}

func demoHistory() []demoStepText {
	return []demoStepText{
		{"A memory lives in a directory, under .mnem, as a git repository does.",
			[]string{"init"}},
		{"Facts come in as change lines: nodes with keys, types, summaries and properties, and edges\n" +
			"between them. Here are seven weeks of an invented team that builds harbour booking software.",
			[]string{"commit", "-m", "Seven weeks of the harbour project", "memory.jsonl"}},
		{"Some days later more is known. A line for a node that exists changes what it names.",
			[]string{"commit", "-m", "Winter berths open to all harbours", "change.jsonl"}},
		{"Every commit is kept, with the numbers of what it added, changed and removed.",
			[]string{"log"}},
		{"A diff goes down to single properties. It costs what differs, not what there is.",
			[]string{"diff", "HEAD~1", "HEAD", "--type", "Task", "--type", "Decision", "--type", "owns"}},
		{"Single nodes can be listed, read and walked from.",
			[]string{"ls", "--type", "Decision", "--sort", "-created", "--limit", "4"}},
		{"", []string{"show", "svc/webhooks"}},
		{"", []string{"explore", "svc/webhooks", "--limit", "6"}},
		{"", []string{"explore", "priya", "--to", "db/marlin"}},
	}
}

func demoReading() []demoStepText {
	return []demoStepText{
		{"Retrieval answers a question with text for a language model, under a budget of tokens.\n" +
			"--adjacency adds the edges of each item.",
			[]string{"retrieve", "why was the guest charged twice?", "--limit", "2", "--adjacency", "2"}},
		{"Filters act before the ranking, so that nothing that fits is lost.",
			[]string{"retrieve", "winter berths", "--type", "Decision", "--where",
				`status = "accepted"`, "--limit", "2", "--set", "show=times,key"}},
		{"Time travel: what was known about the document store one commit ago, and now.",
			[]string{"retrieve", "Marlin document store", "--type", "Datastore", "--limit", "1",
				"--at", "HEAD~1"}},
		{"", []string{"retrieve", "Marlin document store", "--type", "Datastore", "--limit", "1"}},
		{"A session pins a commit: an agent that works for hours sees one state of the memory, and every\n" +
			"answer it gets leaves a receipt.",
			[]string{"session", "start", "review", "--agent", "pilot", "--task", "winter launch"}},
		{"", []string{"retrieve", "what blocks the winter launch?", "--session", "review", "--limit",
			"2", "--set", "expand=2"}},
		{"", []string{"retrieve", "full load test", "--session", "review", "--limit", "1"}},
		{"Meanwhile the memory moves on. add stages a change, and commit without a file commits it.",
			[]string{"add", "--set", "task/KM-452", "status=done", "closed=2026-10-19"}},
		{"", []string{"commit", "-m", "The load test passed"}},
		{"The session still answers from its own commit, in which that task is open.",
			[]string{"retrieve", "full load test", "--session", "review", "--type", "Task", "--limit", "1"}},
		{"", []string{"session", "log", "review"}},
		{"Replay runs every recorded request again and compares the answers, bit for bit.",
			[]string{"session", "replay", "review"}},
		{"And fsck reads everything there is: hashes, trees, edges and indexes.",
			[]string{"fsck"}},
	}
}
