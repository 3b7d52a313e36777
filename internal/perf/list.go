package perf

// measurements in their order: what only reads is before what writes. Each size begins with bulk,
// measured or not.
var measurements []measurement

func init() {
	measurements = []measurement{
		{name: groupBulk, what: "one commit of all nodes and edges, lines parsed apart, store size"},
		{name: groupCold, what: "a question to a new process, and its memory", run: (*bench).cold},
		{name: groupWarm, what: "questions to an open repository", run: (*bench).warm},
		{name: groupCommit, what: "commits of one node, and of one with an edge", run: (*bench).commit},
	}
}
