package core

import (
	"slices"
	"sync"

	"github.com/mnem-project/mnem/community"
	"github.com/mnem-project/mnem/ipld"
)

// maxOpenCommunities bounds how many graphs' communities a repository keeps in memory.
const maxOpenCommunities = 4

// openCommunities are the newest used communities, the most recent last.
type openCommunities struct {
	Mu   sync.Mutex // held while some are found or kept
	Outs []ipld.CID // roots of the out trees they are of
	List []*community.Partition
}

func (o *openCommunities) Put(out ipld.CID, p *community.Partition) {
	if i := slices.Index(o.Outs, out); i >= 0 {
		o.Outs, o.List = slices.Delete(o.Outs, i, i+1), slices.Delete(o.List, i, i+1)
	} else if len(o.Outs) == maxOpenCommunities {
		o.Outs, o.List = o.Outs[1:], o.List[1:]
	}
	o.Outs, o.List = append(o.Outs, out), append(o.List, p)
}
