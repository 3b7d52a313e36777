package dense

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// column is rows of one width, one after another: bytes inside the segment's block, or parts of
// per rows each, fewer in the last, under directories.
type column struct {
	width, per, rows int
	data             []byte     // all of it where it is inline
	dirs             []ipld.CID // else raw blocks of the CIDs of dirFan parts each
}

// parts returns the number of parts.
func (c *column) parts() int { return (c.rows + c.per - 1) / c.per }

// partRows returns how many rows part n has.
func (c *column) partRows(n int) int { return min(c.per, c.rows-n*c.per) }

func (c *column) inline() bool { return len(c.dirs) == 0 }

func (c *column) append(b []byte) []byte {
	if c.inline() {
		return ipld.AppendBytes(b, c.data)
	}
	b = ipld.AppendList(b, len(c.dirs))
	for _, d := range c.dirs {
		b = ipld.AppendLink(b, d)
	}
	return b
}

// decode reads a column whose width, per and rows are known.
func (c *column) decode(item []byte) error {
	d, err := ipld.NewDecoder(item)
	if err != nil {
		return err
	}
	if item[0]>>5 == 2 { // a byte string
		data, err := d.Bytes()
		if err == nil && len(data) != c.rows*c.width {
			err = d.Errorf("%d bytes of %d rows of %d", len(data), c.rows, c.width)
		}
		c.data = bytes.Clone(data)
		return err
	}
	n, err := d.List()
	if err != nil {
		return err
	}
	if n == 0 || n != (c.parts()+dirFan-1)/dirFan {
		return d.Errorf("%d directories of %d parts", n, c.parts())
	}
	c.dirs = make([]ipld.CID, n)
	for i := range c.dirs {
		if c.dirs[i], err = d.Link(); err != nil {
			return err
		}
	}
	return nil
}

// reader reads blocks through a cache. Safe for concurrent use.
type reader struct {
	get   store.Getter
	cache *Cache
}

// part returns the rows of part n, which must not be changed.
func (r *reader) part(ctx context.Context, c *column, n int) ([]byte, error) {
	want := c.partRows(n) * c.width
	if c.inline() {
		from := n * c.per * c.width
		return c.data[from : from+want], nil
	}
	dir, err := r.dir(ctx, c, n/dirFan)
	if err != nil {
		return nil, err
	}
	return r.block(ctx, dir[n%dirFan], want)
}

// block returns a raw block that must have a number of bytes.
func (r *reader) block(ctx context.Context, c ipld.CID, want int) ([]byte, error) {
	kept, _, epoch := r.cache.Get(c)
	if data, ok := kept.([]byte); ok && len(data) == want {
		return data, nil
	}
	data, err := r.get.Get(ctx, c)
	if err == nil && len(data) != want {
		err = corrupt("%d bytes, want %d", len(data), want)
	}
	if err != nil {
		return nil, fmt.Errorf("read part %s: %w", c, err)
	}
	r.cache.AddSince(epoch, c, data, int64(len(data)))
	return data, nil
}

// dir returns the parts in directory n.
func (r *reader) dir(ctx context.Context, c *column, n int) ([]ipld.CID, error) {
	at, want := c.dirs[n], min(dirFan, c.parts()-n*dirFan)
	kept, _, epoch := r.cache.Get(at)
	if dir, ok := kept.([]ipld.CID); ok && len(dir) == want {
		return dir, nil
	}
	data, err := r.get.Get(ctx, at)
	if err == nil && len(data) != want*ipld.CIDLen {
		err = corrupt("%d bytes, want %d parts", len(data), want)
	}
	if err != nil {
		return nil, fmt.Errorf("read directory %s: %w", at, err)
	}
	dir := make([]ipld.CID, want)
	for i := range dir {
		dir[i], err = ipld.CIDFromBytes(data[i*ipld.CIDLen : (i+1)*ipld.CIDLen])
		if err != nil {
			return nil, fmt.Errorf("read directory %s: %w", at, asDamage(err))
		}
	}
	r.cache.AddSince(epoch, at, dir, int64(want*64))
	return dir, nil
}

// cursor walks a column whose rows begin with ids, ascending.
type cursor struct {
	r    *reader
	c    *column
	n    int // the row
	data []byte
	held int // the part in data, from 1
	last []byte
}

// peek returns the row at the cursor, nil at the end.
func (u *cursor) peek(ctx context.Context) ([]byte, error) {
	if u.n == u.c.rows {
		return nil, nil
	}
	if part := u.n / u.c.per; u.held != part+1 {
		var err error
		if u.data, err = u.r.part(ctx, u.c, part); err != nil {
			return nil, err
		}
		u.held = part + 1
	}
	i := u.n % u.c.per * u.c.width
	return u.data[i : i+u.c.width], nil
}

// next moves past the row at the cursor, which peek has returned.
func (u *cursor) next(row []byte) error {
	if u.last != nil && bytes.Compare(u.last, row[:graph.IDLen]) >= 0 {
		return corrupt("id %x after %x", row[:graph.IDLen], u.last)
	}
	u.last = row[:graph.IDLen]
	u.n++
	return nil
}
