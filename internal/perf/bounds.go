package perf

// What figures shall keep to.
const (
	// versionTimes is how many times as long as a program that says hello the smallest verb may take.
	versionTimes  = 3
	versionMemory = 14 << 20
	// startTimes is how many times as long as opening the store a verb may take that reads a few blocks,
	// coldTimes one that answers a question.
	startTimes = 2
	coldTimes  = 3
	// rssBound is that of a process which answers one question at 10^6 nodes.
	rssBound = 300 << 20
	// coldMost is that of 10^6 nodes.
	coldMost = 60_000_000

	// bulkTimes is how many times as long as writing the same blocks a commit of all may take.
	bulkTimes = 3
	bulkHeap  = 300 << 20

	// What one commit may write to a memory of 10^6 nodes.
	nodeBytes = 12 << 10
	edgeBytes = 40 << 10
	// A commit of one node may take three synced writes, and this beyond them.
	commitTimes = 3
	commitPlus  = 2_000_000

	diffBound = 15_000_000

	rememberMost = 1_500_000
	batchMost    = 200_000 // for each memory of a batch

	serverMemory = 60 << 20
	// agentMost is the CPU time of a recorded answer at 10^3 nodes: two processors give 1,000 a second.
	agentMost = 2_000_000

	readMost = 25_000_000
	readP99  = 200_000_000

	// Of 10^6 nodes.
	gcMost   = 20_000_000_000
	fsckMost = 45_000_000_000

	// warmSpread is how many medians the 99th percentile of warm questions may take.
	warmSpread = 3

	hundredThousand = 100_000
)

// warmBound is that of a question to an open repository. Vectors have one up to 10^5 nodes.
func warmBound(nodes int, dense bool) *Bound {
	switch {
	case dense && nodes <= hundredThousand:
		return &Bound{Most: 6_000_000}
	case dense:
		return nil
	case nodes <= hundredThousand:
		return &Bound{Most: 3_000_000, Spread: warmSpread}
	}
	return &Bound{Most: 8_000_000, Spread: warmSpread}
}

// coldBound is that of a question to a new process.
func coldBound(nodes int) *Bound {
	if nodes <= hundredThousand {
		return &Bound{Times: coldTimes}
	}
	return &Bound{Most: coldMost}
}

// upTo is a bound of memories up to 10^5 nodes.
func upTo(nodes int, most int64) *Bound {
	if nodes > hundredThousand {
		return nil
	}
	return &Bound{Most: most}
}
