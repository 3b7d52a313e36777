package retrieve

// AddedTerm is a kindred term that a query is widened by.
type AddedTerm struct {
	Term   string
	Weight int64 // in units of 2^-16, 1 to 65,536; a word of the query counts 65,536
}
