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
