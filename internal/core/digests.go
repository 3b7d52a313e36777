package core

import (
	"slices"
	"sync"

	"github.com/mnem-project/mnem/ipld"
)

const (
	// maxOpenDigests bounds how many graphs' digests a repository keeps open, which is little more than
	// their links.
	maxOpenDigests = 4
	// MaxDigestSteps is how many commits back digests are looked for to begin with.
	MaxDigestSteps = 1000

	KindDigests    = "digests"
	DigestsVersion = 2
)

// openDigests are the newest used digests, the most recent last.
type openDigests struct {
	Mu   sync.Mutex // held while some are made
	Keys []ipld.CID
	List []any // each *Digests
}

func (o *openDigests) Put(key ipld.CID, d any) {
	if i := slices.Index(o.Keys, key); i >= 0 {
		o.Keys, o.List = slices.Delete(o.Keys, i, i+1), slices.Delete(o.List, i, i+1)
	} else if len(o.Keys) == maxOpenDigests {
		o.Keys, o.List = o.Keys[1:], o.List[1:]
	}
	o.Keys, o.List = append(o.Keys, key), append(o.List, d)
}

func (o *openDigests) Forget() { o.Keys, o.List = nil, nil }
