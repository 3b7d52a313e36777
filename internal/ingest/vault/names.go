package vault

import (
	"cmp"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/ingest/parse"
)

const (
	// maxStem, maxDir and maxPath bound the names of notes, directories and paths, in bytes. Windows allows 260
	// characters, including the path of the vault.
	maxStem = 80
	maxDir  = 40
	maxPath = 160
	// shortID is the number of id digits that distinguish memories with the same name.
	shortID = 8
)

// isDevice reports whether Windows reserves a name, up to its first dot, for a device.
func isDevice(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	port, of := strings.CutPrefix(name, "com")
	if !of {
		port, of = strings.CutPrefix(name, "lpt")
	}
	switch name {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	return of && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}

// safe turns a text into the name of a file or directory of at most n bytes, "" if no character is allowed in one.
func safe(s string, n int) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == utf8.RuneError, strings.ContainsRune(`<>:"/\|?*#^[]%~`, c):
			c = '-'
		case unseen(c):
			c = ' '
		}
		b.WriteRune(c)
	}
	name := strings.Join(strings.Fields(b.String()), " ")
	name = strings.Trim(text.FirstBytes(strings.TrimLeft(name, ". "), n), ". ")
	if strings.Trim(name, "- ") == "" {
		return ""
	}
	if head, _, _ := strings.Cut(name, "."); isDevice(head) {
		name = "_" + text.FirstBytes(name, n-1)
	}
	return name
}

// runes are characters from one to another.
type runes struct{ from, to rune }

func within(c rune, list []runes) bool {
	return slices.ContainsFunc(list, func(r runes) bool { return r.from <= c && c <= r.to })
}

// unseen reports whether a character is a blank, controls something, or belongs to a private area.
func unseen(c rune) bool {
	return within(c, []runes{
		{0, ' '}, {0x7f, 0xa0}, {0xad, 0xad}, {0x61c, 0x61c}, {0x1680, 0x1680}, {0x180e, 0x180e}, {0x2000, 0x200f},
		{0x2028, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000}, {0xe000, 0xf8ff}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff},
		{0xfff0, 0xffff}, {0xe0000, 0x10ffff},
	})
}

// combines reports whether a character may be a part of the one before it in another form of the same text.
func combines(c rune) bool {
	return within(c, []runes{{0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0x3099, 0x309a},
		{0xfe20, 0xfe2f}})
}

// fold returns a path as a file system compares it that ignores case and composition.
func fold(name string) string {
	return strings.Map(func(c rune) rune {
		if combines(c) {
			return -1
		}
		return c
	}, parse.Fold(name))
}

type namer struct {
	wanted map[string]int    // how often each name is wanted, folded
	taken  map[string]bool   // folded
	dirs   map[string]string // each directory as it was first written, by its folded name
}

func newNamer() *namer {
	return &namer{wanted: make(map[string]int), taken: make(map[string]bool), dirs: make(map[string]string)}
}

// want counts a wanted name: one wanted twice gets an id.
func (n *namer) want(name string) { n.wanted[fold(name)]++ }

// name returns the name of a file without its extension: the wanted one, with the id if others want it too.
func (n *namer) name(dir, stem, ending string, id graph.ID) string {
	dir = n.dir(dir)
	stem = cmp.Or(stem, hex.EncodeToString(id[:])[:shortID])
	name := path.Join(dir, stem)
	if n.wanted[fold(name+ending)] > 1 || n.taken[fold(name+ending)] {
		for _, digits := range []int{shortID, 2 * len(id)} { // no two files have one id
			name = path.Join(dir, text.FirstBytes(stem, maxPath-len(dir)-digits-2)+" "+hex.EncodeToString(id[:])[:digits])
			if !n.taken[fold(name+ending)] {
				break
			}
		}
	}
	n.taken[fold(name+ending)] = true
	return name
}

// dir returns a directory as it was first written: names that differ in case alone are one directory on some systems.
func (n *namer) dir(dir string) string {
	out := ""
	for part := range strings.SplitSeq(dir, "/") {
		at := path.Join(out, part)
		if _, is := n.dirs[fold(at)]; !is {
			n.dirs[fold(at)] = at
		}
		out = n.dirs[fold(at)]
	}
	return out
}

// noteName returns the wanted path of a memory's note.
func noteName(n *graph.Node) (dir, stem string) {
	if dir = safe(n.Type, maxDir); dir == "" {
		dir = "Memory"
	}
	if fold(dir) == fold(documentsDir) {
		dir = "_" + dir // what is below documentsDir is no note
	}
	title, _, _ := strings.Cut(cmp.Or(strings.TrimSpace(n.Summary), n.Key), "\n")
	return dir, safe(title, maxStem)
}

// documentName returns the wanted path of a document: its own, with names that every system allows.
func documentName(project, name, more string) (dir, stem, ending string) {
	dir = documentsDir
	parts := strings.Split(path.Join(project, name), "/")
	for _, part := range parts[:len(parts)-1] {
		if part = safe(part, maxDir); part == "" {
			part = "_"
		}
		if len(dir)+len(part) < maxPath-maxStem {
			dir = path.Join(dir, part)
		}
	}
	base := parts[len(parts)-1]
	ending = strings.TrimPrefix(safe("x"+path.Ext(base), 16), "x")
	stem = safe(strings.TrimSuffix(base, path.Ext(base)), maxStem-len(ending)-len(more))
	return dir, stem, ending + more
}

// documentsDir is the directory of documents.
const documentsDir = "Documents"
