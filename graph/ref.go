package graph

import (
	"cmp"
	"strings"
)

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
	Imported  = "refs/imported/" // imports, by their given name: ImportedRef
)

var namespaces = []string{Heads, Tags, Remotes, Sessions, Stages, Conflicts, Imported}

// importedKinds follow the name of an import in a ref.
var importedKinds = []string{"/heads/", "/tags/", "/sessions/", "/objects/"}

// ImportedRef returns the ref of a branch, tag or session of an import of that name. The import's name is not
// checked: ValidateImport does that. r must be a valid ref.
func ImportedRef(name string, r RefName) RefName {
	return RefName(Imported + name + strings.TrimPrefix(string(r), "refs"))
}

// ImportedObject returns the ref of an import's object that has no ref of its own, by the text form of its CID.
func ImportedObject(name, cid string) RefName { return RefName(Imported + name + "/objects/" + cid) }

// BranchRef returns the ref of a branch. The name is not checked: ValidateRef does that.
func BranchRef(branch string) RefName { return RefName(Heads + branch) }

// TagRef returns the ref of a tag.
func TagRef(tag string) RefName { return RefName(Tags + tag) }

// StageRef returns the ref of a stage.
func StageRef(stage string) RefName { return RefName(Stages + stage) }

// Split returns the namespace of a ref, with its trailing slash, and the name in it. Both are empty for HEAD and
// for names outside the namespaces.
func (r RefName) Split() (namespace, name string) {
	for _, ns := range namespaces {
		if rest, ok := strings.CutPrefix(string(r), ns); ok {
			return ns, rest
		}
	}
	return "", ""
}

// SplitImported returns the parts of a ref in the namespace Imported: the name of the import, the namespace that the
// ref had (Heads, Tags or Sessions; "refs/objects/" for an object), and the name in it. All are empty for other refs.
func (r RefName) SplitImported() (imported, namespace, name string) {
	rest, ok := strings.CutPrefix(string(r), Imported)
	if !ok {
		return "", "", ""
	}
	for _, kind := range importedKinds {
		if imported, name, ok = strings.Cut(rest, kind); ok && !strings.Contains(imported, "/") {
			return imported, "refs" + kind, name
		}
	}
	return "", "", ""
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
		return Fieldf("", "%s is not a ref: want HEAD or refs/heads/NAME, refs/tags/NAME …", quote(string(r)))
	}
	if namespace != Imported {
		return ValidateName(name)
	}
	imported, _, name := r.SplitImported()
	if imported == "" {
		return Fieldf("", "%s is not a ref: want %sNAME/heads/BRANCH, %sNAME/tags/TAG …",
			quote(string(r)), Imported, Imported)
	}
	return cmp.Or(ValidateImport(imported), ValidateName(name))
}

// ValidateImport returns a *FieldError unless name is a valid name of an import.
func ValidateImport(name string) error {
	if strings.Contains(name, "/") || len(name) > MaxImportName {
		return Fieldf("", "name %s: want one part of at most %d bytes", quote(name), MaxImportName)
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

// badName returns why a name is refused, or "". The rules are git's, so that names can be distinguished from
// revisions like HEAD~1 and can be file names.
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
