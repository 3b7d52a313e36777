package state

// Candidate is a node that a text may mean.
type Candidate struct {
	ID    string // as many digits as tell it from all others of the commit
	Title string // the beginning of its summary, else its key, on one line; "" where that holds a credential
}
