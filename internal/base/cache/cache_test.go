package cache

import (
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestUsedStaysLonger(t *testing.T) {
	var c Cache[int, string]
	c.Init(3 * (Overhead + 10))
	for i := range 3 {
		c.AddSince(0, i, "x", 10)
	}
	if _, ok, _ := c.Get(0); !ok {
		t.Fatal("0 is not kept")
	}
	c.AddSince(0, 3, "x", 10) // 0 was used, so 1 leaves
	for i, want := range []bool{true, false, true, true} {
		_, ok, _ := c.Get(i)
		must.Check(t, ok == want, "%d kept: %t, want %t", i, ok, want)
	}
	must.Equal(t, c.Bytes(), 3*(Overhead+10), "bytes of")
	must.Equal(t, c.Len(), 3, "bytes of")
	c.AddSince(0, 4, "y", 1<<20)
	if _, ok, _ := c.Get(4); ok || c.Len() != 3 {
		t.Errorf("larger than all: kept %t with %d", ok, c.Len())
	}
}

// TestNewestStays keeps a value just read even if all others are in use.
func TestNewestStays(t *testing.T) {
	var c Cache[int, int]
	c.Init(3 * Overhead)
	for i := range 20 {
		for j := range i {
			c.Get(j)
		}
		c.AddSince(0, i, i, 0)
		_, ok, _ := c.Get(i)
		must.Require(t, ok, "%d is not kept", i)
	}
}

// TestClearedWhileRead does not add a value that was read before the cache was cleared.
func TestClearedWhileRead(t *testing.T) {
	var c Cache[int, int]
	c.Init(1 << 20)
	_, _, epoch := c.Get(1)
	c.Clear()
	c.AddSince(epoch, 1, 1, 10)
	if _, ok, epoch := c.Get(1); ok || c.Bytes() != 0 {
		t.Errorf("kept: %t, %d bytes, epoch %d", ok, c.Bytes(), epoch)
	} else if c.AddSince(epoch, 1, 1, 10); c.Len() != 1 {
		t.Error("not kept in the new epoch")
	}
}

func TestZeroKeepsNothing(t *testing.T) {
	var c Cache[int, int]
	c.AddSince(0, 1, 1, 0)
	if _, ok, _ := c.Get(1); ok {
		t.Error("kept")
	}
}

// TestManyAtOnce ends, and stays within its bound, while all values are in use.
func TestManyAtOnce(t *testing.T) {
	var c Cache[int, int]
	c.Init(50 * Overhead)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				key := (i*7 + g) % 200
				if v, ok, epoch := c.Get(key); ok && v != key {
					t.Errorf("%d is %d", key, v)
				} else if !ok {
					c.AddSince(epoch, key, key, 0)
				}
			}
		})
	}
	wg.Wait()
	if c.Bytes() > 50*Overhead || c.Len() == 0 {
		t.Errorf("%d bytes", c.Bytes())
	}
}
