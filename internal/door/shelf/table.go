package shelf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// askTime bounds how long a server waits for what it asks of a database in addition to a request's own work.
const askTime = 10 * time.Second

// tokenTable has the tokens of a repository in a database.
type tokenTable struct {
	in   *core.Database
	name string // of the repository
	end  func()
}

func (d *tokenTable) Close() { d.end() }

func (d *tokenTable) Add(ctx context.Context, t *serve.Token) error {
	if err := checkNew(d, t.Name); err != nil {
		return err
	}
	data, err := encode(t)
	if err == nil {
		err = d.in.AddToken(ctx, d.name, t.ID, t.Name, bytes.TrimSuffix(data, []byte("\n")))
	}
	if errors.Is(err, fs.ErrExist) { // made by another
		err = taken(t.Name)
	}
	return err
}

func (d *tokenTable) Get(id string) (*serve.Token, error) {
	if !serve.ValidTokenID(id) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	data, err := d.in.Token(ctx, d.name, id)
	if err != nil || data == nil {
		return nil, away(err)
	}
	t, err := readToken(data)
	if err != nil || t.ID != id {
		return nil, fmt.Errorf("%w: what the database has of token %s", store.ErrCorrupt, id)
	}
	return t, nil
}

// away is the error of a database that does not answer for those who ask a server.
func away(err error) error {
	if errors.Is(err, store.ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
		return &operation.Error{Outcome: operation.Busy, Message: err.Error()}
	}
	return err
}

func (d *tokenTable) List() ([]serve.Token, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	list, err := d.in.Tokens(ctx, d.name)
	if err != nil {
		return nil, err
	}
	var all []serve.Token
	for _, data := range list {
		t, err := readToken(data)
		if err != nil {
			return nil, fmt.Errorf("%w: what the database has of a token", store.ErrCorrupt)
		}
		all = append(all, *t)
	}
	return all, nil
}

func (d *tokenTable) Replace(ctx context.Context, old, next *serve.Token) (bool, error) {
	was, err := encode(old)
	if err != nil {
		return false, err
	}
	data, err := encode(next)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return d.in.ReplaceToken(ctx, d.name, old.ID, bytes.TrimSuffix(was, []byte("\n")), bytes.TrimSuffix(data, []byte("\n")))
}

func (d *tokenTable) Remove(t *serve.Token) error {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	return d.in.RemoveToken(ctx, d.name, t.ID)
}
