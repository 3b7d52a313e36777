package line

import (
	"github.com/mnem-project/mnem/internal/base/plain"
)

// Bytes shows how many bytes have come or gone.
func (p *progress) Bytes(what string, n int64) {
	if now := p.c.App.Now(); !now.Before(p.next) && p.Visible() {
		p.next = now.Add(ProgressEvery)
		p.show(what + " " + plain.Bytes(n))
	}
}
