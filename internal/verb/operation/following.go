package operation

// Following is what HEAD is for a caller whose git work tree the memory follows.
type Following struct {
	Work   string `json:"work"`            // the git work tree
	Git    string `json:"git"`             // the branch of git, "" where it is not known
	Branch string `json:"branch"`          // its memory branch, "" for what the repository's own HEAD is on
	Doing  string `json:"doing,omitempty"` // "rebase" or "bisect", where the branch is that which this is about
	// From are the memory branches of those that it came from, the nearest first: until it has a commit, the first
	// that exists is what is read. The process that opens the repository asks for them.
	From []string `json:"-"`
	// ReadOnly is why nothing is written to the branch, "" if it may be.
	ReadOnly string `json:"read_only,omitempty"`
	// Unknown is whether git could not tell what HEAD is; ReadOnly is why. What depends on HEAD is refused then, unless
	// Branch exists.
	Unknown bool `json:"unknown,omitempty"`
}
