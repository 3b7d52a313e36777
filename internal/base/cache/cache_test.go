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
		must.True(t, ok == want, "%d kept: %t, want %t", i, ok, want)
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

// TestBudget checks that caches stay within their shared budget, and that the largest shrinks.
func TestBudget(t *testing.T) {
	const value = 1000
	b := NewBudget(50 * (value + Overhead))
	var small, large Cache[int, int]
	for _, c := range []*Cache[int, int]{&small, &large} {
		c.Init(1 << 20)
		c.Share(b)
	}
	for i := range 10 {
		small.AddSince(0, i, i, value)
	}
	for i := range 200 {
		large.AddSince(0, i, i, value)
		if n := small.Bytes() + large.Bytes(); n > 50*(value+Overhead) || n != b.used.Load() {
			t.Fatalf("%d bytes after %d values, %d noted", n, i, b.used.Load())
		}
	}
	if small.Len() != 10 || large.Len() < 35 {
		t.Errorf("%d and %d values are kept", small.Len(), large.Len())
	}
	if _, ok, _ := large.Get(199); !ok {
		t.Error("the newest is not kept")
	}
	large.Clear()
	must.Equal(t, b.used.Load(), small.Bytes(), "bytes noted")
	small.Shed(1 << 40)
	must.Equal(t, small.Len(), 0, "values are left")
	must.Equal(t, b.used.Load(), 0, "values are left")
}

// TestBudgetTooSmall: Settle ends even if a single value exceeds the budget.
func TestBudgetTooSmall(t *testing.T) {
	b := NewBudget(1)
	var c Cache[int, int]
	c.Init(1 << 20)
	c.Share(b)
	c.AddSince(0, 1, 1, 5000)
	must.Equal(t, c.Len(), 0, "values")
	must.Equal(t, b.used.Load(), 0, "values")
	var none *Budget
	none.Join(&c)
	none.Note(1)
	none.Settle()
}

// TestBudgetAtOnce keeps the count right while several goroutines add, get and clear.
func TestBudgetAtOnce(t *testing.T) {
	b := NewBudget(40 * Overhead)
	caches := make([]Cache[int, int], 3)
	for i := range caches {
		caches[i].Init(30 * Overhead)
		caches[i].Share(b)
	}
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			c := &caches[g%3]
			for i := range 3000 {
				if _, ok, epoch := c.Get(i % 90); !ok {
					c.AddSince(epoch, i%90, i, 0)
				}
				if i%1000 == 999 && g == 0 {
					c.Clear()
				}
			}
		})
	}
	wg.Wait()
	total := int64(0)
	for i := range caches {
		total += caches[i].Bytes()
	}
	must.Equal(t, total, b.used.Load(), "bytes noted")
	b.Settle() // who found another at it did not wait
	if b.used.Load() > 40*Overhead {
		t.Errorf("%d bytes are kept", b.used.Load())
	}
}
