package retrieve

// Intent is the kind of question a recall asks. It decides which links count: clause 26.
type Intent string

// The intents there are. A request without one is no recall.
const (
	IntentAuto    Intent = "auto"    // decided by the words of the text
	IntentWhy     Intent = "why"     // a reason
	IntentWhen    Intent = "when"    // a time
	IntentEntity  Intent = "entity"  // who, what, which or where
	IntentGeneral Intent = "general" // nothing in particular
)

// Intents returns all intents.
func Intents() []Intent {
	return []Intent{IntentAuto, IntentWhy, IntentWhen, IntentEntity, IntentGeneral}
}

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

// Pairing says whether what contradicts an item of an answer follows it: clause 11.8.
type Pairing string

// What becomes of what contradicts an item. A receipt has only PairsOn, and only if it changed
// what was examined: one from before there were pairs, which has neither, replays as it was answered,
// and one of a memory without contradictions is the same as ever.
const (
	PairsOn  Pairing = "on" // it follows the item: the default
	PairsOff Pairing = "off"
)

// Spelling says what becomes of words of the text that no node has: clause 9.10.
type Spelling string

const (
	SpellingOn  Spelling = "on"  // they are read as the closest terms that nodes have: the default
	SpellingOff Spelling = "off" // they find nothing
)

// Format is the form in which items are printed.
type Format string

// The forms.
const (
	FormatYAML  Format = "yaml"  // a line for each field, with full ids: clause 12.1
	FormatBrief Format = "brief" // a head and indented lines, for readers that pay for each token: 12.4
)

// Formats returns all forms.
func Formats() []Format { return []Format{FormatYAML, FormatBrief} }
