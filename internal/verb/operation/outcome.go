package operation

import (
	"net/http"
)

// Outcome is a row of the error table: what became of a call, and how each surface says so. For MCP
// every row but OK is an error of the tool.
type Outcome struct {
	Code string // in the JSON form of errors
	Exit int    // exit code of the process
	HTTP int    // status of the response
	When string // for help and docs
}

// The error table. The help of the command line and the docs are made from it.
var (
	OK       = Outcome{"ok", 0, http.StatusOK, "success; also: nothing to commit, an empty answer, a diff with changes"}
	Failed   = Outcome{"failed", 1, http.StatusInternalServerError, "the system failed: disk full, no permission"}
	Invalid  = Outcome{"invalid_input", 1, http.StatusUnprocessableEntity, "a bad change line, name, value or revision"}
	Usage    = Outcome{"usage", 2, http.StatusBadRequest, "an unknown command or flag, or flags that exclude each other"}
	NotFound = Outcome{"not_found", 3, http.StatusNotFound,
		"no such repository, revision, node, edge, session, profile or key"}
	Mismatch = Outcome{"mismatch", 4, http.StatusConflict, "a replay differs, or a signature does not hold"}
	Corrupt  = Outcome{"corrupt", 4, http.StatusInternalServerError, "stored bytes are not what was written"}
	Ranking  = Outcome{"ranking_version", 4, http.StatusConflict,
		"a receipt needs a ranking version this program lacks"}
	Redacted = Outcome{"redacted", 4, http.StatusGone, "what is asked for, or replayed, was purged"}
	Conflict = Outcome{"conflict", 5, http.StatusConflict,
		"the branch is not where the write expected it, or a merge that does not resolve itself"}
	Busy = Outcome{"busy", 6, http.StatusServiceUnavailable,
		"another process has the repository and neither answers nor lets go, or ended midway"}
	Refused = Outcome{"refused", 7, http.StatusForbidden,
		"a rule forbids it: the policy, a missing signature, a revoked key, a credential in what is to " +
			"be written, a secret open to others, a purge without --yes, a role without rights in a database"}
	Unknown    = Outcome{"unknown", 8, http.StatusOK, "with --strict: nothing of what is asked is stored"}
	Incomplete = Outcome{"incomplete", 9, http.StatusUnprocessableEntity,
		"some records could not be read or have an unknown kind; all others were stored"}
	Interrupted = Outcome{"interrupted", 130, http.StatusServiceUnavailable, "stopped by a signal"}
)

// Outcomes returns the rows of the table in the order of the docs.
func Outcomes() []Outcome {
	return []Outcome{
		OK, Failed, Invalid, Usage, NotFound, Mismatch, Corrupt, Ranking, Redacted, Conflict, Busy,
		Refused, Unknown, Incomplete, Interrupted,
	}
}

// WithCode returns the row of a code.
func WithCode(code string) (Outcome, bool) {
	for _, o := range Outcomes() {
		if o.Code == code {
			return o, true
		}
	}
	return Outcome{}, false
}

// WithExit returns what an exit code means if no error says more: the first row that has it, and
// Failed for a code that no row has.
func WithExit(code int) Outcome {
	for _, o := range Outcomes() {
		if o.Exit == code {
			return o
		}
	}
	return Failed
}

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
