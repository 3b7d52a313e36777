package cli

import (
	"maps"
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// The shapes of answers with --json, as operation.Schema reads them, put together from parts.
const (
	shapeImportance = `{"value": "int", "importance": "int", "base": "int", "use": "int", ` +
		`"decay": "int", "links": "int", "uses": "int", "linked": "int", "age_seconds": "int", ` +
		`"half_life_days": "int"}`
	shapeProposals = `[{"id": "text", "kind": "expired|duplicate|contradiction|tag|low|` +
		`isolated", "why": "text", "nodes": ["id"], "names": ["text"], "similarity?": "int", ` +
		`"differs?": [{"kind": "text", "a": "text", "b": "text"}], "importance?": ` + shapeImportance +
		`, "tag?": "text", "spellings?": ["text"]}]`
	shapeErased = "node|content|embedding|query|message|edge|mark"

	shapeRemembered = `{"id": "id", "action": "added|superseded|conflict|updated|duplicate", ` +
		`"type": "text", "commit": "cid|null", "no_change": "bool", "dry_run": "bool", ` +
		`"superseded": ["id"], "similar": [{"id": "id", "summary": "text", "similarity": "int", ` +
		`"cosine": "int|null", "differs": [{"kind": "text", "new": "text", "old": "text"}], ` +
		`"suggest": "text"}], "edges": "object", "links?": [{"type": "text", "src": "text", ` +
		`"dst": "text", "weight": "int", "why": "text"}], ` +
		`"candidates": [{"kind": "text", "id": "id", "score": "int"}], ` +
		`"warnings": [{"code": "text", "detail": "text", "message": "text"}], ` +
		`"importance": "int", "effective": "int"}`
)

// shapes lists the shapes of each command's answer, any of which it may have. Commands that are not
// here print no JSON.
func shapes() map[string][]string {
	all := changeShapes()
	maps.Copy(all, recordShapes())
	for path, prints := range machineAnswers() {
		for _, answer := range prints.answers {
			all[path] = append(all[path], ops.ShapeOf(answer))
		}
	}
	for _, v := range verbs() {
		all["mnem "+v.spec.Command] = v.spec.Shapes()
	}
	return all
}

// changeShapes are those of commands that change a memory.
func changeShapes() map[string][]string {
	return map[string][]string{
		"mnem consolidate": {
			`{"commit": "cid|null", "now": "time", "proposals": ` + shapeProposals +
				`, "memories": "int", "declined": "int", "more": "int"}`,
			`{"picked": ` + shapeProposals + `, "marked": ["id"], "unmarked": ["id"], "retagged": ["id"], ` +
				`"commit": "cid|null", "branch": "text", "graph": "cid|null", "no_change": "bool", ` +
				`"dry_run": "bool"}`},
		"mnem remember": {shapeRemembered, `{"duplicate_above": "int", "similar_from": "int", ` +
			`"keep": "bool", "replace": "bool", "commit": "cid|null", "no_change": "bool", ` +
			`"dry_run": "bool"}`},
	}
}

// recordShapes are those of commands about history, records and care.
func recordShapes() map[string][]string {
	return map[string][]string{
		"mnem purge": {`{"node": "id|null", "derived": ["id"], "operation": "cid|null", ` +
			`"branches": [{"ref": "text", "target": "cid"}], "stages": ["text"], ` +
			`"redacted": [{"cid": "cid", "what": "` + shapeErased + `", "name": "text|null"}], ` +
			`"shared": [{"cid": "cid", "what": "content|embedding", "name": "text|null"}], ` +
			`"hits": [{"what": "text", "cid": "cid|null", "name": "text|null"}], ` +
			`"more_hits": "int", "erasure_pending": "bool", "dry_run": "bool"}`},
	}
}

// streams print one object a line instead of one.
func streams(path string) bool {
	if v := verbOf(strings.TrimPrefix(path, "mnem ")); v != nil {
		return v.spec.Stream()
	}
	return path == "mnem remember" || machineAnswers()[path].lines
}
