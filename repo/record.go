package repo

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// Record appends the receipt of an answer to a session, whichever commit the answer is from, and
// returns the receipt's CID. The session DefaultSession is made when first needed. It returns a
// *NotFoundError where there is no other session of that name, and an error wrapping ErrInvalid
// where it has ended.
func (r *Repo) Record(
	ctx context.Context, name string, answer *retrieve.Answer, by Stamp,
) (ipld.CID, error) {
	if _, err := r.Session(ctx, name); name == DefaultSession && isMissing(err) {
		opt := SessionOptions{Stamp: by, Follow: true}
		if _, err := r.StartSession(ctx, name, opt); err != nil {
			return ipld.CID{}, err
		}
	}
	receipt, query := answer.Receipt()
	if err := receipt.Validate(); err != nil {
		return ipld.CID{}, fmt.Errorf("receipt: %w", err)
	}
	var c ipld.CID
	_, err := r.extend(ctx, name, by, func(t *tx, rec *retrieve.Session) error {
		for _, s := range answer.Request.Rewrites {
			if err := t.stage.Put(ctx, store.NewBlock(ipld.Raw, []byte(s))); err != nil {
				return err
			}
		}
		err := t.stage.Put(ctx, store.NewBlock(ipld.Raw, query))
		if err == nil {
			c, err = t.put(ctx, receipt.Encode())
		}
		rec.Receipt = c
		return err
	})
	return c, err
}
