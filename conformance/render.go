package main

import (
	"fmt"
	"strings"
	"time"
)

func stamp(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// capped cuts a text to the request's cap and escapes it (clause 12.2).
func (q request) capped(s string) string { return cappedTo(s, q.summaryCap) }

func cappedTo(s string, most int64) string {
	rs := []rune(s)
	if most == 0 || int64(len(rs)) <= most {
		return escapeLine(s)
	}
	return escapeLine(string(rs[:most]) + fmt.Sprintf(" <...+%d chars>", int64(len(rs))-most))
}

var reservedNames = []string{"ntype", "id", "state", "context", "summary", "created", "updated",
	"valid", "key", "content", "outgoing", "incoming"}

func (q request) propLabel(name string) string {
	b := []byte(name)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 32
		}
	}
	if has(reservedNames, string(b)) || q.second() && string(b) == "outdated by" || strings.HasPrefix(name, "props.") ||
		strings.HasPrefix(name, " ") || strings.HasSuffix(name, " ") ||
		strings.Contains(name, ":") {
		return "props." + escapeLine(name)
	}
	return escapeLine(name)
}

// render is clause 12.
func (q request) render(st *store, id string) string {
	if q.format == "brief" {
		return q.brief(st, id)
	}
	node := st.nodes[id]
	var b strings.Builder
	line := func(name, value string) { b.WriteString(name + ": " + value + "\n") }
	line("ntype", escapeLine(text(node, "type")))
	line("id", uuid(id))
	if mark, ok := st.marks["n"+id]; ok {
		state := text(mark, "state")
		if by := text(mark, "by"); by != "" {
			state += " (by " + uuid(by) + ")"
		}
		line("state", state)
	}
	if by := q.outdated[id]; by != "" {
		line("outdated by", uuid(by))
	}
	context, summary, content := q.shownTexts(st, node)
	for _, t := range [][2]string{{"context", context}, {"summary", summary}} {
		if t[1] != "" {
			line(t[0], q.capped(t[1]))
		}
	}
	if has(q.show, "times") {
		renderTimes(node, line)
	}
	if key := text(node, "key"); key != "" && has(q.show, "key") {
		line("key", escapeLine(key))
	}
	q.renderProps(node, line)
	if content != "" {
		line("content", q.capped(content))
	}
	if q.adjacency > 0 {
		q.renderEdges(st, id, &b)
	}
	return b.String()
}

// showsContent is the condition of the line of a content: clause 12.1.
func (q request) showsContent(node dict) bool {
	return has(q.show, "content") || isChunk(node)
}

func isChunk(node dict) bool {
	return text(node, "type") == "Chunk" && strings.HasPrefix(text(node, "key"), "doc/")
}

// trims reports whether a node's texts are trimmed: clause 11.6.
func (q request) trims(node dict) bool {
	return q.packing == "passages" || q.auto() && q.later && isChunk(node) && trimmed(q.text) != ""
}

func (q request) auto() bool { return q.packing == "" || q.packing == "auto" }

// cuts reports whether they become other texts.
func (q request) cuts(st *store, node dict) bool {
	content := st.contentText(node)
	return q.trims(node) && (q.trim(st, content) != content || q.trim(st, text(node, "summary")) != text(node, "summary"))
}

// shownTexts are the context, summary and content that are shown, empty for none.
func (q request) shownTexts(st *store, node dict) (context, summary, content string) {
	context, summary = text(node, "context"), text(node, "summary")
	switch {
	case q.trims(node):
		summary, content = q.trim(st, summary), q.trim(st, st.contentText(node))
	case q.showsContent(node):
		content = st.contentText(node)
	}
	return context, summary, content
}

func (q request) renderProps(node dict, line func(name, value string)) {
	props := node["props"].(dict)
	for _, name := range sortedKeys(props) {
		switch v := props[name].(type) {
		case string:
			line(q.propLabel(name), q.capped(v))
		case int64, float64, bool:
			line(q.propLabel(name), jsonForm(v))
		}
	}
}

func renderTimes(node dict, line func(name, value string)) {
	line("created", stamp(number(node, "created")))
	if _, ok := node["updated"]; ok {
		line("updated", stamp(number(node, "updated")))
	}
	ends := [2]string{"..", ".."}
	for i, name := range []string{"validFrom", "validTo"} {
		if _, ok := node[name]; ok {
			ends[i] = stamp(number(node, name))
		}
	}
	if ends != [2]string{"..", ".."} {
		line("valid", ends[0]+"/"+ends[1])
	}
}

// edgeShown is an edge that is printed: its type and the other end.
type edgeShown struct{ typ, far string }

// edgesShown are those of clause 12.3 in a bucket, and how many more there are.
func (q request) edgesShown(st *store, side int, id string) (list []edgeShown, more int) {
	bucket := st.bucket(side, id)
	examined := 0
	for _, k := range bucket {
		if int64(len(list)) == q.adjacency || examined == 1000 {
			break
		}
		examined++
		edge, far := k[len(k)-16:], k[len(k)-32:len(k)-16]
		if !q.hides(st, "e"+edge) && !q.hides(st, "n"+far) {
			list = append(list, edgeShown{escapeLine(text(st.edges[edge], "type")), far})
		}
	}
	return list, len(bucket) - examined
}

// renderEdges is clause 12.3.
func (q request) renderEdges(st *store, id string, b *strings.Builder) {
	for side, title := range []string{"Outgoing:", "Incoming:"} {
		sign := []string{"->", "<-"}[side]
		list, more := q.edgesShown(st, side, id)
		var lines []string
		for _, e := range list {
			lines = append(lines, "  "+e.typ+" "+sign+" "+uuid(e.far))
		}
		if more > 0 {
			lines = append(lines, fmt.Sprintf("  ... (+%d more)", more))
		}
		if len(lines) > 0 {
			b.WriteString(title + "\n" + strings.Join(lines, "\n") + "\n")
		}
	}
}
