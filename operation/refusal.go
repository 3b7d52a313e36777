package operation

// The kinds of refusals: what a program that was refused does next. Every code of the error table
// but "ok" is of one kind.
const (
	ValidationFailed = "validation_failed" // say it differently
	NotAllowed       = "not_allowed"       // a rule forbids it: asking again does not help
	VersionConflict  = "version_conflict"  // read again what is there now, then write again
	NotFound         = "not_found"         // name something else
	ExecFailed       = "exec_failed"       // it was allowed and made sense, and did not work
)

// Refusal returns the kind of the refusals with a code of the error table, "" for "ok".
func Refusal(code string) string {
	switch code {
	case "ok":
		return ""
	case "usage", "invalid_input":
		return ValidationFailed
	case "refused":
		return NotAllowed
	case "conflict":
		return VersionConflict
	case "not_found":
		return NotFound
	}
	return ExecFailed
}
