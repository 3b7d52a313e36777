package retrieve

// Band says how well an item answers the question: clause 11.9.
type Band string

// The bands.
const (
	BandAnswer Band = "answer" // it answers the question, judged by words and vectors
	BandMaybe  Band = "maybe"  // it may
	BandRest   Band = "rest"   // it has something of the question, and that is all
)

// Floor is the last band whose items are in an answer.
type Floor string

// The floors. With FloorMaybe there are at most two items that are not sure, after the answers; with
// FloorRest all items are in the order of their ranks.
const (
	FloorAnswer Floor = "answer"
	FloorMaybe  Floor = "maybe"
	FloorRest   Floor = "rest"
)

// Floors returns all floors.
func Floors() []Floor { return []Floor{FloorAnswer, FloorMaybe, FloorRest} }
