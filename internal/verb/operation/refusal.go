package operation

// The kinds of refusals: each tells a program what to do next. Every row of the error table but OK has one kind.
const (
	KindValidation = "validation_failed" // say it differently
	KindNotAllowed = "not_allowed"       // a rule forbids it: asking again does not help
	KindVersion    = "version_conflict"  // read the current version, then write again
	KindNotFound   = "not_found"         // name something else
	KindExec       = "exec_failed"       // it was allowed and made sense, and did not work
)

// Refusal returns the kind of an outcome, "" for OK.
func (o Outcome) Refusal() string {
	switch o {
	case OK:
		return ""
	case Usage, Invalid:
		return KindValidation
	case Refused:
		return KindNotAllowed
	case Conflict:
		return KindVersion
	case NotFound:
		return KindNotFound
	}
	return KindExec
}
