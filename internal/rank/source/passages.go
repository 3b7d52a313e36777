package source

// TermWeight is a distinct term of a query and what it weighs there.
type TermWeight struct {
	Term   string
	Weight int64 // how often it is there times its idf of clause 9.2; 0 for a term that no node has
}
