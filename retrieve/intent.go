package retrieve

// Intent is what a request asks for. It decides which links count in a recall: clause 26.
type Intent string

// The intents there are. A request without one is no recall.
const (
	IntentAuto    Intent = "auto"    // that which the words of the text tell
	IntentWhy     Intent = "why"     // a reason
	IntentWhen    Intent = "when"    // a time
	IntentEntity  Intent = "entity"  // who, what, which or where
	IntentGeneral Intent = "general" // nothing in particular
)

// Intents returns all intents.
func Intents() []Intent {
	return []Intent{IntentAuto, IntentWhy, IntentWhen, IntentEntity, IntentGeneral}
}
