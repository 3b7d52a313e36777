package links

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// Few is the largest number of edges on both sides of a node that is not busy. Expansion lets nodes receive less only
// if they have more.
const Few = 4

// busyLen is the length of a busy node: its id, and its edges out and in, u16, the largest for all larger numbers.
const busyLen = graph.IDLen + 4

// busyPart holds busy nodes: their number, u16, their ids, ascending, and then their numbers of edges in the same
// order.
type busyPart []byte

const busyHead = 2

func (p busyPart) len() int { return (len(p) - busyHead) / busyLen }

func (p busyPart) ids() segment.IDPart { return segment.IDPart(p[busyHead:][:p.len()*graph.IDLen]) }

func (p busyPart) degrees(i int) [2]int {
	at := p[busyHead+len(p.ids())+4*i:]
	return [2]int{int(binary.LittleEndian.Uint16(at)), int(binary.LittleEndian.Uint16(at[2:]))}
}

func decodeBusy(key, data []byte) (busyPart, int, error) {
	p := busyPart(data)
	if len(data) <= busyHead || len(data) != busyHead+busyLen*int(binary.LittleEndian.Uint16(data)) {
		return nil, 0, segment.Corrupt("%d bytes are no busy nodes", len(data))
	}
	ids, err := segment.DecodeIDs(p.ids(), p.len())
	if err == nil && !bytes.Equal(ids.At(0), key) {
		err = segment.Corrupt("part begins with %x", ids.At(0))
	}
	for i := range p.len() {
		if err == nil && !isBusy(p.degrees(i)) {
			err = segment.Corrupt("node %x is not busy", ids.At(i))
		}
	}
	return p, len(data), err
}

// busy returns the numbers of edges of a node that is busy in a segment.
func (r reader) busy(ctx context.Context, s *segment.Segment, id graph.ID) (degrees [2]int, ok bool, err error) {
	p, n, err := segment.Covering(ctx, r.Reader, s, secBusy, id[:], decodeBusy)
	if n < 0 || err != nil {
		return degrees, false, err
	}
	i, ok := p.ids().Find(id)
	if ok {
		degrees = p.degrees(i)
	}
	return degrees, ok, nil
}

// stored returns numbers of edges as a busy node stores them.
func stored(degrees [2]int) [2]int {
	for i, n := range degrees {
		degrees[i] = min(n, math.MaxUint16)
	}
	return degrees
}

func isBusy(degrees [2]int) bool { return max(degrees[Out], degrees[In]) > Few }

// saturated reports whether a number is the largest that a busy node stores.
func (f Found) saturated() bool { return max(f.degrees[Out], f.degrees[In]) == math.MaxUint16 }

// busyWriter gathers the busy nodes of a segment.
type busyWriter struct {
	section      *segment.Section
	ids, degrees []byte
}

func (w *busyWriter) add(n *Node) error {
	degrees := [2]int{n.Out.Degree, n.In.Degree}
	if !isBusy(degrees) {
		return nil
	}
	if len(w.ids)+len(w.degrees) == busySize-busyHead { // the nodes themselves are longer, so parts are not inline
		if err := w.cut(); err != nil {
			return err
		}
	}
	w.ids = append(w.ids, n.ID[:]...)
	for _, d := range stored(degrees) {
		w.degrees = binary.LittleEndian.AppendUint16(w.degrees, uint16(d))
	}
	return nil
}

func (w *busyWriter) cut() error {
	if len(w.ids) == 0 {
		return nil
	}
	w.section.Key = bytes.Clone(w.ids[:graph.IDLen])
	w.section.Buf = binary.LittleEndian.AppendUint16(w.section.Buf, uint16(len(w.ids)/graph.IDLen))
	w.section.Buf = append(append(w.section.Buf, w.ids...), w.degrees...)
	w.ids, w.degrees = w.ids[:0], w.degrees[:0]
	return w.section.Cut()
}
