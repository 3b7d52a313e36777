package state

const (
	// DefaultTreeCache and defaultIndexCache bound decoded data kept between calls, in bytes.
	DefaultTreeCache  = 64 << 20
	DefaultIndexCache = 64 << 20
	// DefaultDenseCache bounds what is kept of dense vectors, in bytes: the sketches of 10^6 of 384
	// dimensions take 48 MB, and the vectors of 10^5 take 40.
	DefaultDenseCache = 64 << 20
	// DefaultLinkCache bounds what is kept of links, in bytes: those of 10^5 nodes with three edges
	// each take 14 MB.
	DefaultLinkCache = 32 << 20
	// DefaultVectorCache bounds the sparse vectors kept, in bytes.
	DefaultVectorCache = 256 << 20
	// StageLimit is how many bytes of new blocks a transaction keeps before it writes them, not
	// yet durable and reached by nothing, to the store: it bounds the memory of a bulk commit.
	StageLimit = 16 << 20
)
