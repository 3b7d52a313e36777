package retrieve

// Spelling says what becomes of words of the text that no node has: clause 9.10.
type Spelling string

const (
	SpellingOn  Spelling = "on"  // they are read as the closest terms that nodes have: the default
	SpellingOff Spelling = "off" // they find nothing
)

// Reading is a word of a text that no node has, and what it is read as.
type Reading struct {
	Word string `json:"-"`    // the text's first token that becomes the term
	Term string `json:"term"` // of the text
	As   string `json:"as"`   // the closest term that nodes have
}
