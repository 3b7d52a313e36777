package cache

import (
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
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
