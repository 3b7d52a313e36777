package perf

// measurements in their order: what only reads is before what writes. Each size begins with bulk,
// measured or not, where anything is wanted that is about the memory.
var measurements []measurement

func init() {
	measurements = []measurement{
		{name: groupBulk, what: "one commit of all nodes and edges, lines parsed apart, store size",
			raw: true},
		{name: groupCold, what: "a question to a new process, and its memory", run: (*bench).cold,
			starts: true},
		{name: groupStart, what: "'mnem get', 'log' and 'status' as whole processes", run: (*bench).start,
			starts: true},
		{name: groupWarm, what: "questions to an open repository", run: (*bench).warm,
			heap: true},
		{name: groupHub, what: "the edges of the node that has most", run: (*bench).hub,
			heap: true},
		{name: groupCommit, what: "commits of one node, and of one with an edge", run: (*bench).commit,
			raw: true, heap: true},
		{name: groupDiff, what: "two commits that differ in 100 nodes", run: (*bench).diff,
			heap: true},
		{name: groupHistory, what: "blame and log", run: (*bench).history,
			heap: true},
		{name: groupRemember, what: "memories one by one and many at once", run: (*bench).remember,
			heap: true},
		{name: groupServer, what: "'mnem serve' asked over HTTP: its time and memory", run: (*bench).server,
			starts: true},
		{name: groupAgents, what: "'mnem mcp' asked by agents, whose answers are recorded", run: (*bench).agents,
			starts: true},
		{name: groupReaders, what: "--readers R and --writers W for --seconds S", run: (*bench).readers,
			heap: true},
		{name: groupCare, what: "gc of what all that left, fsck", run: (*bench).care},
		{name: groupCommits, what: "--commits K of one node each in a row", run: (*bench).commits,
			alone: true},
		{name: groupTotal, what: "all the measurements of this size that were made", run: (*bench).total,
			alone: true},
		{name: groupVersion, what: "'mnem version' as a whole process", run: (*bench).version, once: true,
			alone: true, starts: true},
	}
}
