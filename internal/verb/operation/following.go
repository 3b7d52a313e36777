package operation

// Following is the HEAD of a caller whose git work tree the memory follows.
type Following struct {
	Work   string `json:"work"`            // the git work tree
	Git    string `json:"git"`             // the branch of git, "" if unknown
	Branch string `json:"branch"`          // its memory branch, "" for the branch of the repository's own HEAD
	Doing  string `json:"doing,omitempty"` // "rebase" or "bisect", if one of these is in progress on the branch
	// From are the memory branches of the branches that it started from, the nearest first: until it has a commit, the
	// first that exists is read. The process that opens the repository fills it in.
	From []string `json:"-"`
	// ReadOnly is why nothing is written to the branch, "" if it may be.
	ReadOnly string `json:"read_only,omitempty"`
	// Unknown is whether git could not determine HEAD; ReadOnly has the reason. Requests that depend on HEAD are then
	// refused, unless Branch exists.
	Unknown bool `json:"unknown,omitempty"`
}
