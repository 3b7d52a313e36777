// Package care maintains a repository: it opens one and finishes interrupted work, checks everything (fsck),
// rebuilds derived data, collects unreachable blocks, and erases permanently.
package care
