package graph

import "strings"

// RefName names a ref: HEAD, or one in the namespaces of refs/.
type RefName string

// Head is the ref that names the current branch.
const Head RefName = "HEAD"

// Namespaces of refs.
const (
	Heads     = "refs/heads/"
	Tags      = "refs/tags/"
	Remotes   = "refs/remotes/"
	Sessions  = "refs/sessions/"
	Stages    = "refs/stage/"
	Conflicts = "refs/conflicts/"
)

var namespaces = []string{Heads, Tags, Remotes, Sessions, Stages, Conflicts}

// BranchRef returns the ref of a branch. The name is not checked: ValidateRef does that.
func BranchRef(branch string) RefName { return RefName(Heads + branch) }

// TagRef returns the ref of a tag.
func TagRef(tag string) RefName { return RefName(Tags + tag) }

// StageRef returns the ref of a stage.
func StageRef(stage string) RefName { return RefName(Stages + stage) }

// Split returns the namespace of a ref, with its slash at the end, and the name in it. Both are
// empty for HEAD and for names outside the namespaces.
func (r RefName) Split() (namespace, name string) {
	for _, ns := range namespaces {
		if rest, ok := strings.CutPrefix(string(r), ns); ok {
			return ns, rest
		}
	}
	return "", ""
}

// Branch returns the name of a branch's ref, and false for other refs.
func (r RefName) Branch() (string, bool) { return strings.CutPrefix(string(r), Heads) }

// ValidateRef returns a *FieldError unless r is HEAD or a valid name in one of the namespaces.
func ValidateRef(r RefName) error {
	if r == Head {
		return nil
	}
	namespace, name := r.Split()
	if namespace == "" {
		return Fieldf("", "%s is not a ref: want HEAD or refs/heads/NAME, refs/tags/NAME …",
			quote(string(r)))
	}
	return ValidateName(name)
}

// ValidateName returns a *FieldError unless name may follow a namespace: as the name of a branch,
// tag, stage or session.
func ValidateName(name string) error {
	if err := CheckText("", name, 1, MaxRefName); err != nil {
		return within("name", err)
	}
	if reason := badName(name); reason != "" {
		return Fieldf("", "name %s %s", quote(name), reason)
	}
	return nil
}

// badName returns why a name is refused, or "". The rules are those of git, so that names can be
// told apart from revisions like HEAD~1 and can be file names.
func badName(name string) string {
	switch {
	case name == "@" || name == string(Head):
		return "is reserved"
	case name[0] == '-':
		return "begins with -"
	case strings.Contains(name, ".."):
		return "contains .."
	case strings.Contains(name, "@{"):
		return "contains @{"
	case strings.ContainsFunc(name, isControl):
		return "contains a control character"
	case strings.ContainsAny(name, ` ~^:?*[\`):
		return `contains a space or one of ~ ^ : ? * [ \`
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return "has an empty part"
		case part[0] == '.':
			return "has a part that begins with ."
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock"):
			return "has a part that ends with . or .lock"
		}
	}
	return ""
}
