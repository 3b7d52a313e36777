package retrieve

// Verdict says whether the memory holds an answer to the question: clause 11.9.
type Verdict string

// The verdicts. An answer that is to nothing, or to a time alone, has none.
const (
	Known   Verdict = "known"   // the first items answer it, judged by words and meaning
	Unsure  Verdict = "unsure"  // something related is stored, but it may not answer the question
	Unknown Verdict = "unknown" // nothing of the kind is stored
)

// Surer reports whether a verdict says more is known than another one.
func (v Verdict) Surer(than Verdict) bool { return v.order() > than.order() }

func (v Verdict) order() int {
	switch v {
	case Known:
		return 2
	case Unsure:
		return 1
	}
	return 0
}

// Lack is something that is asked for and that the best item does not have.
type Lack struct {
	Kind string `json:"kind" shape:"word|name|number|date|phrase|negation"`
	Text string `json:"text"`
}

// Kinds of what may be missing.
const (
	LackWord     = "word"     // a word that is no common one
	LackName     = "name"     // a name
	LackNumber   = "number"   // a number, or a word with one
	LackDate     = "date"     // the date: neither said nor the time of the memory
	LackPhrase   = "phrase"   // words in quotation marks
	LackNegation = "negation" // a statement is negated in only one of question and memory
)
