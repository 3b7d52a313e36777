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
func (q request) capped(s string) string {
	rs := []rune(s)
	if q.summaryCap == 0 || int64(len(rs)) <= q.summaryCap {
		return escapeLine(s)
	}
	left := int64(len(rs)) - q.summaryCap
	return escapeLine(string(rs[:q.summaryCap]) + fmt.Sprintf(" <...+%d chars>", left))
}

var reservedNames = []string{"ntype", "id", "state", "context", "summary", "created", "updated",
	"valid", "key", "content", "outgoing", "incoming"}

func propLabel(name string) string {
	b := []byte(name)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 32
		}
	}
	if has(reservedNames, string(b)) || strings.HasPrefix(name, "props.") ||
		strings.HasPrefix(name, " ") || strings.HasSuffix(name, " ") ||
		strings.Contains(name, ":") {
		return "props." + escapeLine(name)
	}
	return escapeLine(name)
}

// render is clause 12.
func (q request) render(st *store, id string) string {
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
	for _, name := range []string{"context", "summary"} {
		s := text(node, name)
		if q.packing != "" && name == "summary" {
			s = q.trim(st, s)
		}
		if s != "" {
			line(name, q.capped(s))
		}
	}
	if has(q.show, "times") {
		renderTimes(node, line)
	}
	if key := text(node, "key"); key != "" && has(q.show, "key") {
		line("key", escapeLine(key))
	}
	props := node["props"].(dict)
	for _, name := range sortedKeys(props) {
		switch v := props[name].(type) {
		case string:
			line(propLabel(name), q.capped(v))
		case int64, float64, bool:
			line(propLabel(name), jsonForm(v))
		}
	}
	content := st.contentText(node)
	if q.packing != "" {
		content = q.trim(st, content)
	}
	if content != "" && (q.packing != "" || has(q.show, "content")) {
		line("content", q.capped(content))
	}
	if q.adjacency > 0 {
		q.renderEdges(st, id, &b)
	}
	return b.String()
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

// renderEdges is clause 12.3.
func (q request) renderEdges(st *store, id string, b *strings.Builder) {
	for side, title := range []string{"Outgoing:", "Incoming:"} {
		sign := []string{"->", "<-"}[side]
		bucket := st.bucket(side, id)
		var lines []string
		examined := 0
		for _, k := range bucket {
			if int64(len(lines)) == q.adjacency || examined == 1000 {
				break
			}
			examined++
			edge, far := k[len(k)-16:], k[len(k)-32:len(k)-16]
			if !q.hides(st, "e"+edge) && !q.hides(st, "n"+far) {
				typ := escapeLine(text(st.edges[edge], "type"))
				lines = append(lines, "  "+typ+" "+sign+" "+uuid(far))
			}
		}
		if more := len(bucket) - examined; more > 0 {
			lines = append(lines, fmt.Sprintf("  ... (+%d more)", more))
		}
		if len(lines) > 0 {
			b.WriteString(title + "\n" + strings.Join(lines, "\n") + "\n")
		}
	}
}
