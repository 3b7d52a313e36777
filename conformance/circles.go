package main

import "strings"

const nodeMark = "mark/node/"

// supersededBy is the name of the mark of the node that supersedes what a mark is on, "" for none.
func supersededBy(rec dict) string {
	if rec == nil || text(rec, "on") != "node" || text(rec, "state") != "superseded" || rec["by"] == nil {
		return ""
	}
	return nodeMark + uuid(text(rec, "by"))
}

// comesBack reports whether following the names that next gives ever comes back to one.
func comesBack(from string, next func(string) []string) bool {
	seen := map[string]bool{}
	todo := next(from)
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if at == from {
			return true
		}
		if !seen[at] {
			seen[at] = true
			todo = append(todo, next(at)...)
		}
	}
	return false
}

// circles is clause 14.3.
func (u *union) circles() {
	leads := func(item string) []string {
		records := []dict{u.out[item]}
		if u.open(item) {
			records = []dict{u.base[item], u.ours[item], u.theirs[item]}
		}
		var out []string
		for _, rec := range records {
			if by := supersededBy(rec); by != "" {
				out = append(out, by)
			}
		}
		return out
	}
	for {
		var found []string
		for _, item := range itemNames(u.ours, u.theirs) {
			if strings.HasPrefix(item, nodeMark) && !u.open(item) &&
				!sameRecord(u.ours[item], u.theirs[item]) && comesBack(item, leads) {
				found = append(found, item)
			}
		}
		if found == nil {
			return
		}
		for _, item := range found {
			u.conflicts[item], u.fields[item] = "circle", nil
			rec := u.ours[item]
			if u.virtual {
				rec = u.base[item]
			}
			delete(u.out, item)
			if rec != nil {
				u.out[item] = rec
			}
		}
	}
}

func (u *union) open(item string) bool { return u.conflicts[item] != "" || u.follow[item] }

// circle returns an error where a batch closes a circle (clause 5.2).
func (b *batch) circle(before map[string]dict) error {
	for key := range b.marks {
		if key[0] != 'n' || sameRecord(before[key], b.marks[key]) {
			continue
		}
		next := func(item string) []string {
			for k, rec := range b.marks {
				if by := supersededBy(rec); by != "" && nodeMark+uuid(k[1:]) == item {
					return []string{by}
				}
			}
			return nil
		}
		if from := nodeMark + uuid(key[1:]); comesBack(from, next) {
			line := 0
			for k := range b.marks {
				if item := nodeMark + uuid(k[1:]); k[0] == 'n' && comesBack(item, next) {
					line = max(line, b.given["m"+k])
				}
			}
			return &lineError{line: line, err: fail("circle", "nodes that supersede each other")}
		}
	}
	return nil
}
