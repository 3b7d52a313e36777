package operation

// Outcome is a row of the error table: what became of a call, and how each surface says so.
type Outcome struct {
	Code string // in the JSON form of errors
	Exit int    // exit code of the process
	HTTP int    // status of the response
	When string // for help and docs
}
