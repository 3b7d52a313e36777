package retrieve

import (
	"strings"

	"github.com/mnem-project/mnem/ipld"
)

// Warnings about what was asked for and had nothing to do: clause 11.1.
const (
	NoType   Code = "no_type"
	NoEffect Code = "no_effect"
)

// idleInfos documents the codes of this file.
var idleInfos = []WarningInfo{
	{
		Code:    NoType,
		When:    "the request names types that no node has",
		Message: "no node has the type {types}",
		Remedy:  "correct --type; 'mnem stats' lists the types there are",
	},
	{
		Code:    NoEffect,
		When:    "what the request asks for had nothing to work on",
		Message: "what had nothing to work on, and changed nothing: {parameters}",
		Remedy:  "leave it out; docs/reference/answers.md says what each needs, --explain what was found",
	},
}

// flags names the flags of the parameters that a warning names.
func (w Warning) flags() string {
	v, _ := ipld.FindEntry(w.Params, "parameters")
	list := make([]string, len(v.List()))
	for i, name := range v.List() {
		list[i] = shownFlag(name.Text())
	}
	return strings.Join(list, ", ")
}
