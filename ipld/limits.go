package ipld

const (
	// MaxBlock is the largest block in bytes. Other IPLD software transports 1 MiB without trouble (Bitswap's limit
	// is 2 MiB).
	MaxBlock = 1 << 20
	// MaxDepth is the deepest nesting of lists and maps. Records nest three deep; the rest is for user properties,
	// while a hostile block cannot exhaust a stack.
	MaxDepth = 64
	// MaxItems is the largest number of items (map keys included) in one block. Links do not count: their 41 bytes
	// each bound their number. Decoding allocates at most about 48 MiB, including the growth of slices, however
	// small the items are.
	MaxItems = 1 << 17
	// ChunkSize is the length in bytes of all but the last raw chunk of content too large for
	// its record.
	ChunkSize = 256 << 10
)
