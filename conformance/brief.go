package main

import (
	"fmt"
	"regexp"
	"strings"
)

// digitsOf are the first 8 hex digits of an id, or so many more that no other node's begins with them.
func (s *store) digitsOf(id string) string {
	full := hx([]byte(id))
	for n := 8; n < len(full); n += 4 {
		alone := true
		for other := range s.nodes {
			alone = alone && (other == id || !strings.HasPrefix(hx([]byte(other)), full[:n]))
		}
		if alone {
			return full[:n]
		}
	}
	return full
}

// sumOfSource is the sum of a file behind its path.
var sumOfSource = regexp.MustCompile(`^\?sha256=[0-9a-fA-F]{64}(#|$)`)

// withoutSum is how a source is shown: clause 12.4.
func withoutSum(s string) string {
	at := strings.Index(s, "?sha256=")
	if at < 0 || !sumOfSource.MatchString(s[at:]) {
		return s
	}
	return s[:at] + s[at+len("?sha256=")+64:]
}

// brief is clause 12.4.
func (q request) brief(st *store, id string) string {
	node := st.nodes[id]
	ref := escapeLine(text(node, "key"))
	if ref == "" || len(text(node, "key")) > 32 {
		ref = st.digitsOf(id)
	}
	head := []string{"[" + ref + "] " + escapeLine(text(node, "type")), stamp(number(node, "created"))[:10]}
	if sources, ok := node["sources"].([]any); ok {
		head = append(head, escapeLine(withoutSum(sources[0].(string))))
	}
	if mark, ok := st.marks["n"+id]; ok {
		state := text(mark, "state")
		if by := text(mark, "by"); by != "" {
			state += " by [" + st.digitsOf(by) + "]"
		}
		head = append(head, state)
	}
	if by := q.outdated[id]; by != "" {
		head = append(head, "outdated by ["+st.digitsOf(by)+"]")
	}
	var b strings.Builder
	b.WriteString(strings.Join(head, " · ") + "\n")
	indented := func(s string) {
		if s != "" {
			b.WriteString("  " + s + "\n")
		}
	}
	line := func(name, value string) { indented(name + ": " + value) }
	context, summary, content := q.shownTexts(st, node)
	indented(q.capped(context))
	indented(q.capped(summary))
	q.renderProps(node, line)
	if has(q.show, "times") {
		renderTimes(node, line)
	}
	indented(q.capped(content))
	if q.adjacency > 0 {
		for side, arrow := range []string{"→", "←"} {
			q.briefEdges(st, side, id, arrow, indented)
		}
	}
	return b.String()
}

func (q request) briefEdges(st *store, side int, id, arrow string, indented func(s string)) {
	list, more := q.edgesShown(st, side, id)
	for i := 0; i < len(list); {
		var names []string
		typ := list[i].typ
		for ; i < len(list) && list[i].typ == typ; i++ {
			names = append(names, st.nameOf(list[i].far))
		}
		indented(typ + " " + arrow + " " + strings.Join(names, "; "))
	}
	if more > 0 {
		indented(fmt.Sprintf("%s %d more", arrow, more))
	}
}

// nameOf is what a line of an edge calls a node.
func (s *store) nameOf(id string) string {
	for _, field := range []string{"summary", "key"} {
		if t := text(s.nodes[id], field); t != "" {
			if rs := []rune(t); len(rs) > 60 {
				t = string(rs[:60]) + "…"
			}
			return escapeLine(t)
		}
	}
	return s.digitsOf(id)
}
