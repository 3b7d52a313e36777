package cache

import (
	"sync"
	"testing"
)

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
	if b.used.Load() != small.Bytes() {
		t.Errorf("%d bytes noted, %d kept", b.used.Load(), small.Bytes())
	}
	small.Shed(1 << 40)
	if small.Len() != 0 || b.used.Load() != 0 {
		t.Errorf("%d values are left, %d bytes noted", small.Len(), b.used.Load())
	}
}

// TestBudgetTooSmall: Settle ends even if a single value exceeds the budget.
func TestBudgetTooSmall(t *testing.T) {
	b := NewBudget(1)
	var c Cache[int, int]
	c.Init(1 << 20)
	c.Share(b)
	c.AddSince(0, 1, 1, 5000)
	if c.Len() != 0 || b.used.Load() != 0 {
		t.Errorf("%d values, %d bytes noted", c.Len(), b.used.Load())
	}
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
	if total != b.used.Load() {
		t.Errorf("%d bytes noted, %d kept", b.used.Load(), total)
	}
	b.Settle() // who found another at it did not wait
	if b.used.Load() > 40*Overhead {
		t.Errorf("%d bytes are kept", b.used.Load())
	}
}
