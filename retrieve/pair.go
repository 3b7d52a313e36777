package retrieve

// Pairing says whether what contradicts an item of an answer follows it: clause 11.8.
type Pairing string

// What becomes of what contradicts an item. A receipt has only PairsOn, and only if it changed
// what was examined: one from before there were pairs, which has neither, replays as it was answered,
// and one of a memory without contradictions is the same as ever.
const (
	PairsOn  Pairing = "on" // it follows the item: the default
	PairsOff Pairing = "off"
)
